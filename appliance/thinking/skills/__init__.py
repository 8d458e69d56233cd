"""What the appliance can answer by itself: one small module per intent, or for a few that belong together."""

from collections.abc import Mapping

from appliance.thinking.skills import go_on, how_are_you, repeat, stop, tell_date, tell_time, timers, volume
from appliance.thinking.skills import help as help_
from appliance.thinking.skills.skill import Skill

SKILLS: dict[str, Skill] = {
    **{skill.INTENT: skill.answer for skill in (tell_time, tell_date, how_are_you, repeat, go_on, stop, help_)},
    timers.SET: timers.set_,
    timers.CANCEL: timers.cancel,
    timers.LEFT: timers.left,
    volume.SET: volume.set_,
    volume.LOUDER: volume.louder,
    volume.QUIETER: volume.quieter,
    volume.TELL: volume.tell,
}
"""By intent, as the sentences name them."""

NEEDS: Mapping[str, str] = {timers.SET: "duration", volume.SET: "level"}
"""The slot without which an intent is not complete."""
