"""What holds for an utterance whichever engine takes it: its greatest length, and whether anything is in it at all."""

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples

LONGEST = 60 * HEARING_RATE
"""Samples of an utterance that an engine takes; the rest of an endless one is not listened to."""

_SHORTEST = HEARING_RATE // 10
"""Samples of the shortest sound that can be a word."""

_FRAME = HEARING_RATE // 50
_LOUD_FRAMES = 5
"""A word has at least this many loud frames: 0.1 s."""

_INAUDIBLE = 3e-4
"""Level of a loudest frame below which there is nothing: -70 dB of full scale, 10 steps of 16 bits."""

_STEADY = 1.6
"""How many times as loud as its quiet frames the loud ones have to be.

White and pink noise of any level reach 1.2, a kitchen 1.2 to 18; commands have 4 or more (mostly over 100), 2.4 or more
when that kitchen is only 5 dB below them.
"""


def is_silence(samples: Samples) -> bool:
    """Whether nothing can have been said: too short, too quiet, or nothing but steady noise."""
    if len(samples) < _SHORTEST or _levels(samples).max() < _INAUDIBLE:
        return True
    # The difference of neighbours takes hum and rumble out, whose level wavers, and leaves what makes words clear.
    levels = np.sort(_levels(np.diff(samples, prepend=samples[0])))
    return bool(levels[-_LOUD_FRAMES] < _STEADY * levels[len(levels) // 10])


def _levels(samples: Samples) -> Samples:
    """The root mean square of each whole frame."""
    whole = len(samples) // _FRAME * _FRAME
    energies: Samples = np.square(samples[:whole]).reshape(-1, _FRAME).mean(axis=1)
    return np.sqrt(energies)
