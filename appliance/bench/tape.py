"""What a card hears, sample by sample, by its own count."""

import threading
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.audio.cards import COMMON_RATES, PortAudio
from appliance.audio.devices import Samples
from appliance.errors import ApplianceError

BLOCK = 0.06
"""Seconds that are read at once. PortAudio keeps two or more, for which this program may be held up.

snd-aloop moves sound with the kernel's ticks, and most of it is lost if a block is not a whole number of them; this one
is, for ticks of 10, 4, 3.3 and 1 ms.
"""

NEAR = 0.25
"""Seconds of recording before and after a moment that tell where it lies: one of their blocks was read at once."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The first channel. What a machine that was too busy lost is missing."""

    samples: Samples
    rate: int
    ends: npt.NDArray[np.float64]
    """When each block had come, on the clock of `time.monotonic`."""

    def place(self, at: float) -> float:
        """Between which samples that moment lies at the latest, as far as the times at which blocks came can tell."""
        size = len(self.samples) / len(self.ends)
        near = slice(*np.searchsorted(self.ends, (at - NEAR, at + NEAR)))
        lags = self.ends[near] * self.rate - size * np.arange(1, len(self.ends) + 1)[near]
        return at * self.rate - float(lags.min(initial=np.inf))


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
        self._ends: list[float] = []
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
        return Recording(samples, self._opened.rate, np.array(self._ends))

    def _run(self) -> None:
        size = round(self._opened.rate * BLOCK)
        try:
            while not self._stopping.is_set():
                self._blocks.append(self._opened.stream.read(size, exception_on_overflow=False))
                waiting = self._opened.stream.get_read_available()
                self._ends.append(time.monotonic() - waiting / self._opened.rate)
        except OSError as error:
            self._error = error
