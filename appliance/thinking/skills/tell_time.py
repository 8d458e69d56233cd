"""What time it is."""

from appliance.thinking.skills.skill import Question

INTENT = "time"


def answer(question: Question) -> str:
    """The local time of day."""
    return question.phrases.tell_time(question.now.time())
