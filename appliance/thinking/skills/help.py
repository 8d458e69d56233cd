"""What can be asked for."""

from appliance.thinking.skills.skill import Question

INTENT = "help"


def answer(question: Question) -> str:
    """What works without a network."""
    return question.phrases.HELP
