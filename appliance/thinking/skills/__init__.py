"""What the appliance can answer by itself: one small module per intent."""

from appliance.thinking.skills import go_on, how_are_you, repeat, stop, tell_date, tell_time
from appliance.thinking.skills import help as help_
from appliance.thinking.skills.skill import Skill

SKILLS: dict[str, Skill] = {
    skill.INTENT: skill.answer for skill in (tell_time, tell_date, how_are_you, repeat, go_on, stop, help_)
}
"""By intent, as the sentences name them."""
