"""How loud something was, as the microphone heard it."""

import math
from collections import deque

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame

KEPT = 30.0
"""Seconds that can be asked for."""

LOUD = 0.8
"""The share of all frames than which that one is louder which tells how loud speech is: a pause says nothing."""

_LEAST = 1e-5
"""The level of digital silence, for which there are no decibels."""


class Loudness:
    """Of the frames that are noted, in their order, from one thread. May be asked from any."""

    def __init__(self) -> None:
        self._levels: deque[tuple[float, float]] = deque()
        """When each frame ended, and its root mean square."""

    def note(self, frame: Frame) -> None:
        """The next frame."""
        samples = frame.samples
        if not len(samples):
            return
        end = frame.at + len(samples) / HEARING_RATE
        self._levels.append((end, math.sqrt(float(np.dot(samples, samples)) / len(samples))))
        while self._levels[0][0] < end - KEPT:
            self._levels.popleft()

    def of(self, begin: float, end: float) -> float | None:
        """Decibels of full scale of what was said in these seconds; None if nothing is known of them."""
        levels = [level for at, level in tuple(self._levels) if begin < at <= end]
        if not levels:
            return None
        return 20 * math.log10(max(float(np.quantile(levels, LOUD)), _LEAST))
