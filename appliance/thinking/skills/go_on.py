"""The last reply from where it was interrupted."""

from appliance.thinking.skills.skill import Question

INTENT = "go_on"


def answer(question: Question) -> str:
    """What was not heard of the last reply, or that there is nothing more."""
    return question.rest or question.phrases.NOTHING_TO_GO_ON_WITH
