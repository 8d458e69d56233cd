"""Wake words that are missed, and those that nobody said."""

from collections.abc import Sequence

from appliance.audio.devices import Samples
from appliance.bench.recital import in_turn, into_replies, unrecognised
from appliance.bench.rig import Rig
from appliance.bench.texts import REPLY


def missed(rig: Rig, recordings: Sequence[Samples], room: str = "") -> float:
    """Per cent of `recordings` whose wake word was not recognised."""
    course = rig.play(in_turn(recordings), room)
    said = [(each.begin, each.end) for each in course.done]
    return 100 * unrecognised(said, course.wakes()) / len(recordings)


def missed_in_replies(rig: Rig, recordings: Sequence[Samples], room: str) -> float:
    """The same, each said into a reply."""
    course = rig.play(into_replies(recordings), room, announced=[REPLY] * len(recordings))
    said = course.done[1::2]
    lost = unrecognised([(each.begin, each.end) for each in said], course.wakes()) + len(recordings) - len(said)
    return 100 * lost / len(recordings)


def false_wakes(rig: Rig, recordings: Sequence[Samples], room: str = "") -> int:
    """How often a wake word was recognised in `recordings`, which hold none."""
    return len(rig.play(in_turn(recordings), room).wakes())


def self_wakes(rig: Rig, replies: Sequence[str], room: str) -> int:
    """How often the appliance woke while it spoke to nobody."""
    return len(rig.play([], room, announced=replies).wakes())
