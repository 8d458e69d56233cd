"""Speech into a reply, through its echo: whether it interrupts, and whether the reply interrupts itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from appliance.audio.devices import Samples
from appliance.bench.recital import into_replies
from appliance.bench.rig import Rig
from appliance.bench.texts import REPLY

EARLY = 0.1
"""Seconds before what was said from which on an interruption can be its own: its onset is found a window too early."""

LATE = 2.0
"""Seconds after what was said in which the reply has to be over for good."""


@dataclass(frozen=True, slots=True)
class Alarms:
    """What happened while nobody spoke."""

    interruptions: int
    pauses: int
    hours: float
    """Of replies."""


def ignored(rig: Rig, said: Sequence[Samples], room: str) -> float:
    """Per cent of what was said into replies that did not interrupt them."""
    course = rig.play(into_replies(said), room, announced=[REPLY] * len(said))
    interrupted = [report.at for report in course.reports("interrupted")]
    begun = course.done[1::2]
    lost = sum(not any(each.begin - EARLY <= at <= each.end + LATE for at in interrupted) for each in begun)
    return 100 * (lost + len(said) - len(begun)) / len(said)


def alarms(rig: Rig, replies: Sequence[str], room: str) -> Alarms:
    """Have `replies` said while nobody speaks."""
    course = rig.play([], room, announced=replies)
    pauses = sum("the reply goes on" in str(report.data["text"]) for report in course.reports("notice"))
    begins = {report.generation: report.at for report in course.reports("reply_start")}
    seconds = sum(
        report.at - begins[report.generation] for report in course.reports("reply_end") if report.generation in begins
    )
    return Alarms(len(course.reports("interrupted")), pauses, seconds / 3600)
