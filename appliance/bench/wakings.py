"""Wake words that are missed, and those that nobody said."""

from collections.abc import Sequence

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.rig import Course, Rig, Sound
from appliance.simulation.scenario import Moment

GAP = 1.9
"""Seconds between two recordings: more than the refractory time of the wake word, and than a turn without words."""

LATE = 1.0
"""Seconds after a recording in which its wake word may still be recognised."""

EARLIEST, PHASES = 0.8, 2.0
"""Seconds from the beginning of a reply to the wake word in it, at least, and over how many more they are spread."""

GOLDEN = 0.618

REPLY = (
    "The garden behind the house is long and narrow, and in the summer it is full of beans and tomatoes. My sister "
    "planted most of them in the spring, when the ground was still cold and nobody believed that they would grow."
)
"""What is said while somebody calls: longer than any of the recordings."""


def missed(rig: Rig, recordings: Sequence[Samples], room: str = "") -> float:
    """Per cent of `recordings` whose wake word was not recognised."""
    course = rig.play(in_turn(recordings), room)
    return _missed(course)


def missed_in_replies(rig: Rig, recordings: Sequence[Samples], room: str) -> float:
    """The same, each said into a reply."""
    sounds = [
        Sound(samples, after=Moment.REPLY, delay=EARLIEST + n * GOLDEN % 1 * PHASES)
        for n, samples in enumerate(recordings)
    ]
    course = rig.play(sounds, room, announced=[REPLY] * len(recordings))
    return _missed(course)


def false_wakes(rig: Rig, recordings: Sequence[Samples], room: str = "") -> int:
    """How often a wake word was recognised in `recordings`, which hold none."""
    return len(rig.play(in_turn(recordings), room).wakes())


def self_wakes(rig: Rig, replies: Sequence[str], room: str) -> int:
    """How often the appliance woke while it spoke to nobody."""
    return len(rig.play([], room, announced=replies).wakes())


def in_turn(recordings: Sequence[Samples]) -> list[Sound]:
    """One after the other, each after a pause."""
    sounds: list[Sound] = []
    at = GAP
    for samples in recordings:
        sounds.append(Sound(samples, at=at))
        at += len(samples) / HEARING_RATE + GAP
    return sounds


def _missed(course: Course) -> float:
    return 100 * unrecognised([(said.begin, said.end) for said in course.done], course.wakes()) / len(course.done)


def unrecognised(said: Sequence[tuple[float, float]], wakes: Sequence[float]) -> int:
    """How many stretches of sound have no wake within them, or just after."""
    return sum(not any(begin <= wake <= end + LATE for wake in wakes) for begin, end in said)
