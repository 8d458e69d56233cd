"""Voice probabilities -> speech started and ended, and the end of an utterance.

Every time is in seconds on the clock of the microphone's frames; a probability comes with the end of the window that it
stands for.

Rules of the endpoint:
- Voice that was already there when the utterance was opened is taken for the rest of the wake word and does not count,
  unless it goes on for longer than such a rest can. Then it is a command in the same breath.
- Such a rest may still hold a very short command. If nothing follows it for a while, the utterance ends, for
  speech-to-text to tell.
- Speech is ended by a pause; without speech, the patience ends the utterance, and no pause does.
- Speech that has no pause, or noise that passes for it, is ended by the limit.
"""

from dataclasses import dataclass

from appliance.core.events import ListeningEnd, SpeechEnded, SpeechStarted

WINDOW = 0.032
"""Seconds of sound that one probability stands for."""

HYSTERESIS = 0.15
"""How far below the threshold a probability must fall before voice is over: what Silero's authors use."""


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
        self._gap = gap
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
        if self.begun is None or self.last is None or at - self.last < self._gap:
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
    """The end of one utterance, opened at `opened`, in which the first word is awaited until `patience_until`."""

    def __init__(self, opened: float, patience_until: float, settings: EndpointSettings) -> None:
        self._opened = opened
        self._patience_until = patience_until
        self._settings = settings
        self._resting = False
        self._rested: float | None = None
        self._tracker = self._fresh()

    def step(self, probability: float, at: float) -> Outcome | None:
        """Take the window that ends at `at`. Those from before the opening tell what voice was there already."""
        certain = self._tracker.step(probability, at)
        if at <= self._opened:
            self._resting = self._tracker.voice
            if not self._resting:
                self._tracker = self._fresh()
            return None
        if self._resting:
            self._rest(at)
            return None
        if isinstance(certain, SpeechEnded):
            return Outcome(ListeningEnd.SILENCE, certain.at, at)
        begun = self._tracker.begun
        if begun is None:
            return self._without_speech(at)
        if self._tracker.speaking and at - max(begun, self._opened) >= self._settings.limit:
            return self._outcome(ListeningEnd.LIMIT, at)
        return None

    def finish(self, at: float) -> Outcome:
        """The user says that the utterance is over; sound is known until `at`."""
        return self._outcome(ListeningEnd.ASKED, max(at, self._opened))

    def _without_speech(self, at: float) -> Outcome | None:
        if at >= self._patience_until:
            return self._outcome(ListeningEnd.NOTHING, at)
        if self._rested is not None and at - self._rested >= self._settings.doubt:
            return Outcome(ListeningEnd.SILENCE, self._rested, at)
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
        return SpeechTracker(settings.threshold, settings.minimum_speech, settings.pause)
