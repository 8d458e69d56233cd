"""The microphone: a real card. PortAudio's thread queues its blocks, and a thread of its own hands them on.

Not read by blocking: PortAudio never closes such a stream, nor its files, once its card was unplugged.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import pyaudio

from appliance.audio.cards import COMMON_RATES, Card, Choice, PortAudio
from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.resample import StreamResampler
from appliance.audio.sampleclock import SampleClock
from appliance.audio.watch import UNPLUGGED, Watch

BLOCK = 0.02
"""Seconds that come at once."""

BEHIND = 2.0
"""Seconds of sound that may wait for who takes the frames. What comes then is lost."""

STOP_TIMEOUT = 1.0
"""Seconds that `stop` waits for a card that does not close; one that is alive needs one block."""

_GONE = "the card does not record any more: see whether it is still plugged in"

_log = logging.getLogger(__name__)


class CardMicrophone:
    """The sound card called `card`, as `PortAudio.find` takes it; its own rate and channels, resampled to 16 kHz mono.

    Of several channels the first is taken: on microphone arrays others may hold what the speaker plays.
    """

    def __init__(self, card: str = "") -> None:
        self.name = card or "default"
        self._choice = Choice(card, "input")
        self._capture: _Capture | None = None

    def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """Open the card and listen. ApplianceError, BadInputError: it cannot be had."""
        audio = PortAudio()
        try:
            card = self._choice.find(audio)
            self.name = card.name
            self._capture = _Capture(audio, card, on_frame, on_fault)
        except BaseException:
            audio.close()
            raise
        self._choice.opened()

    def stop(self) -> None:
        """No frame after this has returned. Stopping twice is fine."""
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.stop()


@dataclass(frozen=True, slots=True)
class _Block:
    data: bytes
    begin: int
    """The number of its first sample, of all that the card gave."""
    seen: float
    """When that sounded, by the wall clock."""


class _Capture:
    """A card from `start` to `stop`. Its thread hands frames on and closes it; PortAudio's own calls `_take`."""

    def __init__(
        self,
        audio: PortAudio,
        card: Card,
        on_frame: Callable[[Frame], None],
        on_fault: Callable[[str], None],
    ) -> None:
        """Records when this returns; then `audio` belongs to it. ApplianceError: the card would not."""
        self._audio = audio
        self._on_frame = on_frame
        self._watch = Watch(on_fault, self._why_dead)
        self._stopping = False
        self._blocks: SimpleQueue[_Block | None] = SimpleQueue()
        """None: it is to stop."""
        self._taken = 0
        self._closing = threading.Lock()
        """Held while the stream is closed: meanwhile nobody may ask it anything."""
        rates = (HEARING_RATE, card.rate, *COMMON_RATES)
        self._opened = audio.open(card, rates, (1, 2, card.channels), BLOCK, self._take)
        self._thread = threading.Thread(target=self._hand_on, name="microphone", daemon=True)
        self._opened.start()
        self._thread.start()
        self._watch.start()

    def stop(self) -> None:
        """No frame after this has returned."""
        self._watch.stop()  # first, for what ends now is no fault
        self._stopping = True
        self._blocks.put(None)
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_TIMEOUT)
            if self._thread.is_alive():
                _log.error("the microphone does not close, and is left as it is")

    def _take(self, data: bytes | None, count: int, times: Mapping[str, float], _: int) -> tuple[None, int]:
        """The next block of the card. What it lost itself shows by the wall clock."""
        self._watch.moved()
        if data is None or self._stopping:  # it was left as it was, and has come to
            return None, pyaudio.paAbort
        begin, self._taken = self._taken, self._taken + count
        if self._blocks.qsize() * BLOCK < BEHIND:
            length = count / self._opened.rate
            age = times["current_time"] - times["input_buffer_adc_time"]
            if not length <= age < 1:  # some drivers never have a time
                age = length
            self._blocks.put(_Block(data, begin, time.monotonic() - age))
        return None, pyaudio.paContinue

    def _hand_on(self) -> None:
        try:
            for frame in self._frames():
                self._on_frame(frame)
        finally:
            self._watch.fault("what takes its frames failed")
            with self._closing:
                self._audio.close()

    def _frames(self) -> Iterator[Frame]:
        rate = self._opened.rate
        clock = SampleClock(rate)
        resampler = StreamResampler(rate, HEARING_RATE)
        first = read = given = 0
        lost = told = 0
        while (block := self._blocks.get()) is not None and not self._stopping:
            if block.begin > read:
                lost += block.begin - read
                if lost > 2 * told:  # not each time
                    told = lost
                    _log.warning("hearing is too slow: %.2f s of sound are lost since the card was opened", lost / rate)
                resampler = StreamResampler(rate, HEARING_RATE)
                first, given = block.begin, 0
            at = clock.stamp(block.begin, block.seen)
            held_back = (block.begin - first) / rate - given / HEARING_RATE
            samples = _first_channel(block.data, self._opened.channels)
            read = block.begin + len(samples)
            samples = resampler.feed(samples)
            given += len(samples)
            if len(samples):
                yield Frame(samples, at - held_back)

    def _why_dead(self) -> str:
        if not self._closing.acquire(blocking=False):
            return ""
        try:
            if self._opened.is_unplugged:
                return UNPLUGGED
            return "" if self._opened.stream.is_active() else _GONE
        except OSError:  # it was closed
            return ""
        finally:
            self._closing.release()


def _first_channel(data: bytes, channels: int) -> Samples:
    return np.ascontiguousarray(np.frombuffer(data, np.float32)[::channels])
