"""Automatic gain: what is quiet because the microphone or the user is gets as loud as the models of hearing want it.

Only the room's own noise tells beforehand how much louder a whisper may be made. So the gain follows it, slowly, and
what then would be too loud is turned down at once.
"""

import math
from collections import deque
from dataclasses import replace

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame

MOST = 30.0
"""Decibels. Voice activity finds two thirds of the voice in words at -65 dB of full scale, and all of it at -45."""

NOISE = -65.0
"""Decibels of full scale that the noise of a quiet room is brought up to, and never beyond."""

CEILING = 0.5
"""No sample is made louder than this."""

RISE = 3.0
"""Decibels that the gain may rise in a second: so slowly that a word sounds as it was said."""

HOLD = 10.0
"""Seconds after something loud in which the gain does not rise: within what is said it stays the same."""

_SPAN = 5.0
_SPANS = 6
"""The quietest moment of each 5 s is a moment without words; a noise that lasts for 30 s is the room's."""

_MOMENT = 0.1
"""Seconds over which the level is taken."""

_NOTHING = 1e-5
"""A level below which no microphone is at work."""


class AutomaticGain:
    """For the frames of one microphone, in order. From one thread."""

    def __init__(self) -> None:
        self._gain = 1.0
        self._held = 0
        """Samples in which the gain still may not rise."""
        self._energy = 0.0
        self._count = 0
        self._quietest: deque[float] = deque([math.inf], _SPANS)
        """Of each span, the last one not over yet."""
        self._spent = 0

    @property
    def decibels(self) -> float:
        """How much louder it makes what comes now."""
        return 20 * math.log10(self._gain)

    def apply(self, frame: Frame) -> Frame:
        """The frame as loud as it should be; itself if that is how it is."""
        samples = frame.samples
        if not len(samples):
            return frame
        peak = float(np.abs(samples).max())
        self._note(float(np.dot(samples, samples)), len(samples))
        before = self._gain
        self._held = max(0, self._held - len(samples))
        rise = 1.0 if self._held else 10 ** (RISE * len(samples) / HEARING_RATE / 20)
        self._gain = min(before * rise, self._wanted())
        if self._gain > 1 and self._gain * peak > CEILING:  # at once, for words are not to be cut at the top
            before = self._gain = max(1.0, CEILING / peak)
            self._held = round(HOLD * HEARING_RATE)
        if before == self._gain == 1:
            return frame
        ramp = np.linspace(min(before, self._gain), self._gain, len(samples), dtype=np.float32)
        return replace(frame, samples=samples * ramp)

    def _wanted(self) -> float:
        noise = min(self._quietest)
        if noise == math.inf:
            return self._gain
        return min(max(1.0, 10 ** (NOISE / 20) / noise), 10 ** (MOST / 20))

    def _note(self, energy: float, count: int) -> None:
        self._energy += energy
        self._count += count
        if self._count < _MOMENT * HEARING_RATE:
            return
        level = math.sqrt(self._energy / self._count)
        if level > _NOTHING:
            self._quietest[-1] = min(self._quietest[-1], level)
            self._spent += self._count
        self._energy, self._count = 0.0, 0
        if self._spent >= _SPAN * HEARING_RATE:
            self._quietest.append(math.inf)
            self._spent = 0
