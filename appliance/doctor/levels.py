"""How loud it is, and what that says about a microphone."""

from dataclasses import dataclass

import numpy as np

from appliance.audio.devices import Samples
from appliance.doctor.check import Finding, bad, good

RISE = 10.0
"""dB by which what is played has to stand out, to be heard."""

MIXER = "Turn it on and up: alsamixer, with F6 for the card and F4 for what it records"

_SILENCE = 1e-5
_DEAD = -99.0
"""dB below which no real microphone is, not even in a silent room."""


@dataclass(frozen=True, slots=True)
class Levels:
    """How loud it was, in dB below the loudest that there is."""

    loudness: float
    peak: float

    @property
    def is_silence(self) -> bool:
        """Whether there was none at all, as of a microphone that is turned off."""
        return self.peak < _DEAD


def levels_of(samples: Samples) -> Levels:
    """How loud they are."""
    return Levels(decibels(float(np.sqrt(np.mean(samples**2)))), decibels(float(np.abs(samples).max())))


def decibels(level: float) -> float:
    """Of a level, where 1 is the loudest."""
    return 20 * float(np.log10(max(level, _SILENCE)))


def recorded(name: str, levels: Levels | None) -> Finding:
    """What is said of the microphone with that name; None: nothing came from it."""
    if levels is None:
        return bad("microphone", f'"{name}" records nothing', "Plug it in again, or use another card")
    if levels.is_silence:
        return bad("microphone", f'"{name}" records nothing but silence', MIXER)
    return good("microphone", f'"{name}" records: {levels.loudness:.0f} dB, peak {levels.peak:.0f} dB')
