"""The last reply once more."""

from appliance.thinking.skills.skill import Question

INTENT = "repeat"


def answer(question: Question) -> str:
    """The last reply, word by word and whole, even if it was interrupted; or that there is none."""
    return question.last_reply or question.phrases.NOTHING_TO_REPEAT
