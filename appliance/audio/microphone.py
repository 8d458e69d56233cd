"""The microphone: a real card, read by a thread of its own."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np
import pyaudio

from appliance.audio.cards import COMMON_RATES, OpenCard, PortAudio
from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.resample import StreamResampler
from appliance.audio.sampleclock import SampleClock
from appliance.audio.watch import Watch

BLOCK = 0.02
"""Seconds that are read at once."""

SHORTEST = 0.001
"""Seconds between two looks whether there is enough to read."""

STOP_TIMEOUT = 1.0
"""Seconds that `stop` waits for a read that does not return; a card that is alive needs one block."""

_log = logging.getLogger(__name__)


class CardMicrophone:
    """The sound card called `card`, as `PortAudio.find` takes it; its own rate and channels, resampled to 16 kHz mono.

    Of several channels the first is taken: on microphone arrays others may hold what the speaker plays.
    """

    def __init__(self, card: str = "") -> None:
        self.name = card or "default"
        self._card = card
        self._thread: threading.Thread | None = None
        self._watch: Watch | None = None
        self._stopping = threading.Event()

    def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """Open the card and listen. ApplianceError, BadInputError: it cannot be had."""
        audio = PortAudio()
        try:
            card = audio.find(self._card, "input")
            self.name = card.name
            rates = (HEARING_RATE, card.rate, *COMMON_RATES)
            opened = audio.open(card, rates, (1, 2, card.channels), BLOCK)
            opened.start()
        except BaseException:
            audio.close()
            raise
        self._stopping = threading.Event()
        self._watch = Watch(on_fault)
        self._thread = threading.Thread(
            target=self._run,
            args=(audio, opened, on_frame, self._watch, self._stopping),
            name="microphone",
            daemon=True,
        )
        self._thread.start()
        self._watch.start()

    def stop(self) -> None:
        """No frame after this has returned. Stopping twice is fine."""
        if self._watch is not None:
            self._watch.stop()  # first, for what ends now is no fault
        self._stopping.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(STOP_TIMEOUT)
            if self._thread.is_alive():
                _log.error("the microphone does not close, and is left as it is")

    @staticmethod
    def _run(
        audio: PortAudio,
        opened: OpenCard,
        on_frame: Callable[[Frame], None],
        watch: Watch,
        stopping: threading.Event,
    ) -> None:
        why = "what takes its frames failed"
        with closing(audio):
            try:
                for frame in _frames(opened, stopping):
                    if stopping.is_set():
                        return
                    watch.moved()
                    on_frame(frame)
            except _ReadError as error:
                why = f"it cannot be read any more ({error}): see whether it is still plugged in"
            finally:
                watch.fault(why)


class _ReadError(Exception):
    pass


def _frames(opened: OpenCard, stopping: threading.Event) -> Iterator[Frame]:
    size = round(opened.rate * BLOCK)
    clock = SampleClock(opened.rate)
    resampler = StreamResampler(opened.rate, HEARING_RATE)
    read = given = 0
    while True:
        # PortAudio never comes back from waiting for a card that was unplugged; nor can the card be used again before.
        while (lacking := size - _available(opened)) > 0:
            if stopping.wait(max(lacking / opened.rate, SHORTEST)):
                return
        try:
            data = opened.stream.read(size, exception_on_overflow=False)
            waiting = opened.stream.get_read_available()
        except OSError as error:
            raise _ReadError(error.strerror) from error
        # PortAudio's input latency is the size of its buffer; how old the block is says what still waits behind it.
        at = clock.stamp(read, time.monotonic() - (size + waiting) / opened.rate)
        held_back = read / opened.rate - given / HEARING_RATE
        samples = resampler.feed(_first_channel(data, opened.channels))
        read += size
        given += len(samples)
        if len(samples):
            yield Frame(samples, at - held_back)


def _available(opened: OpenCard) -> int:
    try:
        available = opened.stream.get_read_available()
    except OSError as error:
        raise _ReadError(error.strerror) from error
    if available < 0 and available != pyaudio.paInputOverflowed:
        raise _ReadError(f"PortAudio error {available}")
    return max(available, 0)


def _first_channel(data: bytes, channels: int) -> Samples:
    return np.ascontiguousarray(np.frombuffer(data, np.float32)[::channels])
