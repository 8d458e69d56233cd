from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.core.effects import Drop, Effect, FinishListening, Hush, Listen, Report, Speak, Think
from appliance.core.events import (
    Answered,
    Event,
    Failed,
    Heard,
    ListeningEnd,
    ListeningEnded,
    Pressed,
    ReplyEnded,
    ReplyStarted,
    SpeechEnded,
    SpeechStarted,
    WakeHeard,
)
from appliance.core.turn import TABLE, IllegalEventError, Phase, Turn, step

WAKE = WakeHeard("alexa", 0.9, 1.0)
PATIENCE = 6.0


def play(*events: Event, turn: Turn | None = None) -> tuple[Turn, list[Effect]]:
    """The state after `events`, and the effects of the last one."""
    turn = turn or Turn(PATIENCE)
    effects: tuple[Effect, ...] = ()
    for event in events:
        turn, effects = step(turn, event)
    return turn, list(effects)


def kinds(effects: Iterable[Effect]) -> list[str]:
    return [effect.kind if isinstance(effect, Report) else type(effect).__name__ for effect in effects]


def ended(generation: int = 1, why: ListeningEnd = ListeningEnd.SILENCE, at: float = 2.0) -> ListeningEnded:
    return ListeningEnded(generation, at, at + 0.5, why)


TO_THINKING = (WAKE, ended())
TO_SPEAKING = (*TO_THINKING, Heard(1, "what time is it", 2.6), Answered(1, "time", "It is noon.", 2.7))


def test_a_question_is_answered() -> None:
    turn, effects = play(WAKE)
    assert turn.phase is Phase.LISTENING
    assert kinds(effects) == ["wake", "Listen"]
    assert effects[-1] == Listen(1, since=1.0, patience_until=7.0)

    turn, effects = play(ended(), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.THINKING, ["speech_end"])

    turn, effects = play(Heard(1, "what time is it", 2.6), turn=turn)
    assert kinds(effects) == ["heard", "Think"]
    assert effects[-1] == Think(1, "what time is it")

    turn, effects = play(Answered(1, "time", "It is noon.", 2.7), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["intent", "reply_text", "Speak"])
    assert effects[-1] == Speak(1, "It is noon.")

    turn, effects = play(ReplyStarted(1, 2.9), turn=turn)
    assert kinds(effects) == ["reply_start"]

    turn, effects = play(ReplyEnded(1, 4.0, 1.1, cut=False), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["silent", "reply_end", "Drop"])


def test_the_button_wakes_too() -> None:
    turn, effects = play(Pressed(3.0))
    assert turn.phase is Phase.LISTENING
    assert effects[0] == Report("wake", 3.0, 1, {"by": "button", "word": None})


@pytest.mark.parametrize("trigger", [WakeHeard("alexa", 0.8, 3.5), Pressed(3.5)])
@pytest.mark.parametrize("before", [TO_THINKING, TO_SPEAKING, (*TO_SPEAKING, ReplyStarted(1, 2.9))])
def test_an_interruption_hushes_before_all_else(before: tuple[Event, ...], trigger: Event) -> None:
    turn, effects = play(*before, trigger)
    assert kinds(effects) == ["Hush", "interrupted", "Drop", "wake", "Listen"]
    assert effects[0] == Hush(1)
    assert effects[2] == Drop(1)
    assert (turn.phase, turn.generation) == (Phase.LISTENING, 2)


def test_a_reply_that_was_silenced_ahead_of_the_trigger_is_interrupted_by_it() -> None:
    turn, effects = play(*TO_SPEAKING, ReplyStarted(1, 2.9), ReplyEnded(1, 3.5, 0.6, cut=True))
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["silent", "reply_end"])
    turn, effects = play(Pressed(3.5), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.LISTENING, ["Hush", "interrupted", "Drop", "wake", "Listen"])


def test_the_end_of_an_interrupted_reply_is_reported_under_its_own_generation() -> None:
    turn, _ = play(*TO_SPEAKING, ReplyStarted(1, 2.9), Pressed(3.5))
    after, effects = step(turn, ReplyEnded(1, 3.505, 0.6, cut=True))
    assert after == turn
    assert effects == (Report("silent", 3.505, 1), Report("reply_end", 3.505, 1, {"seconds": 0.6, "cut": True}))


@pytest.mark.parametrize(
    "late", [Heard(1, "ghost", 4.0), Answered(1, "time", "ghost", 4.0), Failed(1, "ghost", "sorry", 4.0), ended()]
)
@pytest.mark.parametrize("now", [Phase.IDLE, Phase.LISTENING])
def test_what_comes_late_changes_nothing(late: Event, now: Phase) -> None:
    turn, _ = (
        play(*TO_SPEAKING, Pressed(3.5)) if now is Phase.LISTENING else play(*TO_SPEAKING, ReplyEnded(1, 4, 1, False))
    )
    assert turn.phase is now
    assert step(turn, late) == (turn, ())


def test_the_wake_word_alone_leaves_time_for_the_command() -> None:
    turn, effects = play(*TO_THINKING, Heard(1, "", 2.6))
    assert turn.phase is Phase.LISTENING
    assert effects == [Listen(1, since=2.5, patience_until=7.0)]


def test_without_patience_left_no_words_end_the_turn() -> None:
    turn, effects = play(*TO_THINKING, Heard(1, "", 7.0))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["notice", "Drop"])


def test_nobody_speaks() -> None:
    turn, effects = play(WAKE, ended(why=ListeningEnd.NOTHING))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["notice", "Drop"])


def test_the_button_ends_listening_and_an_empty_utterance_with_it() -> None:
    turn, effects = play(WAKE, Pressed(2.0))
    assert (turn.phase, effects) == (Phase.LISTENING, [FinishListening(1)])
    turn, _ = play(ended(why=ListeningEnd.ASKED), Heard(1, "", 2.6), turn=turn)
    assert turn.phase is Phase.IDLE


def test_a_second_wake_word_while_listening_is_part_of_the_utterance() -> None:
    turn, _ = play(WAKE)
    assert step(turn, WakeHeard("alexa", 0.9, 1.5)) == (turn, ())


def test_an_answer_without_words_ends_the_turn() -> None:
    turn, effects = play(*TO_THINKING, Heard(1, "stop", 2.6), Answered(1, "stop", "", 2.7))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["intent", "reply_text", "Drop"])


def test_a_broken_stage_is_apologised_for_and_a_broken_voice_is_given_up() -> None:
    turn, effects = play(*TO_THINKING, Failed(1, "disk on fire", "Sorry.", 2.6))
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["notice", "reply_text", "Speak"])
    turn, effects = play(Failed(1, "no voice", "Sorry.", 2.8), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["Hush", "notice", "Drop"])


def test_speech_is_sensed_in_every_phase_and_moves_none() -> None:
    for before in ((), TO_THINKING, TO_SPEAKING):
        turn, _ = play(*before)
        after, effects = step(turn, SpeechStarted(5.0))
        assert (after.phase, kinds(effects)) == (turn.phase, ["speech_start"])
        assert kinds(step(after, SpeechEnded(6.0))[1]) == ["speech_end"]


def test_pauses_within_an_utterance_are_not_its_end() -> None:
    turn, effects = play(WAKE, SpeechStarted(1.2), SpeechEnded(1.5), SpeechStarted(1.7), SpeechEnded(2.0))
    assert effects == []
    _, effects = step(turn, ended())  # type: ignore[assignment]
    assert kinds(effects) == ["speech_end"]


@pytest.mark.parametrize("end", [ended(why=ListeningEnd.NOTHING), Failed(1, "broken", "Sorry.", 2.0)])
def test_speech_that_was_under_way_ends_with_a_turn_in_which_nothing_was_said(end: Event) -> None:
    turn, effects = play(SpeechStarted(0.5), WAKE, SpeechEnded(1.2), end)
    assert kinds(effects)[0] == "speech_end"
    assert kinds(step(turn, SpeechStarted(9.0))[1]) == ["speech_start"]


def test_what_cannot_be_raises() -> None:
    turn, _ = play(WAKE)
    with pytest.raises(IllegalEventError, match="Answered while listening"):
        step(turn, Answered(1, "time", "too early", 1.1))


def test_the_conditions_of_a_row_leave_nothing_open() -> None:
    for key in {(row.phase, row.event) for row in TABLE}:
        rows = [row for row in TABLE if (row.phase, row.event) == key]
        assert [row.when is None for row in rows] == [False] * (len(rows) - 1) + [True], key


generations = st.integers(0, 3)
times = st.floats(0, 100)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(WakeHeard, st.just("alexa"), st.just(0.9), times),
    st.builds(Pressed, times),
    st.builds(SpeechStarted, times),
    st.builds(SpeechEnded, times),
    st.builds(ListeningEnded, generations, times, times, st.sampled_from(ListeningEnd)),
    st.builds(Heard, generations, st.sampled_from(["", "what time is it"]), times),
    st.builds(Answered, generations, st.just("time"), st.sampled_from(["", "noon"]), times),
    st.builds(ReplyStarted, generations, times),
    st.builds(ReplyEnded, generations, times, times, st.booleans()),
    st.builds(Failed, generations, st.just("broken"), st.just("sorry"), times),
)


@given(st.lists(events, max_size=40))
def test_whatever_comes_in_whatever_order(history: list[Event]) -> None:
    turn = Turn(PATIENCE)
    for event in history:
        try:
            after, effects = step(turn, event)
        except IllegalEventError:
            continue
        assert after.generation - turn.generation in (0, 1)
        starts = [e for e in effects if isinstance(e, Listen | Think | Speak)]
        assert all(e.generation == after.generation for e in starts), "nothing is asked for in an old generation"
        if after.generation > turn.generation:
            assert isinstance(event, WakeHeard | Pressed)
            hushed = [i for i, e in enumerate(effects) if isinstance(e, Hush)]
            assert hushed == ([0] if turn.phase is not Phase.IDLE else [])
        ends = [e for e in effects if isinstance(e, Report) and e.kind == "reply_end"]
        assert len(ends) == isinstance(event, ReplyEnded)
        turn = after
