"""What is remembered of the conversation: who answered, and nothing that was said."""

import pytest

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.errors import ApplianceError
from appliance.service.condition import ButtonStatus, CardStatus, InterruptionStatus, LastAnswer, TurnStatus
from appliance.service.status import NOBODY, SKILLS, TURNS, StatusObserver, button_problem, button_status, card_problem


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


def a_turn(status: StatusObserver, generation: int, clock: Clock, by: str = "word") -> None:
    """From its wake to the first sound of its reply, two seconds later."""
    at = clock.now
    for report in (
        Report("wake", at, generation, {"by": by, "word": "alexa"}),
        Report("speech_end", at + 1.0, generation, {"why": "silence", "decided": at + 1.4}),
        Report("heard", at + 1.5, generation, {"text": "secret"}),
        Report("intent", at + 1.6, generation, {"intent": "time"}),
        Report("reply_text", at + 1.6, generation, {"text": "secret"}),
        Report("reply_start", at + 1.75, generation),
    ):
        status.report(report)
    clock.now += 2.0


def test_the_last_turns_are_known_with_their_latencies() -> None:
    clock = Clock()
    status = StatusObserver(clock)
    for generation in range(1, TURNS + 3):
        a_turn(status, generation, clock)
    status.report(Report("wake", clock.now, 99, {"by": "button", "word": None}))
    newest, before, *rest = status.turns
    assert newest == TurnStatus(99, 0.0, "button")
    assert before == TurnStatus(TURNS + 2, 2.0, "word", "time", "skills", 0.75)
    assert [turn.generation for turn in rest] == [6, 5, 4]
    assert "secret" not in str(status.turns)


def test_the_last_interruption_is_known_and_how_long_it_took() -> None:
    clock = Clock()
    status = StatusObserver(clock)
    a_turn(status, 1, clock)
    at = clock.now
    status.report(Report("interrupted", at, 1, {"by": "button"}))
    just_now = status.last_interruption
    assert just_now == InterruptionStatus("button", 0.0)
    a_turn(status, 2, clock, by="button")
    status.report(Report("silent", at + 0.01, 1))
    status.report(Report("silent", at + 9.0, 2))
    clock.now += 1.0
    last = status.last_interruption
    assert last is not None
    assert (last.by, last.ago, round(last.silent_after or 0.0, 6)) == ("button", 3.0, 0.01)
    assert [turn.interrupted_by for turn in status.turns] == ["", "button"]


def test_an_announcement_is_no_turn() -> None:
    status = StatusObserver()
    status.report(Report("reply_text", 1.0, 1, {"text": "It is ready."}))
    status.report(Report("reply_start", 1.0, 1))
    assert (status.turns, status.last_interruption) == ((), None)


def test_a_question_that_was_overheard_has_a_latency_too() -> None:
    clock = Clock()
    status = StatusObserver(clock)
    a_turn(status, 1, clock)
    for report in (
        Report("speech_end", 20.0, 1),
        Report("interrupted", 19.0, 1, {"by": "speech"}),
        Report("wake", 19.0, 2, {"by": "speech", "word": None}),
        Report("heard", 20.4, 2, {"text": "what day is it"}),
        Report("speech_end", 20.5, 2),
        Report("heard", 20.6, 2, {"text": "hm", "meaning": "nothing"}),
        Report("reply_start", 20.75, 2),
    ):
        status.report(report)
    assert status.turns[0] == TurnStatus(2, 0.0, "speech", first_sound=0.75)


def test_what_is_wrong_with_a_card_is_one_line() -> None:
    assert card_problem("microphone", CardStatus("USB", works=True)) == ""
    assert card_problem("microphone", CardStatus("USB", works=False)).startswith('the microphone "USB" does not work')


def test_a_button_is_told_of_and_only_a_broken_one_is_wrong() -> None:
    broken = button_status(works=False, trouble=ApplianceError("button", "pin 17 is taken", remedy="Set another"))
    assert broken == ButtonStatus("broken", "pin 17 is taken", "Set another")
    assert button_problem(broken) == "the button does not work: pin 17 is taken"
    for works, state in ((True, "works"), (False, "none")):
        told = button_status(works=works, trouble=None)
        assert (told.state, button_problem(told)) == (state, "")
