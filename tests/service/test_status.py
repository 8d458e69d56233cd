"""What is remembered of the conversation: who answered, and nothing that was said."""

import pytest

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.service.condition import LastAnswer
from appliance.service.status import NOBODY, SKILLS, StatusObserver


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("intent", "words", "by"),
    [
        ("time", {"text": "It is noon."}, SKILLS),
        ("model", {"text": "Far.", "by": "gpu.lan"}, "gpu.lan"),
        ("model", {"text": "It is busy."}, NOBODY),
        ("unknown", {"text": "Sorry."}, NOBODY),
    ],
)
def test_it_is_known_who_answered_last(intent: str, words: dict[str, str], by: str) -> None:
    clock = Clock()
    status = StatusObserver(clock)
    status.report(Report("intent", 1.0, 1, {"intent": intent}))
    status.report(Report("reply_text", 1.0, 1, words))
    status.phase(Phase.SPEAKING, 1.0)
    clock.now += 5.0
    assert status.last_answer == LastAnswer(intent, by, 5.0)
    assert (status.doing, status.running) == (Phase.SPEAKING, 5.0)


def test_an_apology_is_no_answer() -> None:
    status = StatusObserver()
    status.report(Report("reply_text", 1.0, 1, {"text": "Sorry, that went wrong."}))
    assert status.last_answer is None
