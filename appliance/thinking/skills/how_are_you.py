"""How the appliance is."""

from appliance.thinking.skills.skill import Question

INTENT = "how_are_you"


def answer(question: Question) -> str:
    """That it is well."""
    return question.phrases.HOW_I_AM
