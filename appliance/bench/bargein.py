"""Speech into a reply, through its echo: whether it interrupts, and whether the reply interrupts itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from appliance.audio.devices import Samples
from appliance.bench.rig import Rig, Sound
from appliance.bench.wakings import EARLIEST, GOLDEN, PHASES, REPLY
from appliance.simulation.scenario import Moment

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
    sounds = [
        Sound(samples, after=Moment.REPLY, delay=EARLIEST + n * GOLDEN % 1 * PHASES) for n, samples in enumerate(said)
    ]
    course = rig.play(sounds, room, announced=[REPLY] * len(said))
    interrupted = [report.at for report in course.reports("interrupted")]
    lost = sum(not any(each.begin - 0.5 <= at <= each.end + LATE for at in interrupted) for each in course.done)
    return 100 * (lost + len(said) - len(course.done)) / len(said)


def alarms(rig: Rig, replies: Sequence[str], room: str) -> Alarms:
    """Have `replies` said while nobody speaks."""
    course = rig.play([], room, announced=replies)
    pauses = sum("the reply goes on" in str(report.data["text"]) for report in course.reports("notice"))
    begins = {report.generation: report.at for report in course.reports("reply_start")}
    seconds = sum(
        report.at - begins[report.generation] for report in course.reports("reply_end") if report.generation in begins
    )
    return Alarms(len(course.reports("interrupted")), pauses, seconds / 3600)
