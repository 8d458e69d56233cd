"""Voice probabilities and levels -> speech started and ended, and the end of an utterance.

Every time is in seconds on the clock of the microphone's frames; a probability comes with the end of the window that it
stands for.

Rules of the endpoint:
- Voice that was already there when the utterance was opened is taken for the rest of the wake word and does not count,
  unless it goes on for longer than such a rest can. Then it is a command in the same breath.
- Such a rest may still hold a very short command. If nothing follows it for a while, the utterance ends, for
  speech-to-text to tell.
- Speech is ended by a pause; without speech, the patience ends the utterance, and no pause does.
- Once a pause has begun, somebody may say how long this one has to be, by what was said before it. The next voice makes
  that moot.
- Voice that is no louder than the room was before is the room's, and counts as none. A pause of such voice, which is
  less sure, has to be longer, unless what was said is complete.
- While the button is held, nothing but a limit of its own ends the utterance.
- Speech that has no pause, or noise that passes for it, is ended by the limit.
"""

from dataclasses import dataclass
from math import inf

from appliance.core.events import ListeningEnd, SpeechEnded, SpeechStarted
from appliance.core.roomlevel import WORD, Foreground

WINDOW = 0.032
"""Seconds of sound that one probability stands for."""

HYSTERESIS = 0.15
"""How far below the threshold a probability must fall before voice is over: what Silero's authors use."""

LULL = 0.096
"""Seconds without voice in an utterance after which it is asked what was said: a tenth, in windows. The gaps within
words are shorter."""

HELD = 60.0
"""Seconds that an utterance may last while the button is held."""


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """When voice is speech, and when an utterance is over."""

    threshold: float = 0.5
    """The probability, 0 … 1, from which on there is voice."""
    minimum_speech: float = 0.2
    """Seconds of voice, in all pieces of a stretch, that make it speech and no click."""
    gap: float = 0.3
    """Seconds without voice that end a stretch of speech."""
    pause: float = 0.5
    """Seconds without voice, after speech, that end an utterance."""
    quieter: float = 0.9
    """Seconds without voice that is louder than the room, after speech, that end an utterance."""
    limit: float = 12.0
    """Seconds that an utterance may last from its first voice on."""
    tail: float = 0.5
    """Seconds of voice that may belong to a wake word still after it was recognised: 0.45 in the longest of 464."""
    doubt: float = 1.5
    """Seconds without voice, after nothing but the rest of a wake word, that end an utterance."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an utterance ended. `at` is the end of its last voice, or when it was opened if there was none."""

    why: ListeningEnd
    at: float
    decided: float


class SpeechTracker:
    """Finds the stretches of speech: enough voice to be no click, with gaps as they are between words."""

    def __init__(self, threshold: float, minimum: float, gap: float) -> None:
        self._threshold = threshold
        self._minimum = minimum
        self.gap = gap
        """Seconds without voice that end the stretch under way."""
        self._windows = 0
        self.voice = False
        """Whether the last window was voice."""
        self.begun: float | None = None
        """Where the stretch under way began, which may turn out to be a click."""
        self.speaking = False
        """Whether the stretch under way is speech."""
        self.last: float | None = None
        """The end of the last voice."""

    def step(self, probability: float, at: float) -> SpeechStarted | SpeechEnded | None:
        """Take the window that ends at `at`; what became certain with it."""
        self.voice = probability >= self._threshold - (HYSTERESIS if self.voice else 0.0)
        if self.voice:
            return self._go_on(at)
        if self.begun is None or self.last is None or at - self.last < self.gap:
            return None
        ended = SpeechEnded(self.last) if self.speaking else None
        self.begun, self.speaking, self._windows = None, False, 0
        return ended

    def _go_on(self, at: float) -> SpeechStarted | None:
        self.last = at
        self._windows += 1
        if self.begun is None:
            self.begun = at - WINDOW
        if self.speaking or self._windows * WINDOW < self._minimum:
            return None
        self.speaking = True
        return SpeechStarted(self.begun)


class Endpoint:
    """The end of one utterance, opened at `opened`, in which the first word is awaited until `patience_until`.

    `held`: the button is down. `room`: the power of its voices, as `Room` knows it.
    """

    def __init__(
        self,
        opened: float,
        patience_until: float,
        settings: EndpointSettings,
        *,
        held: bool = False,
        room: float = inf,
    ) -> None:
        self._opened = opened
        self._patience_until = patience_until
        self._settings = settings
        self.threshold = settings.threshold
        """The probability from which on there is voice."""
        self._held = held
        self._resting = False
        self._rested: float | None = None
        self._foreground = Foreground(room)
        self._is_room = False
        self._expected: float | None = None
        self._tracker = self._fresh()
        self.lull: float | None = None
        """The end of the last voice, if it may have been speech, and none has followed for as long as a lull."""

    def step(self, probability: float, at: float, level: float = 0.0) -> Outcome | None:
        """Take the window that ends at `at`. Those from before the opening tell what voice was there already."""
        is_voice = probability >= self._settings.threshold
        # The wake word tells how loud the user is; what came before it may have been another one, and nearer.
        is_room = at > self._opened - WORD and self._foreground.is_room(level)
        certain = self._tracker.step(0.0 if is_room else probability, at)
        if at <= self._opened:
            self._resting = self._tracker.voice
            if not self._resting:
                self._tracker = self._fresh()
            return None
        if self._held:
            return self._outcome(ListeningEnd.LIMIT, at) if at - self._opened >= HELD else None
        if self._resting:
            self._rest(at)
            return None
        if isinstance(certain, SpeechEnded):
            return Outcome(self._why(), certain.at, at)
        begun = self._tracker.begun
        if begun is None:
            return self._without_speech(at)
        if self._tracker.speaking and at - max(begun, self._opened) >= self._settings.limit:
            return self._outcome(ListeningEnd.LIMIT, at)
        self._pause(at, is_room=is_room and is_voice)
        return None

    def expect(self, lull: float, pause: float) -> None:
        """The pause that began at `lull`, if it still goes on, ends the utterance after `pause` seconds."""
        if lull == self.lull:
            self._expected = pause
            self._tracker.gap = self._gap()

    def let_go(self) -> None:
        """The button is up."""
        self._held = False
        self._tracker.gap = self._gap()

    def finish(self, at: float) -> Outcome:
        """The user says that the utterance is over; sound is known until `at`."""
        return self._outcome(ListeningEnd.ASKED, max(at, self._opened))

    def _pause(self, at: float, *, is_room: bool) -> None:
        """Find out whether a pause goes on, and how long it has to be."""
        last = self._tracker.last
        if self._tracker.voice or last is None:
            self.lull, self._expected, self._is_room = None, None, False
        else:
            self._is_room = self._is_room or is_room
            self.lull = last if self._tracker.speaking and at - last >= LULL - WINDOW / 2 else None
        self._tracker.gap = self._gap()

    def _gap(self) -> float:
        if self._held:
            return inf
        settings = self._settings
        pause = settings.pause if self._expected is None else self._expected
        return max(pause, settings.quieter) if self._is_room and pause >= settings.pause else pause

    def _why(self) -> ListeningEnd:
        if self._expected is not None and self._expected < self._settings.pause:
            return ListeningEnd.COMPLETE
        return ListeningEnd.LEVEL if self._is_room else ListeningEnd.SILENCE

    def _without_speech(self, at: float) -> Outcome | None:
        if at >= self._patience_until:
            return self._outcome(ListeningEnd.NOTHING, at)
        if self._rested is None:
            return None
        doubt = self._settings.doubt if self._expected is None else self._expected
        if at - self._rested >= doubt:
            return Outcome(self._why(), self._rested, at)
        if at - self._rested >= LULL - WINDOW / 2:
            self.lull = self._rested
        return None

    def _rest(self, at: float) -> None:
        if not self._tracker.voice:
            self._tracker = self._fresh()
            self._resting = False
            return
        self._rested = at
        self._resting = at - self._opened <= self._settings.tail

    def _outcome(self, why: ListeningEnd, at: float) -> Outcome:
        last = self._tracker.last
        return Outcome(why, self._opened if last is None else last, at)

    def _fresh(self) -> SpeechTracker:
        settings = self._settings
        return SpeechTracker(settings.threshold, settings.minimum_speech, self._gap())
