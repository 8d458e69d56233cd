"""What day it is."""

from appliance.thinking.skills.skill import Question

INTENT = "date"


def answer(question: Question) -> str:
    """Today's date, by the local calendar."""
    return question.phrases.tell_date(question.now.date())
