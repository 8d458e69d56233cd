from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.core.actions import HEARD_BEFORE
from appliance.core.effects import (
    Begin,
    Drop,
    Effect,
    FinishListening,
    Hush,
    LetGo,
    Listen,
    Overhear,
    Pause,
    Remember,
    Report,
    Resume,
    Speak,
    Think,
)
from appliance.core.events import (
    Announced,
    Answered,
    Event,
    Failed,
    Heard,
    ListeningEnd,
    ListeningEnded,
    Overheard,
    Pressed,
    Released,
    ReplyEnded,
    ReplyStarted,
    SpeechEnded,
    SpeechStarted,
    SpeechSustained,
    WakeHeard,
    Worded,
)
from appliance.core.interruption import Gates, Meaning
from appliance.core.moves import FALSE_ALARMS, LEAD, PREROLL
from appliance.core.remarks import MOST_ECHOES
from appliance.core.turn import MOST_ANNOUNCED, TABLE, IllegalEventError, Phase, Turn, step

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


def over(generation: int = 1, at: float = 4.0, *, cut: bool = False) -> ReplyEnded:
    return ReplyEnded(generation, at, 1.0, cut, 16000, ())


def ends(generation: int = 1, at: float = 4.0, *, cut: bool = False) -> list[Effect]:
    """What is reported and remembered of a reply that is `over`."""
    data = {"seconds": 1.0, "cut": cut}
    return [
        Report("silent", at, generation),
        Report("reply_end", at, generation, data),
        Remember(generation, 16000, (), cut),
    ]


def overheard(meaning: Meaning, text: str = "and tomorrow", generation: int = 1) -> Overheard:
    return Overheard(generation, "" if meaning is Meaning.NOTHING else text, meaning, 4.2)


def spoken(until: float = 3.7, generation: int = 1) -> tuple[Event, ...]:
    """Speech that paused the reply at 3.3, and went on `until` then."""
    return ListeningEnded(generation, until, until + 0.45, ListeningEnd.SILENCE), SpeechEnded(until)


TO_THINKING = (WAKE, ended())
TO_SPEAKING = (*TO_THINKING, Heard(1, "what time is it", 2.6), Answered(1, "time", "It is noon.", 2.7))
TO_SOUND = (*TO_SPEAKING, ReplyStarted(1, 2.9))
TO_PAUSED = (*TO_SOUND, SpeechStarted(3.0), SpeechSustained(3.0, 3.3))
BROKEN = Failed(1, "no voice", "Sorry.", 3.9)
HEARD = Heard(1, "what time is it", 2.6)
CLOSED = Turn(PATIENCE, Gates(button=False, wake_word=False, stop_word=False, speech=False))


def test_a_question_is_answered() -> None:
    turn, effects = play(WAKE)
    assert turn.phase is Phase.LISTENING
    assert kinds(effects) == ["Begin", "wake", "Listen"]
    assert effects[-1] == Listen(1, since=1.0, patience_until=7.0)

    turn, effects = play(ended(), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.THINKING, ["speech_end"])

    turn, effects = play(Heard(1, "what time is it", 2.6), turn=turn)
    assert kinds(effects) == ["heard", "Think"]
    assert effects[-1] == Think(1, "what time is it")

    turn, effects = play(Answered(1, "time", "It is noon.", 2.7), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["intent", "reply_text", "Speak"])
    assert effects[-1] == Speak(1, "It is noon.", pausable=True)

    turn, effects = play(ReplyStarted(1, 2.9), turn=turn)
    assert kinds(effects) == ["reply_start"]

    turn, effects = play(over(), turn=turn)
    assert (turn.phase, effects) == (Phase.IDLE, [*ends(), Drop(1)])


def test_the_button_wakes_too() -> None:
    turn, effects = play(Pressed(3.0, 0))
    assert turn.phase is Phase.LISTENING
    assert effects[:2] == [Begin(1), Report("wake", 3.0, 1, {"by": "button", "word": None})]


@pytest.mark.parametrize("before", [(), TO_THINKING, TO_SOUND, TO_PAUSED])
def test_letting_go_of_the_button_that_was_held_while_somebody_spoke_is_the_end(before: tuple[Event, ...]) -> None:
    turn, _ = play(*before)
    turn, effects = play(Pressed(5.0, turn.generation), turn=turn)
    generation = turn.generation
    assert isinstance(effects[-1], Listen)
    assert effects[-1].held
    turn, effects = play(SpeechStarted(5.1), SpeechEnded(6.0), SpeechStarted(7.0), Released(8.0), turn=turn)
    assert (turn.phase, effects) == (Phase.LISTENING, [FinishListening(generation)])
    turn, _ = play(ended(generation, ListeningEnd.ASKED, 8.0), Heard(generation, "", 8.4), turn=turn)
    assert turn.phase is Phase.IDLE, "the user has said that it was all"


@pytest.mark.parametrize("meanwhile", [[Released(5.2)], [Released(7.0)], [SpeechStarted(5.1), Released(5.2)]])
def test_a_tap_or_a_hold_in_which_nobody_spoke_is_followed_by_what_is_said(meanwhile: list[Event]) -> None:
    turn, effects = play(Pressed(5.0, 0), *meanwhile)
    assert (turn.phase, effects) == (Phase.LISTENING, [LetGo(1)])
    turn, effects = play(Released(9.0), turn=turn)
    assert effects == []


@pytest.mark.parametrize("before", [(), (WAKE,), TO_THINKING, TO_SOUND, TO_PAUSED, (Pressed(0.5, 0), ended())])
def test_where_no_utterance_was_begun_with_the_button_nobody_asks_when_it_comes_up(before: tuple[Event, ...]) -> None:
    turn, _ = play(*before)
    assert play(Released(4.0), turn=turn) == (turn, [])


@pytest.mark.parametrize("trigger", [WakeHeard("alexa", 0.8, 3.5, 1), Pressed(3.5, 1)])
@pytest.mark.parametrize("before", [TO_THINKING, TO_SPEAKING, TO_SOUND, TO_PAUSED])
def test_an_interruption_hushes_before_all_else(before: tuple[Event, ...], trigger: Event) -> None:
    turn, effects = play(*before, trigger)
    assert kinds(effects) == ["Hush", "interrupted", "Drop", "Begin", "wake", "Listen"]
    assert effects[0] == Hush(1)
    assert effects[2:4] == [Drop(1), Begin(2)]
    assert (turn.phase, turn.generation) == (Phase.LISTENING, 2)


@pytest.mark.parametrize("before", [(), TO_THINKING, TO_SOUND, TO_PAUSED])
def test_several_triggers_in_one_instant_are_one(before: tuple[Event, ...]) -> None:
    seen = play(*before)[0].generation
    triggers: list[Event] = [WakeHeard("alexa", 0.8, 3.5, seen), Pressed(3.5, seen), Pressed(3.5, seen)]
    for first in range(len(triggers)):
        turn, _ = play(*before, triggers[first])
        for other in triggers:
            assert step(turn, other) == (turn, ())


def test_a_reply_that_was_silenced_ahead_of_the_trigger_is_interrupted_by_it() -> None:
    for before in (TO_SOUND, TO_PAUSED):
        turn, effects = play(*before, over(cut=True))
        assert (turn.phase, effects) == (play(*before)[0].phase, ends(cut=True))
        turn, effects = play(Pressed(3.5, 1), turn=turn)
        assert (turn.phase, kinds(effects)[0]) == (Phase.LISTENING, "Hush")


def test_the_end_of_an_interrupted_reply_is_reported_under_its_own_generation() -> None:
    turn, _ = play(*TO_SOUND, Pressed(3.5, 1))
    after, effects = step(turn, over(cut=True))
    assert after == turn
    assert list(effects) == ends(cut=True)


def test_an_interruption_after_the_last_sample_is_a_new_turn_and_cuts_nothing() -> None:
    turn, _ = play(*TO_SOUND, over())
    turn, effects = play(Pressed(3.5, 1), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.LISTENING, ["Begin", "wake", "Listen"])


@pytest.mark.parametrize("gates", [CLOSED.gates, Gates()])
def test_speech_during_a_reply_is_always_taken_down(gates: Gates) -> None:
    turn, effects = play(*TO_SOUND, SpeechStarted(3.0), turn=replace(CLOSED, gates=gates))
    assert turn.phase is Phase.SPEAKING
    assert effects == [Report("speech_start", 3.0, 1), Overhear(1, 3.0, 3.0 + PATIENCE)]
    assert kinds(step(turn, SpeechStarted(3.0))[1]) == [], "once"


def test_speech_that_lasts_pauses_the_reply() -> None:
    turn, effects = play(*TO_PAUSED)
    assert (turn.phase, effects) == (Phase.PAUSED, [Pause(1)])


@pytest.mark.parametrize("text", ["It is noon.", None])
def test_a_reply_does_not_talk_over_who_speaks_when_it_would_begin(text: str | None) -> None:
    heard, answered = Heard(1, "what time is it", 2.6), Answered(1, "time", text, 2.7)
    turn, effects = play(*TO_THINKING, SpeechStarted(2.5), heard, answered)
    assert (turn.phase, effects[-2:]) == (Phase.PAUSED, [Speak(1, text, pausable=True), Pause(1)])
    turn, effects = play(*spoken(), overheard(Meaning.NOTHING), turn=turn)
    assert (turn.phase, effects[0]) == (Phase.SPEAKING, Resume(1, pausable=True))
    turn, _ = play(*TO_THINKING, SpeechStarted(2.55), heard, answered, turn=CLOSED)
    assert turn.phase is Phase.SPEAKING


def test_who_speaks_while_the_question_is_made_out_is_listened_to_as_soon_as_it_is() -> None:
    _, effects = play(*TO_THINKING, SpeechStarted(2.55), HEARD)
    assert kinds(effects) == ["heard", "Think", "Overhear"]
    assert effects[-1] == Overhear(1, 2.55, 2.6 + PATIENCE)
    _, effects = play(*TO_THINKING, HEARD, SpeechStarted(2.65))
    assert effects[1:] == [Overhear(1, 2.65, 2.65 + PATIENCE)]


@pytest.mark.parametrize("meaning", [Meaning.WORDS, Meaning.ORDER])
def test_what_is_said_while_it_thinks_is_asked_instead(meaning: Meaning) -> None:
    turn, effects = play(*TO_THINKING, HEARD, SpeechStarted(3.0), *spoken(), overheard(meaning))
    assert (turn.phase, turn.generation, turn.attending) == (Phase.THINKING, 2, False)
    assert effects == [
        Hush(1),
        Report("interrupted", 3.0, 1, {"by": "speech"}),
        Drop(1),
        Begin(2),
        Report("wake", 3.0, 2, {"by": "speech", "word": None}),
        Report("heard", 4.2, 2, {"text": "and tomorrow"}),
        Think(2, "and tomorrow"),
    ]


def test_a_short_word_while_it_thinks_is_not_meant_however_long_ago_a_reply_was_paused() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), overheard(Meaning.NOTHING), over(at=6.0))
    turn, _ = play(Pressed(9.0, 1), ended(2, at=9.5), Heard(2, "what time is it", 10.2), turn=turn)
    word = (SpeechStarted(10.3), ended(2, at=10.5), SpeechEnded(10.5))
    turn, effects = play(*word, overheard(Meaning.WORDS, "what", generation=2), turn=turn)
    assert (turn.phase, turn.generation, kinds(effects)) == (Phase.THINKING, 2, ["heard"])


def test_what_is_said_while_it_thinks_and_not_known_when_it_would_answer_is_asked_instead() -> None:
    turn, effects = play(*TO_THINKING, HEARD, SpeechStarted(3.0), *spoken(), Answered(1, "time", "It is noon.", 4.1))
    assert (turn.phase, effects[-1]) == (Phase.PAUSED, Pause(1))
    turn, effects = play(overheard(Meaning.WORDS), turn=turn)
    assert (turn.phase, effects[0]) == (Phase.PAUSED, Hush(1))
    turn, effects = play(over(cut=True), turn=turn)
    assert (turn.phase, turn.generation, effects[-1]) == (Phase.THINKING, 2, Think(2, "and tomorrow"))


def test_stop_while_it_thinks_ends_the_turn() -> None:
    turn, effects = play(*TO_THINKING, HEARD, SpeechStarted(3.0), overheard(Meaning.STOP, "stop"))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["Hush", "interrupted", "heard", "Drop"])


@pytest.mark.parametrize(
    ("remark", "before"),
    [
        (Meaning.BACK_CHANNEL, Turn(PATIENCE)),
        (Meaning.NOTHING, Turn(PATIENCE)),
        (Meaning.WORDS, CLOSED),
        (Meaning.STOP, CLOSED),
    ],
)
def test_what_is_not_meant_or_may_not_interrupt_does_not_end_the_search_for_an_answer(
    remark: Meaning, before: Turn
) -> None:
    turn, effects = play(*TO_THINKING, HEARD, SpeechStarted(3.0), *spoken(), overheard(remark), turn=before)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 1)
    assert kinds(effects) == ([] if remark is Meaning.NOTHING else ["heard"])
    turn, effects = play(Answered(1, "time", "It is noon.", 5.0), turn=turn)
    assert (turn.phase, kinds(effects)[-1]) == (Phase.SPEAKING, "Speak")


def test_words_end_the_paused_reply_and_are_the_next_question() -> None:
    turn, effects = play(*TO_PAUSED, *spoken(), overheard(Meaning.WORDS))
    assert (turn.phase, turn.generation) == (Phase.PAUSED, 1)
    assert effects == [Hush(1), Report("interrupted", 3.0, 1, {"by": "speech"})]
    turn, effects = play(over(cut=True), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)
    assert effects == [
        *ends(cut=True),
        Drop(1),
        Begin(2),
        Report("wake", 3.0, 2, {"by": "speech", "word": None}),
        Report("heard", 4.2, 2, {"text": "and tomorrow"}),
        Think(2, "and tomorrow"),
    ]


@pytest.mark.parametrize("meaning", [Meaning.NOTHING, Meaning.WORDS, Meaning.ECHO])
def test_what_begins_and_ends_with_the_reply_was_its_echo(meaning: Meaning) -> None:
    turn, effects = play(*TO_PAUSED, *spoken(3.4), overheard(meaning))
    assert (turn.phase, effects[0]) == (Phase.SPEAKING, Resume(1, pausable=False))


@pytest.mark.parametrize("meaning", [Meaning.NOTHING, Meaning.WORDS])
def test_a_short_noise_in_a_room_without_echo_makes_nobody_deaf(meaning: Meaning) -> None:
    late = (SpeechStarted(6.0), SpeechSustained(6.0, 6.3))
    turn, effects = play(*TO_SOUND, *late, *spoken(6.4), overheard(meaning))
    assert (turn.phase, effects[0]) == (Phase.SPEAKING, Resume(1, pausable=True))


def test_an_order_of_one_word_is_meant() -> None:
    turn, effects = play(*TO_PAUSED, *spoken(3.4), overheard(Meaning.ORDER, "Help."))
    assert (turn.phase, kinds(effects)) == (Phase.PAUSED, ["Hush", "interrupted"])


def test_who_speaks_again_before_it_is_known_what_the_speech_meant_is_heard_too() -> None:
    turn, effects = play(*TO_PAUSED, *spoken(), SpeechStarted(4.0))
    assert effects[1:] == [Overhear(1, 4.0, 4.0 + PATIENCE)]
    turn, effects = play(overheard(Meaning.BACK_CHANNEL), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.PAUSED, ["heard"])
    turn, _ = play(*spoken(4.6), Overheard(1, "and tomorrow", Meaning.WORDS, 5.2), over(cut=True), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)


def test_a_short_word_after_a_false_alarm_is_another_one() -> None:
    word = (SpeechStarted(4.0), ended(at=4.2), SpeechEnded(4.2))
    turn, _ = play(*TO_PAUSED, *spoken(3.4), *word, overheard(Meaning.BACK_CHANNEL))
    turn, effects = play(overheard(Meaning.WORDS, "what"), turn=turn)
    assert (turn.phase, kinds(effects)[0]) == (Phase.SPEAKING, "Resume")


def test_stop_right_after_something_else_stops_though_the_recogniser_is_slow() -> None:
    first, then = ended(at=3.4), ended(at=4.6)
    turn, _ = play(*TO_PAUSED, first, SpeechEnded(3.4), SpeechStarted(4.0), then, SpeechEnded(4.6))
    assert len(turn.remarks) == 2
    turn, effects = play(overheard(Meaning.BACK_CHANNEL, "okay"), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.PAUSED, ["heard"])
    turn, effects = play(overheard(Meaning.STOP, "stop"), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["Hush", "interrupted", "heard", "Drop"])


def test_who_begins_again_before_the_loop_knows_that_the_utterance_was_over_is_listened_to() -> None:
    turn, effects = play(*TO_SOUND, SpeechStarted(3.0), SpeechEnded(3.2), SpeechStarted(3.9), ended(at=3.2))
    assert effects == [Overhear(1, 3.7, 3.7 + PATIENCE)]
    assert (turn.overhearing, len(turn.remarks)) == (True, 2)


def test_what_was_said_after_the_next_question_is_heard_for_the_turn_of_that() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), SpeechStarted(4.0), overheard(Meaning.WORDS))
    turn, effects = play(over(cut=True), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)
    assert effects[-2:] == [Think(2, "and tomorrow"), Overhear(2, 4.0, 4.2 + PATIENCE)]
    assert (turn.overhearing, len(turn.remarks)) == (True, 1)


def test_what_is_made_out_between_an_interruption_and_the_end_of_the_reply_is_reported() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), SpeechStarted(4.0), overheard(Meaning.WORDS))
    turn, effects = play(overheard(Meaning.STOP, "stop"), turn=turn)
    assert (turn.phase, turn.remarks, kinds(effects)) == (Phase.PAUSED, (), ["heard"])
    turn, effects = play(over(cut=True), turn=turn)
    assert effects[-1] == Think(2, "and tomorrow")


def test_words_that_paused_a_reply_when_its_last_sample_had_just_sounded_are_the_next_question() -> None:
    turn, effects = play(*TO_PAUSED, over(), *spoken())
    assert (turn.phase, turn.voice) == (Phase.PAUSED, False)
    after, effects = play(overheard(Meaning.WORDS), turn=turn)
    assert (after.phase, after.generation, kinds(effects)) == (
        Phase.THINKING,
        2,
        ["Drop", "Begin", "wake", "heard", "Think"],
    )
    for other in (Meaning.STOP, Meaning.BACK_CHANNEL, Meaning.NOTHING, Meaning.ECHO):
        after, effects = play(overheard(other), turn=turn)
        assert (after.phase, kinds(effects)[-1]) == (Phase.IDLE, "Drop")
        assert "interrupted" not in kinds(effects)


@pytest.mark.parametrize("meaning", [Meaning.NOTHING, Meaning.BACK_CHANNEL, Meaning.ECHO])
def test_after_a_false_alarm_the_reply_goes_on(meaning: Meaning) -> None:
    turn, effects = play(*TO_PAUSED, *spoken(), overheard(meaning))
    assert turn.phase is Phase.SPEAKING
    assert effects[0] == Resume(1, pausable=meaning is not Meaning.ECHO)
    assert kinds(effects)[-1] == "notice"


@pytest.mark.parametrize("before", [(*TO_SOUND, SpeechStarted(3.0)), TO_PAUSED])
def test_stop_ends_the_reply_and_nothing_follows(before: tuple[Event, ...]) -> None:
    turn, effects = play(*before, overheard(Meaning.STOP, "stop"))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["Hush", "interrupted", "heard", "Drop"])
    turn, effects = play(over(cut=True), turn=turn)
    assert (turn.phase, effects) == (Phase.IDLE, ends(cut=True))


def test_what_is_said_too_shortly_to_interrupt_changes_nothing() -> None:
    turn, effects = play(*TO_SOUND, SpeechStarted(3.0), overheard(Meaning.WORDS, "why"))
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["Resume", "heard"])
    assert kinds(play(SpeechEnded(3.2), SpeechStarted(3.6), turn=turn)[1]) == ["speech_start", "Overhear"]


def test_with_all_gates_closed_the_reply_plays_on_whatever_is_said() -> None:
    said = [overheard(meaning) for meaning in Meaning]
    turn, effects = play(*TO_SOUND, SpeechStarted(3.0), SpeechSustained(3.0, 3.3), turn=CLOSED)
    assert (turn.phase, effects) == (Phase.SPEAKING, [])
    for event in said:
        after, effects = play(event, turn=turn)
        assert after.phase is Phase.SPEAKING
        assert "Hush" not in kinds(effects)
        assert ("heard" in kinds(effects)) == (event.text != "")


@pytest.mark.parametrize("trigger", [WakeHeard("alexa", 0.9, 3.0, 1), Pressed(3.0, 1)])
def test_what_is_said_to_it_while_it_may_not_be_interrupted_is_the_next_question(trigger: Event) -> None:
    turn, effects = play(*TO_SOUND, trigger, turn=CLOSED)
    assert (turn.phase, effects) == (Phase.SPEAKING, [Resume(1, pausable=False), Listen(1, 3.0, 3.0 + PATIENCE)])
    turn, effects = play(ended(at=3.6), Heard(1, "and tomorrow", 3.9), turn=turn)
    assert (turn.phase, effects) == (Phase.SPEAKING, [])
    turn, effects = play(over(), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)
    assert kinds(effects)[3:] == ["Drop", "Begin", "wake", "heard", "Think"]
    assert effects[-1] == Think(2, "and tomorrow")


@pytest.mark.parametrize("trigger", [WakeHeard("alexa", 0.9, 3.0, 1), Pressed(3.0, 1)])
def test_while_somebody_waits_for_the_end_of_the_reply_speech_does_not_pause_it(trigger: Event) -> None:
    gates = replace(CLOSED, gates=Gates(button=False, wake_word=False))
    turn, effects = play(*TO_SOUND, trigger, SpeechStarted(3.1), SpeechSustained(3.1, 3.4), turn=gates)
    assert (turn.phase, effects) == (Phase.SPEAKING, [])


def test_what_is_said_to_it_is_listened_for_though_what_was_overheard_before_comes_late() -> None:
    late = overheard(Meaning.WORDS)
    turn, effects = play(*TO_SOUND, SpeechStarted(2.0), Pressed(3.0, 1), late, SpeechStarted(3.1), turn=CLOSED)
    assert "Overhear" not in kinds(effects)
    turn, effects = play(over(at=3.5), turn=turn)
    assert effects[-1] == Listen(2, 3.0, 3.5 + PATIENCE)


@pytest.mark.parametrize("instead", [Pressed(3.9, 1), WakeHeard("alexa", 0.9, 3.9, 1)])
def test_what_was_said_to_it_is_reported_though_something_else_comes_before_it_is_answered(instead: Event) -> None:
    gates = replace(CLOSED, gates=Gates(wake_word=False))
    said = Heard(1, "and tomorrow", 3.8)
    _, effects = play(*TO_SOUND, WakeHeard("alexa", 0.9, 3.0, 1), said, instead, turn=gates)
    assert Report("heard", 3.8, 1, {"text": "and tomorrow"}) in effects


def test_who_is_still_speaking_to_it_when_the_reply_is_over_is_listened_to_from_the_wake_word_on() -> None:
    turn, effects = play(*TO_SOUND, WakeHeard("alexa", 0.9, 3.0, 1), over(at=3.5), turn=CLOSED)
    assert (turn.phase, kinds(effects)[3:]) == (Phase.LISTENING, ["Drop", "Begin", "wake", "Listen"])
    assert effects[-1] == Listen(2, 3.0, 3.5 + PATIENCE)


def test_who_said_only_the_wake_word_has_the_turn_when_the_reply_is_over() -> None:
    turn, effects = play(*TO_SOUND, WakeHeard("alexa", 0.9, 3.0, 1), Heard(1, "", 3.4), over(), turn=CLOSED)
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 4.0, 4.0 + PATIENCE))


def test_what_is_said_after_the_wake_word_alone_when_the_reply_ends_belongs_to_the_next_turn() -> None:
    address = (WakeHeard("alexa", 0.8, 3.5, 1), ended(), Heard(1, "", 3.9))
    turn, effects = play(*TO_SOUND, *address, SpeechStarted(3.95), over(), turn=CLOSED)
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 3.5, 4.0 + PATIENCE))


DEAF_TO_TRIGGERS = replace(CLOSED, gates=Gates(button=False, wake_word=False))
TRIGGERS: list[Event] = [WakeHeard("alexa", 0.9, 3.4, 1), Pressed(3.4, 1)]


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_trigger_that_may_not_interrupt_has_its_turn_after_a_paused_reply_too(trigger: Event) -> None:
    paused, effects = play(*TO_PAUSED, trigger, turn=DEAF_TO_TRIGGERS)
    assert (paused.phase, effects) == (Phase.PAUSED, [])
    turn, effects = play(*spoken(), overheard(Meaning.NOTHING), turn=paused)
    assert (turn.phase, effects[0], effects[-1]) == (
        Phase.SPEAKING,
        Resume(1, pausable=False),
        Listen(1, 4.2, 4.2 + PATIENCE, PREROLL),
    )
    turn, effects = play(Heard(1, "and tomorrow", 5.0), over(at=6.0), turn=turn)
    assert (turn.phase, effects[-1]) == (Phase.THINKING, Think(2, "and tomorrow"))
    turn, effects = play(over(), turn=paused)
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 3.4, 4.0 + PATIENCE))


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_when_the_reply_is_over_any_trigger_begins_a_turn(trigger: Event) -> None:
    turn, effects = play(*TO_PAUSED, over(), trigger, turn=DEAF_TO_TRIGGERS)
    assert (turn.phase, kinds(effects)) == (Phase.LISTENING, ["Drop", "Begin", "wake", "Listen"])
    turn, effects = play(*TO_PAUSED, *spoken(), overheard(Meaning.WORDS), trigger, turn=DEAF_TO_TRIGGERS)
    assert (turn.phase, kinds(effects)) == (Phase.LISTENING, ["heard", "Drop", "Begin", "wake", "Listen"])


def test_a_press_says_that_what_is_said_to_it_during_a_reply_is_over() -> None:
    wake = WakeHeard("alexa", 0.9, 3.0, 1)
    turn, effects = play(*TO_SOUND, wake, Pressed(5.0, 1), turn=CLOSED)
    assert (turn.phase, effects) == (Phase.SPEAKING, [FinishListening(1)])
    triggers: list[Event] = [Pressed(3.0, 1), WakeHeard("alexa", 0.9, 3.5, 1)]
    for at_once in triggers:
        assert play(*TO_SOUND, wake, at_once, turn=CLOSED)[1] == []


def test_an_echo_does_not_take_the_place_of_the_order_before_it() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(3.4), overheard(Meaning.ECHO))
    order = (SpeechStarted(5.0), *spoken(6.0), SpeechStarted(6.8), overheard(Meaning.ORDER, "what time is it"))
    turn, effects = play(*order, over(at=7.6, cut=True), turn=turn)
    assert effects[-2:] == [Think(2, "what time is it"), Overhear(2, 6.8, 4.2 + PATIENCE)]
    turn, _ = play(ended(2, at=7.7), overheard(Meaning.WORDS, "whales are large", 2), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)


def test_an_echo_in_two_parts_is_no_question() -> None:
    echo = (SpeechStarted(6.0), ended(at=7.5), SpeechEnded(7.5), SpeechStarted(8.3), over(at=10.0))
    turn, _ = play(*TO_SOUND, *echo, overheard(Meaning.ECHO), ended(at=10.05), overheard(Meaning.WORDS))
    assert (turn.phase, turn.generation) == (Phase.IDLE, 1)


TALK = (*TO_THINKING, HEARD, Answered(1, "model", None, 2.7), ReplyStarted(1, 2.9))


def test_who_answers_over_the_end_of_what_a_model_has_asked_is_heard() -> None:
    closed = replace(CLOSED, follow_up=5.0)
    turn, effects = play(*TALK, SpeechStarted(9.9), over(at=10.0), turn=closed)
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 10.0, 15.0, PREROLL))
    yes = (SpeechStarted(9.95), over(at=10.0), ended(at=10.4), overheard(Meaning.BACK_CHANNEL, "yes"))
    turn, effects = play(*TALK, *yes, turn=Turn(PATIENCE, follow_up=5.0))
    assert (turn.phase, effects[-1]) == (Phase.THINKING, Think(2, "yes"))


def test_who_speaks_when_the_question_cannot_be_made_out_is_listened_to() -> None:
    turn, effects = play(*TO_THINKING, SpeechStarted(3.2), BROKEN)
    assert (turn.phase, effects[-2:]) == (Phase.PAUSED, [Pause(1), Overhear(1, 3.2, 3.9 + PATIENCE)])


@pytest.mark.parametrize("before", [TO_PAUSED, (*TO_SOUND, SpeechStarted(3.0))])
def test_who_addressed_it_before_a_stop_was_made_out_is_listened_to(before: tuple[Event, ...]) -> None:
    gates = Turn(PATIENCE, Gates(button=False))
    turn, effects = play(*before, Pressed(3.4, 1), overheard(Meaning.STOP, "stop"), turn=gates)
    assert (turn.phase, effects[0], effects[-1]) == (Phase.LISTENING, Hush(1), Listen(2, 3.4, 4.2 + PATIENCE))


@pytest.mark.parametrize("gates", [CLOSED, Turn(PATIENCE), Turn(PATIENCE, follow_up=5.0)])
def test_what_is_said_over_the_end_of_a_reply_is_heard(gates: Turn) -> None:
    turn, effects = play(*TO_SOUND, SpeechStarted(3.9), over(at=4.0), turn=gates)
    assert (turn.phase, effects) == (Phase.PAUSED, ends(at=4.0))
    turn, effects = play(*spoken(6.0), overheard(Meaning.WORDS), turn=turn)
    assert Report("heard", 4.2, turn.generation, {"text": "and tomorrow", **meaning(gates)}) in effects
    assert turn.phase is (Phase.THINKING if gates.gates.speech else Phase.IDLE)


def meaning(gates: Turn) -> dict[str, str]:
    """What is reported of words that are no question."""
    return {} if gates.gates.speech else {"meaning": "words"}


def test_the_end_of_a_reply_that_hears_itself_is_no_question_and_the_user_may_go_on() -> None:
    talk = Answered(1, "model", None, 2.7)
    before = (*TO_THINKING, HEARD, talk, ReplyStarted(1, 2.9), SpeechStarted(3.8), over(at=4.0))
    turn, effects = play(*before, *spoken(4.05), overheard(Meaning.WORDS), turn=Turn(PATIENCE, follow_up=5.0))
    assert (turn.phase, turn.follows_up, effects[-1]) == (Phase.LISTENING, True, Listen(2, 4.2, 9.2, PREROLL))


def test_an_order_is_heard_however_often_the_reply_was_paused_for_nothing() -> None:
    turn, _ = play(*TO_SOUND)
    for _ in range(FALSE_ALARMS):
        turn, _ = play(SpeechStarted(3.0), SpeechSustained(3.0, 3.3), *spoken(), overheard(Meaning.NOTHING), turn=turn)
    order = overheard(Meaning.ORDER, "what time is it")
    turn, effects = play(SpeechStarted(5.0), SpeechSustained(5.0, 5.3), *spoken(6.0), order, turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.PAUSED, ["Hush", "interrupted"])


def test_an_order_in_a_reply_that_may_not_be_paused_shows_that_it_was_no_echo() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(3.4), overheard(Meaning.ECHO))
    assert turn.deaf
    click = (SpeechStarted(5.0), *spoken(5.2), overheard(Meaning.ORDER, "help"))
    assert play(*click, turn=turn)[0].phase is Phase.SPEAKING
    turn, effects = play(SpeechStarted(5.0), *spoken(6.0), overheard(Meaning.ORDER, "help"), turn=turn)
    assert (turn.phase, turn.deaf, turn.echoes, effects[0]) == (Phase.PAUSED, 0, 0, Hush(1))


def test_signs_of_listening_do_not_count_as_false_alarms() -> None:
    turn, _ = play(*TO_SOUND)
    for _ in range(FALSE_ALARMS + 1):
        hm = (SpeechStarted(3.0), SpeechSustained(3.0, 3.3), *spoken(), overheard(Meaning.BACK_CHANNEL, "mm-hmm"))
        turn, effects = play(*hm, turn=turn)
        assert effects[0] == Resume(1, pausable=True)


def test_what_was_said_to_it_is_answered_though_the_reply_breaks() -> None:
    wake, said = WakeHeard("alexa", 0.9, 3.0, 1), Heard(1, "and tomorrow", 3.8)
    turn, effects = play(*TO_SOUND, wake, said, BROKEN, turn=CLOSED)
    assert (turn.phase, effects[0], effects[-1]) == (Phase.THINKING, Hush(1), Think(2, "and tomorrow"))
    turn, effects = play(*TO_SOUND, wake, BROKEN, turn=CLOSED)
    assert (turn.phase, effects[0], effects[-1]) == (Phase.LISTENING, Hush(1), Listen(2, 3.0, 3.9 + PATIENCE))
    turn, effects = play(*TO_PAUSED, TRIGGERS[0], BROKEN, turn=DEAF_TO_TRIGGERS)
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 3.4, 3.9 + PATIENCE))


@pytest.mark.parametrize("before", [(*TO_SOUND, SpeechStarted(3.0)), TO_PAUSED])
def test_what_is_being_said_when_the_reply_breaks_may_be_the_next_question(before: tuple[Event, ...]) -> None:
    turn, effects = play(*before, BROKEN)
    assert (turn.phase, kinds(effects)) == (Phase.PAUSED, ["Hush", "notice"])
    turn, effects = play(over(cut=True), *spoken(), overheard(Meaning.WORDS), turn=turn)
    assert (turn.phase, effects[-1]) == (Phase.THINKING, Think(2, "and tomorrow"))


def test_a_next_question_that_is_known_is_answered_though_the_reply_breaks() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), overheard(Meaning.WORDS), BROKEN)
    turn, effects = play(over(cut=True), turn=turn)
    assert (turn.phase, effects[-1]) == (Phase.THINKING, Think(2, "and tomorrow"))


def test_an_apology_does_not_talk_over_who_speaks() -> None:
    turn, effects = play(*TO_THINKING, HEARD, SpeechStarted(3.0), BROKEN)
    assert (turn.phase, effects[-2:]) == (Phase.PAUSED, [Speak(1, "Sorry.", pausable=True), Pause(1)])
    turn, _ = play(*spoken(), overheard(Meaning.WORDS), over(cut=True), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.THINKING, 2)


def test_silence_is_not_the_answer_to_what_was_said_since() -> None:
    turn, _ = play(*TO_THINKING, HEARD, SpeechStarted(3.0), Answered(1, "stop", "", 3.1))
    assert turn.phase is Phase.PAUSED
    turn, effects = play(*spoken(), overheard(Meaning.WORDS), turn=turn)
    assert (turn.phase, effects[-1]) == (Phase.THINKING, Think(2, "and tomorrow"))


def test_who_begins_to_speak_while_a_cough_is_made_out_is_listened_to() -> None:
    turn, effects = play(*TO_THINKING, SpeechStarted(2.8), Heard(1, "", 9.0))
    assert (turn.phase, effects) == (Phase.LISTENING, [Listen(1, 2.8, 9.0 + PATIENCE, LEAD)])


def test_a_press_that_the_loop_comes_to_after_it_has_made_a_turn_of_what_was_said_counts() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), overheard(Meaning.WORDS), over(cut=True))
    turn, effects = play(Pressed(4.3, 1), turn=turn)
    assert (turn.phase, turn.generation, effects[0]) == (Phase.LISTENING, 3, Hush(2))
    assert play(Pressed(4.3, 1), turn=turn) == (turn, [])


def test_of_what_was_said_after_the_next_question_nothing_is_left_out() -> None:
    turn, _ = play(*TO_PAUSED, *spoken(), SpeechStarted(5.0), ended(at=5.5), SpeechEnded(5.5), SpeechStarted(7.0))
    turn, effects = play(overheard(Meaning.WORDS), over(cut=True), turn=turn)
    assert effects[-1] == Overhear(2, 5.0, 4.2 + PATIENCE)
    turn, effects = play(ended(2, at=5.5), turn=turn)
    assert effects == [Overhear(2, 6.0, 6.0 + PATIENCE)]


def test_who_speaks_and_then_presses_need_not_say_it_again() -> None:
    turn, effects = play(*TO_PAUSED, Pressed(3.8, 1))
    assert (turn.phase, effects[-1]) == (Phase.LISTENING, Listen(2, 3.0, 3.8 + PATIENCE, LEAD, held=True))


def test_nothing_of_the_reply_or_of_the_last_question_is_taken_for_what_is_said_after_a_press() -> None:
    for before in ((), TO_THINKING, TO_SOUND):
        turn, _ = play(*before)
        _, effects = play(Pressed(3.8, turn.generation), turn=turn)
        assert effects[-1] == Listen(turn.generation + 1, 3.8, 3.8 + PATIENCE, PREROLL, held=True)


def test_of_long_speech_before_a_press_only_the_end_is_what_was_said() -> None:
    _, effects = play(SpeechStarted(1.0), Pressed(9.0, 0))
    assert effects[-1] == Listen(1, 9.0 - HEARD_BEFORE, 9.0 + PATIENCE, LEAD, held=True)


def test_speech_does_not_pause_a_reply_any_more_after_too_many_false_alarms() -> None:
    turn, effects = play(*TO_SOUND)
    for _ in range(FALSE_ALARMS):
        turn, effects = play(
            SpeechStarted(3.0), SpeechSustained(3.0, 3.3), *spoken(), overheard(Meaning.NOTHING), turn=turn
        )
    turn, effects = play(SpeechStarted(5.0), SpeechSustained(5.0, 5.3), turn=turn)
    assert (turn.phase, effects) == (Phase.SPEAKING, [])


def replies_not_paused(turn: Turn) -> tuple[Turn, int]:
    """In how many replies speech does not count; and the state in the first one in which it does."""
    count = -1
    pausable = False
    while not pausable:
        turn, _ = play(over(turn.generation), turn=turn)
        g = turn.generation + 1
        turn, effects = play(
            Pressed(9.0, turn.generation),
            ended(g, at=9.1),
            Heard(g, "what time is it", 9.6),
            Answered(g, "time", "It is noon.", 9.7),
            turn=turn,
        )
        assert isinstance(effects[-1], Speak)
        pausable = effects[-1].pausable
        count += 1
    return turn, count


def test_an_appliance_that_hears_itself_pauses_for_speech_less_and_less_often() -> None:
    turn, _ = play(*TO_SPEAKING)
    counts = []
    for _ in range(MOST_ECHOES + 1):
        echo = overheard(Meaning.ECHO, generation=turn.generation)
        turn, _ = play(SpeechStarted(3.0), SpeechSustained(3.0, 3.3), SpeechEnded(3.4), echo, turn=turn)
        assert turn.phase is Phase.SPEAKING
        after, effects = play(SpeechStarted(3.6), SpeechSustained(3.6, 3.9), turn=turn)
        assert (after.phase, effects, after.overhearing) == (Phase.SPEAKING, [], True), "it is still taken down"
        turn, count = replies_not_paused(turn)
        counts.append(count)
    assert counts == [1, 3, 7, 15, 31, 31]
    turn, _ = play(SpeechStarted(3.0), overheard(Meaning.STOP, generation=turn.generation), turn=turn)
    assert turn.echoes == 0


@pytest.mark.parametrize(
    "late",
    [
        Heard(1, "ghost", 4.0),
        Overheard(1, "ghost", Meaning.WORDS, 4.0),
        Answered(1, "time", "ghost", 4.0),
        Failed(1, "ghost", "sorry", 4.0),
        ended(),
    ],
)
@pytest.mark.parametrize("now", [Phase.IDLE, Phase.LISTENING])
def test_what_comes_late_changes_nothing(late: Event, now: Phase) -> None:
    turn, _ = play(*TO_SPEAKING, Pressed(3.5, 1)) if now is Phase.LISTENING else play(*TO_SPEAKING, over())
    assert turn.phase is now
    assert step(turn, late) == (turn, ())


def follow_up(*events: Event) -> tuple[Turn, list[Effect]]:
    """After a reply that came as it was worded, in a conversation with 5 s to go on."""
    worded = (*TO_THINKING, Heard(1, "who was Ada", 2.6), Answered(1, "model", None, 2.7), ReplyStarted(1, 2.9), over())
    return play(*worded, *events, turn=Turn(PATIENCE, follow_up=5.0))


def test_after_a_reply_that_came_as_it_was_worded_the_next_question_needs_no_wake_word() -> None:
    turn, effects = follow_up()
    assert (turn.phase, turn.generation) == (Phase.LISTENING, 2)
    assert effects == [*ends(), Drop(1), Begin(2), Listen(2, 4.0, 9.0, PREROLL)]
    turn, effects = follow_up(SpeechStarted(5.0), ended(2, at=6.0))
    assert turn.phase is Phase.THINKING
    assert effects[0] == Report("wake", 5.0, 2, {"by": "follow-up", "word": None})
    turn, _ = play(*TO_SOUND, over(), turn=Turn(PATIENCE, follow_up=5.0))
    assert turn.phase is Phase.IDLE, "a skill's answer is complete"


def test_who_does_not_go_on_is_not_told_so() -> None:
    turn, effects = follow_up(ended(2, ListeningEnd.NOTHING))
    assert (turn.phase, effects) == (Phase.IDLE, [Drop(2)])


@pytest.mark.parametrize("trigger", [WakeHeard("alexa", 0.9, 6.0, 2), Pressed(6.0, 2)])
def test_who_asks_in_the_ordinary_way_need_not_know_that_it_was_not_necessary(trigger: Event) -> None:
    turn, effects = follow_up(trigger)
    assert (turn.phase, turn.generation, kinds(effects)) == (
        Phase.LISTENING,
        3,
        ["Drop", "Begin", "wake", "Listen"],
    )


def test_the_button_ends_what_was_begun_without_it() -> None:
    turn, effects = follow_up(SpeechStarted(5.0), Pressed(6.0, 2))
    assert (turn.generation, effects) == (2, [FinishListening(2)])


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
    turn, effects = play(WAKE, Pressed(2.0, 1))
    assert (turn.phase, effects) == (Phase.LISTENING, [FinishListening(1)])
    turn, _ = play(ended(why=ListeningEnd.ASKED), Heard(1, "", 2.6), turn=turn)
    assert turn.phase is Phase.IDLE


def test_a_second_wake_word_while_listening_is_part_of_the_utterance() -> None:
    turn, _ = play(WAKE)
    assert step(turn, WakeHeard("alexa", 0.9, 1.5, 1)) == (turn, ())


def test_an_answer_without_words_ends_the_turn() -> None:
    turn, effects = play(*TO_THINKING, Heard(1, "stop", 2.6), Answered(1, "stop", "", 2.7))
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["intent", "reply_text", "Drop"])


def test_an_answer_that_comes_as_it_invites_is_spoken_at_once_and_its_words_are_reported_when_they_are_known() -> None:
    turn, effects = play(*TO_THINKING, Heard(1, "who was Ada", 2.6), Answered(1, "model", None, 2.7))
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["intent", "Speak"])
    assert effects[-1] == Speak(1, None, pausable=True)
    report = Report("reply_text", 3.5, 1, {"text": "A mathematician."})
    for before in ((), (SpeechStarted(3.0), SpeechSustained(3.0, 3.3)), (over(),), (Pressed(3.2, 1),)):
        state, _ = play(*before, turn=turn)
        assert step(state, Worded(1, "A mathematician.", 3.5)) == (state, (report,))


def test_a_broken_stage_is_apologised_for_and_a_broken_voice_is_given_up() -> None:
    turn, effects = play(*TO_THINKING, Failed(1, "disk on fire", "Sorry.", 2.6))
    assert (turn.phase, kinds(effects)) == (Phase.SPEAKING, ["notice", "reply_text", "Speak"])
    turn, effects = play(Failed(1, "no voice", "Sorry.", 2.8), turn=turn)
    assert (turn.phase, kinds(effects)) == (Phase.IDLE, ["Hush", "notice", "Drop"])


NEWS = Announced("Sound is back.", 5.0)


def test_an_announcement_is_spoken_when_nothing_else_goes_on() -> None:
    turn, effects = play(NEWS)
    assert (turn.phase, turn.generation) == (Phase.SPEAKING, 1)
    assert effects == [
        Begin(1),
        Report("reply_text", 5.0, 1, {"text": NEWS.text}),
        Speak(1, NEWS.text, pausable=True),
    ]
    turn, _ = play(ReplyStarted(1, 5.1), over(at=6.0), turn=turn)
    assert turn.phase is Phase.IDLE


@pytest.mark.parametrize("before", [(WAKE,), TO_THINKING, TO_SPEAKING])
def test_an_announcement_waits_for_the_end_of_the_turn(before: tuple[Event, ...]) -> None:
    turn, _ = play(*before)
    turn, effects = play(NEWS, replace(NEWS, at=5.5), turn=turn)
    assert (turn.announced, effects) == ((NEWS,), []), "once"
    turn, effects = play(Failed(1, "broken", "Sorry.", 6.0), turn=turn)
    if turn.generation == 1:
        turn, effects = play(over(at=7.0), turn=turn)
    assert (turn.phase, turn.generation, turn.announced) == (Phase.SPEAKING, 2, ())
    assert effects[-1] == Speak(2, NEWS.text, pausable=True)


def test_announcements_come_one_after_the_other_and_no_more_than_a_few() -> None:
    turn, _ = play(WAKE, *(Announced(str(number), 1.5) for number in range(9)))
    said = []
    turn, effects = play(ended(why=ListeningEnd.NOTHING), turn=turn)
    while turn.phase is Phase.SPEAKING:
        said += [effect.text for effect in effects if isinstance(effect, Speak)]
        turn, effects = play(over(turn.generation), turn=turn)
    assert said == [str(number) for number in range(MOST_ANNOUNCED)]


def test_who_pressed_just_before_an_announcement_began_is_heard() -> None:
    turn, _ = play(NEWS)
    turn, effects = play(Pressed(5.0, 0), turn=turn)
    assert (turn.phase, turn.generation) == (Phase.LISTENING, 2)
    assert effects[0] == Hush(1)
    assert step(turn, Pressed(5.0, 0)) == (turn, ())


def test_an_announcement_invites_nobody_to_go_on() -> None:
    turn, _ = follow_up(NEWS, ended(2, ListeningEnd.NOTHING))
    assert turn.phase is Phase.SPEAKING
    turn, _ = play(over(3), turn=turn)
    assert turn.phase is Phase.IDLE


def test_speech_is_sensed_in_every_phase() -> None:
    for before in ((), TO_THINKING, TO_SPEAKING):
        turn, _ = play(*before)
        after, effects = step(turn, SpeechStarted(5.0))
        assert (after.phase, kinds(effects)[0]) == (turn.phase, "speech_start")
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
    assert kinds(step(turn, SpeechStarted(9.0))[1])[0] == "speech_start"


def test_what_cannot_be_raises() -> None:
    turn, _ = play(WAKE)
    with pytest.raises(IllegalEventError, match="Answered while listening"):
        step(turn, Answered(1, "time", "too early", 1.1))


def test_the_conditions_of_a_row_leave_nothing_open() -> None:
    sensed = {SpeechStarted, SpeechSustained}  # which need no row
    for key in {(row.phase, row.event) for row in TABLE if row.event not in sensed}:
        rows = [row for row in TABLE if (row.phase, row.event) == key]
        assert [row.when is None for row in rows] == [False] * (len(rows) - 1) + [True], key


generations = st.integers(0, 3)
times = st.floats(0, 100)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(WakeHeard, st.just("alexa"), st.just(0.9), times, generations),
    st.builds(Pressed, times, generations),
    st.builds(Released, times),
    st.builds(SpeechSustained, times, times),
    st.builds(Overheard, generations, st.sampled_from(["", "and tomorrow"]), st.sampled_from(Meaning), times),
    st.builds(SpeechStarted, times),
    st.builds(SpeechEnded, times),
    st.builds(ListeningEnded, generations, times, times, st.sampled_from(ListeningEnd)),
    st.builds(Heard, generations, st.sampled_from(["", "what time is it"]), times),
    st.builds(Answered, generations, st.just("time"), st.sampled_from(["", "noon"]), times),
    st.builds(Worded, generations, st.just("noon"), times),
    st.builds(ReplyStarted, generations, times),
    st.builds(ReplyEnded, generations, times, times, st.booleans(), st.just(9), st.just(())),
    st.builds(Failed, generations, st.just("broken"), st.just("sorry"), times),
    st.builds(Announced, st.sampled_from("ab"), times),
)


@given(st.lists(events, max_size=40), st.builds(Gates, st.booleans(), st.booleans(), st.booleans(), st.booleans()))
def test_whatever_comes_in_whatever_order(history: list[Event], gates: Gates) -> None:
    turn = Turn(PATIENCE, gates)
    for event in history:
        try:
            after, effects = step(turn, event)
        except IllegalEventError:
            continue
        assert after.generation - turn.generation in (0, 1)
        starts = [e for e in effects if isinstance(e, Listen | Think | Speak | Overhear)]
        assert all(e.generation == after.generation for e in starts), "nothing is asked for in an old generation"
        begun = [e.generation for e in effects if isinstance(e, Begin)]
        assert begun == ([after.generation] if after.generation > turn.generation else [])
        hushed = [i for i, e in enumerate(effects) if isinstance(e, Hush)]
        assert hushed in ([], [0]), "silence first"
        if begun and not (isinstance(event, ReplyEnded) or after.unasked):
            assert hushed == ([0] if turn.phase is not Phase.IDLE else [])
        for kept in (Remember, Report):
            is_end = [e for e in effects if isinstance(e, kept) and getattr(e, "kind", "reply_end") == "reply_end"]
            assert len(is_end) == isinstance(event, ReplyEnded)
        turn = after
