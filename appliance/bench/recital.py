"""What is heard in the room, one sound after the other, and which wake words were recognised in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.simulation.scenario import Moment

GAP = 1.9
"""Seconds between two recordings: more than the refractory time of the wake word, and than a turn without words."""

LATE = 1.0
"""Seconds after a recording in which its wake word may still be recognised."""

EARLIEST, PHASES = 0.8, 2.0
"""Seconds from the beginning of a reply to the wake word in it, at least, and over how many more they are spread."""

GOLDEN = 0.618

_NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Sound:
    """What is heard in the room `at` seconds from the beginning, or `delay` seconds after a moment.

    `samples` None: the button is pressed.
    """

    samples: Samples | None
    at: float | None = None
    after: Moment | None = None
    delay: float = 0.0


def into_replies(recordings: Sequence[Samples]) -> list[Sound]:
    """Each into a reply of its own, and not into what the one before was answered with: every other sound."""
    sounds: list[Sound] = []
    for n, samples in enumerate(recordings):
        sounds.append(Sound(_NOTHING, after=Moment.IDLE if n else Moment.READY))
        sounds.append(Sound(samples, after=Moment.REPLY, delay=EARLIEST + n * GOLDEN % 1 * PHASES))
    return sounds


def in_turn(recordings: Sequence[Samples]) -> list[Sound]:
    """One after the other, each after a pause."""
    sounds: list[Sound] = []
    at = GAP
    for samples in recordings:
        sounds.append(Sound(samples, at=at))
        at += len(samples) / HEARING_RATE + GAP
    return sounds


def unrecognised(said: Sequence[tuple[float, float]], wakes: Sequence[float]) -> int:
    """How many stretches of sound have no wake within them, or just after."""
    return sum(not any(begin <= wake <= end + LATE for wake in wakes) for begin, end in said)
