"""Being quiet."""

from appliance.thinking.skills.skill import Question

INTENT = "stop"


def answer(question: Question) -> str:
    """Nothing: who says stop wants silence."""
    return ""
