"""What a card hears, sample by sample, by its own count."""

import threading
import time
from dataclasses import dataclass

import numpy as np

from appliance.audio.cards import COMMON_RATES, PortAudio
from appliance.audio.devices import Samples
from appliance.errors import ApplianceError

BLOCK = 0.02
"""Seconds that are read at once. PortAudio keeps four, for which this program may be held up."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The first channel. What a machine that was too busy lost is missing, without a trace."""

    samples: Samples
    rate: int
    began: float
    """When the first sample can have been heard at the latest, on the clock of `time.monotonic`."""


class Tape:
    """Records the card called `card`, as `PortAudio.find` takes it, from construction to `stop`."""

    def __init__(self, card: str) -> None:
        """ApplianceError, BadInputError: the card cannot be had."""
        self._audio = PortAudio()
        try:
            found = self._audio.find(card, "input")
            self._opened = self._audio.open(found, COMMON_RATES, (1, 2, found.channels), BLOCK)
            self._opened.start()
        except BaseException:
            self._audio.close()
            raise
        self._blocks: list[bytes] = []
        self._began = float("inf")
        self._stopping = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="tape", daemon=True)
        self._thread.start()

    def stop(self) -> Recording:
        """All that was heard. ApplianceError: the card gave up."""
        self._stopping.set()
        self._thread.join()
        self._audio.close()
        if self._error is not None:
            raise ApplianceError("recording", f"the card cannot be read any more ({self._error.strerror})")
        channels = self._opened.channels
        samples = np.frombuffer(b"".join(self._blocks), np.float32)[::channels].copy()
        return Recording(samples, self._opened.rate, self._began)

    def _run(self) -> None:
        rate = self._opened.rate
        size, read = round(rate * BLOCK), 0
        try:
            while not self._stopping.is_set():
                self._blocks.append(self._opened.stream.read(size, exception_on_overflow=False))
                read += size
                waiting = self._opened.stream.get_read_available()
                self._began = min(self._began, time.monotonic() - (read + waiting) / rate)
        except OSError as error:
            self._error = error
