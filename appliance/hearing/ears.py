"""The ears: what the microphone hears, kept for a while, searched for wake words and voice, and given out by utterance.

Sensing goes on whatever the appliance does. An utterance is cut out of what is kept exactly as out of what still comes,
piece by piece, so that it does not depend on when somebody asks for it.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.core.endpoint import WINDOW as SECONDS
from appliance.core.endpoint import Endpoint, EndpointSettings, Outcome, SpeechTracker
from appliance.core.events import Event, ListeningEnded, SpeechStarted, SpeechSustained, WakeHeard
from appliance.core.roomlevel import Room
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.hearing.wake import Detection, WakeWords

_LOSS = 0.5
"""Seconds of lost sound after which what came before is another story. Across a shorter loss the models hear on: nine
of ten wake words were recognised with 0.3 s missing in the middle, and none when the models began anew."""

_STILL_PLAYING = 0.5
"""Seconds after the speaker has sounded in which a wake word may still be its own: a word, and the room's answer."""

Sink = Callable[[Samples | None], None]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A frame, and the windows that became complete with it: the probability of voice, the end, and the level."""

    frame: Frame
    voice: tuple[tuple[float, float, float], ...]

    @property
    def end(self) -> float:
        return _time(self.frame, len(self.frame.samples))


class Utterance:
    """What goes to one sink: `Ears.listen` gives it, and `Ears.dismiss` takes it."""

    def __init__(
        self, generation: int, begin: float, endpoint: Endpoint, sink: Sink, on_lull: Callable[[float], None]
    ) -> None:
        """Of `generation`, from `begin` on, until `endpoint` says so."""
        self.generation = generation
        self.endpoint = endpoint
        self.sink = sink
        self.voiced = 0.0
        """Seconds of voice in it so far."""
        self._begin = begin
        self._on_lull = on_lull

    def take(self, piece: _Piece) -> Outcome | None:
        """Give the sink what belongs to the utterance; the outcome, if it is over with this piece."""
        before = self.endpoint.lull
        outcome = next(filter(None, (self._step(*voice) for voice in piece.voice)), None)
        frame = piece.frame
        begin = max(0, _offset(frame, self._begin))
        end = len(frame.samples) if outcome is None else _offset(frame, outcome.decided)
        if begin < end:
            self.sink(frame.samples[begin:end])
        lull = self.endpoint.lull
        if outcome is None and lull is not None and lull != before:
            self._on_lull(lull)
        return outcome

    def _step(self, probability: float, at: float, level: float) -> Outcome | None:
        if at > self._begin and probability >= self.endpoint.threshold:
            self.voiced += SECONDS
        return self.endpoint.step(probability, at, level)


class Ears:
    """Reports wake words and speech, and gives out one utterance at a time.

    `keep`: seconds of sound that are kept for a late `listen`; `preroll`: seconds before its opening that belong to an
    utterance; `sustained`: seconds of voice that make a SpeechSustained. `report` and the sinks are called from the
    microphone's thread or from the one that calls `listen` or `finish`, and must be quick.
    """

    def __init__(
        self,
        wake: WakeWords,
        voice: VoiceActivity,
        settings: EndpointSettings,
        report: Callable[[Event], None],
        *,
        keep: float = 10.0,
        preroll: float = 0.5,
        sustained: float = 0.3,
        plays: Callable[[float, float], bool] = lambda begin, end: False,
        wake_while_playing: float = 0.0,
    ) -> None:
        """`plays`: whether the speaker sounded between two times; then a wake word takes `wake_while_playing`."""
        self._wake = wake
        self._voice = voice
        self._settings = settings
        self._report = report
        self._keep = round(keep * HEARING_RATE)
        self._preroll = preroll
        self._plays = plays
        self._wake_while_playing = wake_while_playing
        gap = min(settings.gap, settings.pause)  # so that what is said after an utterance is speech that starts anew
        self._speech = SpeechTracker(settings.threshold, settings.minimum_speech, gap)
        self._sustained = SpeechTracker(settings.threshold, sustained, gap)
        self._room = Room()
        self._due: float | None = None
        self._unfinished = 0
        self._energy = 0.0
        """Of the window that is not complete yet."""
        # Held while sinks and reports of utterances are called, so that none comes after its `dismiss`; reentrant, for
        # a report may lead to the next `listen` at once.
        self._lock = threading.RLock()
        self._kept: deque[_Piece] = deque()
        self._held = 0
        self._utterance: Utterance | None = None

    def feed(self, frame: Frame) -> None:
        """Hear the next frame, of any length, which nobody changes any more. From the microphone's thread alone."""
        if self._due is not None and abs(frame.at - self._due) > _LOSS:
            self._wake.reset()
            self._voice.reset()
            self._unfinished, self._energy = 0, 0.0
        piece = _Piece(frame, self._windows(frame))
        playing = self._plays(frame.at - _STILL_PLAYING, piece.end)
        detections = self._wake.feed(frame.samples, self._wake_while_playing if playing else 0.0)
        self._due = piece.end
        self._sense(piece, detections)
        with self._lock:
            self._kept.append(piece)
            self._held += len(frame.samples)
            while self._held - len(self._kept[0].frame.samples) >= self._keep:
                self._held -= len(self._kept.popleft().frame.samples)
            is_ours = playing or self._utterance is not None
            for probability, at, level in piece.voice:
                self._room.hear(level, at, is_voice=probability >= self._settings.threshold, is_ours=is_ours)
            if self._utterance is not None:
                self._take(self._utterance, piece)

    def listen(
        self,
        generation: int,
        since: float,
        patience_until: float,
        sink: Sink,
        preroll: float | None = None,
        *,
        held: bool = False,
        on_lull: Callable[[float], None] = lambda _: None,
    ) -> Utterance:
        """Open an utterance of `generation` at `since`, in place of any other. From any thread, however late.

        `sink` gets everything heard from `since` minus the pre-roll on, in order, and None at the end. Just before
        that, ListeningEnded is reported, once; not where another utterance takes this one's place, which ends it.
        `preroll`: instead of the one for all utterances. `held`: the button is down, until `let_go`. `on_lull` is
        called, after the sink, whenever a pause has begun that may be the end, with when it began, for `expect`.
        """
        begin = since - (self._preroll if preroll is None else preroll)
        with self._lock:
            room = self._room.power(since)
            endpoint = Endpoint(since, patience_until, self._settings, held=held, room=room)
            utterance = Utterance(generation, begin, endpoint, sink, on_lull)
            if self._utterance is not None:
                self._utterance.sink(None)
            self._utterance = utterance
            for piece in self._kept:
                self._take(utterance, piece)
                if self._utterance is not utterance:
                    break
        return utterance

    def sound(self, begin: float, end: float) -> Samples:
        """What was heard between two times, as far as it is kept. From any thread."""
        with self._lock:
            pieces = list(self._kept)
        parts = [
            each.frame.samples[max(0, _offset(each.frame, begin)) : max(0, _offset(each.frame, end))] for each in pieces
        ]
        return np.concatenate([np.zeros(0, np.float32), *parts])

    def finish(self, generation: int) -> None:
        """The utterance of `generation`, if it is still going on, is over now. From any thread."""
        with self._lock:
            utterance = self._utterance
            if utterance is not None and utterance.generation == generation:
                self._end(utterance, utterance.endpoint.finish(self._kept[-1].end if self._kept else 0.0))

    def let_go(self, generation: int) -> None:
        """The button is up that the utterance of `generation` was opened with. From any thread."""
        with self._lock:
            if self._utterance is not None and self._utterance.generation == generation:
                self._utterance.endpoint.let_go()

    def expect(self, utterance: Utterance, lull: float, pause: float) -> None:
        """The pause in `utterance` that began at `lull` has to last `pause` seconds; moot if it is over already."""
        with self._lock:
            if self._utterance is utterance:
                utterance.endpoint.expect(lull, pause)

    def is_lull(self, utterance: Utterance, lull: float) -> bool:
        """Whether the pause in `utterance` that began at `lull` still goes on. From any thread."""
        with self._lock:
            return self._utterance is utterance and utterance.endpoint.lull == lull

    def dismiss(self, utterance: Utterance) -> None:
        """Nobody wants `utterance` any more: no more of it follows. From any thread."""
        with self._lock:
            if self._utterance is utterance:
                self._utterance = None

    def _windows(self, frame: Frame) -> tuple[tuple[float, float, float], ...]:
        samples = frame.samples
        ends = range(WINDOW - self._unfinished, len(samples) + 1, WINDOW)
        self._unfinished = (self._unfinished + len(samples)) % WINDOW
        windows, begin = [], 0
        for probability, end in zip(self._voice.feed(samples), ends, strict=True):
            energy = self._energy + _energy(samples[begin:end])
            windows.append((probability, _time(frame, end), (energy / WINDOW) ** 0.5))
            self._energy, begin = 0.0, end
        self._energy += _energy(samples[begin:])
        return tuple(windows)

    def _sense(self, piece: _Piece, detections: list[Detection]) -> None:
        sensed: list[tuple[float, Event]] = []
        for detection in detections:
            at = _time(piece.frame, detection.offset)
            heard = WakeHeard(detection.word, detection.score, at, clear=detection.clear, likely=detection.likely)
            sensed.append((at, heard))
        for probability, at, _ in piece.voice:
            if (certain := self._speech.step(probability, at)) is not None:
                sensed.append((at, certain))
            if isinstance(certain := self._sustained.step(probability, at), SpeechStarted):
                sensed.append((at, SpeechSustained(certain.at, at)))
        for _, event in sorted(sensed, key=itemgetter(0)):
            self._report(event)

    def _take(self, utterance: Utterance, piece: _Piece) -> None:
        if (outcome := utterance.take(piece)) is not None:
            self._end(utterance, outcome)

    def _end(self, utterance: Utterance, outcome: Outcome) -> None:
        self._utterance = None
        self._report(ListeningEnded(utterance.generation, outcome.at, outcome.decided, outcome.why))
        utterance.sink(None)


def _energy(samples: Samples) -> float:
    return float(np.dot(samples, samples))


def _time(frame: Frame, offset: int) -> float:
    return frame.at + offset / HEARING_RATE


def _offset(frame: Frame, time: float) -> int:
    return round((time - frame.at) * HEARING_RATE)
