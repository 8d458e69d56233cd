"""The conversation as one table: idle, listening, thinking, speaking, paused. docs/conversation.md is drawn from it.

Rules of the table:
- `step` looks for the first row of the phase, the event's type and its condition; the row says where the turn goes on.
- A wake word or the button in any phase but listening begins a new generation; what was going on is hushed first, as a
  rule by the edge itself, before its event is here. One that saw an older turn than the present one came in the same
  instant as the trigger that began this one, and is the same interruption.
- Speech during a reply, or while one is looked for, is always taken down. It pauses the reply once it has lasted; then
  what it means decides.
- The button that begins a turn may be held while the user speaks: letting go of it is the end. Where it may not
  interrupt, and where no turn begins with it, nobody asks when it comes up.
- A trigger that may not interrupt the reply gets its turn when the reply is over.
- Events of an older generation, or of the newest one once the turn is idle again, change nothing: they come late. Only
  the words and the end of a reply are still reported, and remembered: they happened.
- What is to be announced waits until the turn is idle. One text is announced once, however often that is asked for
  meanwhile, and no more than MOST_ANNOUNCED wait.
- An event of the turn under way that the table has no row for raises `IllegalEventError` and changes nothing.
- What the microphone senses (speech that starts, lasts or ends) is reported in every phase, and needs no row.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from appliance.core import actions, moves, remarks
from appliance.core.effects import Effect, Report
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
from appliance.core.gestures import HOLD
from appliance.core.interruption import Meaning
from appliance.core.moves import Step
from appliance.core.state import Phase, Turn

__all__ = ["TABLE", "IllegalEventError", "Phase", "Row", "Turn", "step"]


class IllegalEventError(Exception):
    """An event of the turn under way that cannot happen in this phase: a defect of an edge."""


_E = TypeVar("_E", bound=Event)

ONE_INSTANT = 0.3
"""Seconds within which a press after another trigger belongs to it."""


MOST_ANNOUNCED = 5
"""Texts that wait to be announced; after a long conversation nobody wants to hear more news at once."""


@dataclass(frozen=True, slots=True)
class Row:
    """In `phase`, on `event`, if `when` holds (its name says what), the turn goes to `to` by way of `action`."""

    phase: Phase
    event: type[object]
    to: Phase
    action: Callable[[Turn, Event], Step]
    when: Callable[[Turn, Event], bool] | None


def _row(
    phase: Phase,
    event: type[_E],
    to: Phase,
    action: Callable[[Turn, _E], Step],
    when: Callable[[Turn, _E], bool] | None = None,
) -> Row:
    return Row(
        phase,
        event,
        to,
        cast("Callable[[Turn, Event], Step]", action),
        cast("Callable[[Turn, Event], bool] | None", when),
    )


def nobody_spoke(_: Turn, event: ListeningEnded) -> bool:
    """The patience ended before any speech."""
    return event.why is ListeningEnd.NOTHING


def has_words(_: Turn, event: Heard) -> bool:
    """Something was said."""
    return event.text != ""


def may_still_come(turn: Turn, event: Heard) -> bool:
    """It was the wake word alone, or a cough, and there is patience left for the command."""
    return event.at < turn.patience_until


def somebody_has_spoken(turn: Turn, event: Answered) -> bool:
    """There is something to say, but so had the user since, what is not known yet; and speech may interrupt."""
    return event.text != "" and speaks_meanwhile(turn, event)


def speaks_meanwhile(turn: Turn, _: Answered | Failed) -> bool:
    """The user has spoken since, what is not known yet; and speech may interrupt."""
    has_spoken = turn.remarks or (turn.attending and actions.has_begun_to_speak(turn))
    return bool(has_spoken) and turn.gates.speech


def is_overheard(turn: Turn, _: Event) -> bool:
    """Something was said, and it is not known yet what it means."""
    return bool(turn.remarks)


def agrees_meanwhile(turn: Turn, event: Answered) -> bool:
    """There is nothing to say, but something was said that is not known yet."""
    return event.text == "" and bool(turn.remarks)


def has_begun_to_speak(turn: Turn, _: Heard) -> bool:
    """Somebody has begun to speak since."""
    return actions.has_begun_to_speak(turn)


def has_reply(_: Turn, event: Answered) -> bool:
    """There is something to say."""
    return event.text != ""


def may_interrupt(turn: Turn, event: WakeHeard | Pressed) -> bool:
    """This trigger is allowed to interrupt a reply."""
    return turn.gates.wake_word if isinstance(event, WakeHeard) else turn.gates.button


def is_attended(turn: Turn, event: Pressed) -> bool:
    """The appliance was addressed some time before, and what is said to it is being taken down."""
    return turn.attending and turn.addressed is not None and event.at - turn.addressed.at > ONE_INSTANT


def is_attending(turn: Turn, _: WakeHeard | Pressed) -> bool:
    """What is said to the appliance is being taken down already."""
    return turn.attending


def is_order(turn: Turn, event: Overheard) -> bool:
    """Speech may interrupt, though it does not pause this reply, and this is an order, and was no click."""
    may = turn.gates.speech and turn.addressed is None and not moves.may_be_paused(turn)
    return may and event.meaning is Meaning.ORDER and remarks.has_lasted(turn)


def is_listened_for(turn: Turn, _: SpeechStarted) -> bool:
    """It is not being taken down already."""
    return not turn.overhearing and not turn.attending


def may_pause(turn: Turn, _: SpeechSustained) -> bool:
    """Speech may pause this reply."""
    return moves.may_be_paused(turn)


def means_stop(turn: Turn, event: Overheard) -> bool:
    """Somebody said stop, and that may interrupt."""
    return event.meaning is Meaning.STOP and turn.gates.stop_word


def stops_for_somebody(turn: Turn, event: Overheard) -> bool:
    """Somebody said stop, and that may interrupt; but the appliance was addressed during the reply."""
    return means_stop(turn, event) and only_somebody_waits(turn, event)


def is_meant(turn: Turn, event: Overheard) -> bool:
    """Speech may interrupt, and it is an order, or it went on for long enough, while nothing sounded, to be meant."""
    if not turn.gates.speech:
        return False
    if event.meaning in (Meaning.ORDER, Meaning.STOP):
        return True
    return event.meaning is Meaning.WORDS and remarks.has_outlasted(turn)


def is_new_question(turn: Turn, event: Overheard) -> bool:
    """It is meant, and the reply is over anyway; to what a model asks "yes" is an answer."""
    answers = invites_more(turn, event) and event.meaning is Meaning.BACK_CHANNEL
    is_answer = answers and turn.gates.speech and remarks.has_outlasted(turn)
    return turn.nothing_left and event.meaning is not Meaning.STOP and (is_answer or is_meant(turn, event))


def nothing_is_left(turn: Turn, _: Overheard) -> bool:
    """The reply is over."""
    return turn.nothing_left


def is_over(turn: Turn, _: WakeHeard | Pressed) -> bool:
    """There is no reply any more that could be interrupted."""
    return turn.nothing_left or turn.waiting is not None


def invites_more_then(turn: Turn, event: Overheard) -> bool:
    """The reply is over, and the next question needs no wake word for a while."""
    return turn.nothing_left and event.meaning is not Meaning.STOP and invites_more(turn, event)


def more_was_said(turn: Turn, event: Overheard) -> bool:
    """It is not meant, but there is speech that is not in it, and that was not so too often."""
    if means_stop(turn, event) or is_meant(turn, event) or len(turn.remarks) < 2:
        return False
    return turn.nothing_left or turn.false_alarms + 1 < moves.FALSE_ALARMS


def question_waits(turn: Turn, _: ReplyEnded | Failed | Overheard) -> bool:
    """The next question is known."""
    return turn.waiting is not None


def somebody_waits(turn: Turn, _: ReplyEnded | Failed) -> bool:
    """The appliance was addressed during the reply."""
    return turn.addressed is not None


def only_somebody_waits(turn: Turn, _: Failed | Overheard) -> bool:
    """The appliance was addressed during the reply, and no next question is known."""
    return turn.addressed is not None and turn.waiting is None


def invites_more(turn: Turn, _: ReplyEnded | Overheard) -> bool:
    """The reply came as it was worded, or was a question, and what comes next needs no wake word for a while."""
    return turn.invites and turn.follow_up > 0


def only_invites_more(turn: Turn, event: ReplyEnded) -> bool:
    """The next question needs no wake word for a while, and what was said before may not be one."""
    return invites_more(turn, event) and not turn.gates.speech


def is_asked_anew(turn: Turn, _: WakeHeard | Pressed) -> bool:
    """It is only listened for more."""
    return turn.follows_up


def nobody_asked(turn: Turn, _: WakeHeard | Pressed) -> bool:
    """It is only listened for more, and nobody speaks."""
    return turn.follows_up and not turn.voice


def was_spoken_into(turn: Turn, event: Released) -> bool:
    """The utterance was begun with the button, which was held while somebody spoke."""
    return turn.held_down is not None and event.at - turn.held_down >= HOLD and turn.voice


def is_held_down(turn: Turn, _: Released) -> bool:
    """The utterance was begun with the button."""
    return turn.held_down is not None


def was_cut(_: Turn, event: ReplyEnded) -> bool:
    """A trigger has silenced the reply, ahead of its own event, which follows."""
    return event.cut


_I, _L, _T, _S, _P = Phase.IDLE, Phase.LISTENING, Phase.THINKING, Phase.SPEAKING, Phase.PAUSED

TABLE: tuple[Row, ...] = (
    _row(_I, WakeHeard, _L, actions.begin),
    _row(_I, Pressed, _L, actions.begin),
    _row(_I, Announced, _S, actions.announce),
    #
    _row(_L, WakeHeard, _L, actions.begin_anew, is_asked_anew),
    _row(_L, WakeHeard, _L, actions.ignore),
    _row(_L, Pressed, _L, actions.begin_anew, nobody_asked),
    _row(_L, Pressed, _L, actions.finish_listening),
    _row(_L, Released, _L, actions.finish_listening, was_spoken_into),
    _row(_L, Released, _L, actions.let_go, is_held_down),
    _row(_L, Released, _L, actions.ignore),
    _row(_L, ListeningEnded, _I, actions.stop_listening, nobody_spoke),
    _row(_L, ListeningEnded, _T, actions.take_utterance),
    _row(_L, Failed, _S, actions.apologise),
    #
    _row(_T, WakeHeard, _L, actions.interrupt),
    _row(_T, Pressed, _L, actions.interrupt),
    _row(_T, Heard, _T, actions.think, has_words),
    _row(_T, Heard, _L, actions.listen_on, may_still_come),
    _row(_T, Heard, _L, actions.listen_anew, has_begun_to_speak),
    _row(_T, Heard, _I, actions.not_understood),
    _row(_T, SpeechStarted, _T, remarks.overhear, is_listened_for),
    _row(_T, ListeningEnded, _T, remarks.take_remark),
    _row(_T, Overheard, _I, remarks.stop, means_stop),
    _row(_T, Overheard, _T, remarks.ask_instead, is_meant),
    _row(_T, Overheard, _T, remarks.note_remark),
    _row(_T, Answered, _P, actions.speak_later, somebody_has_spoken),
    _row(_T, Answered, _S, actions.speak, has_reply),
    _row(_T, Answered, _P, actions.agree_later, agrees_meanwhile),
    _row(_T, Answered, _I, actions.agree),
    _row(_T, Failed, _P, actions.apologise_later, speaks_meanwhile),
    _row(_T, Failed, _S, actions.apologise),
    #
    _row(_S, WakeHeard, _L, actions.interrupt, may_interrupt),
    _row(_S, WakeHeard, _S, actions.ignore, is_attending),
    _row(_S, WakeHeard, _S, actions.address),
    _row(_S, Pressed, _L, actions.interrupt, may_interrupt),
    _row(_S, Pressed, _S, actions.finish_listening, is_attended),
    _row(_S, Pressed, _S, actions.ignore, is_attending),
    _row(_S, Pressed, _S, actions.address),
    _row(_S, SpeechStarted, _S, remarks.overhear, is_listened_for),
    _row(_S, SpeechSustained, _P, remarks.hold, may_pause),
    _row(_S, ListeningEnded, _S, remarks.take_remark),
    _row(_S, Heard, _S, actions.keep_question),
    _row(_S, Overheard, _L, remarks.stop_and_listen, stops_for_somebody),
    _row(_S, Overheard, _I, remarks.stop, means_stop),
    _row(_S, Overheard, _P, remarks.commit, is_order),
    _row(_S, Overheard, _S, remarks.play_on),
    _row(_S, Worded, _S, actions.note_words),
    _row(_S, ReplyStarted, _S, actions.start_reply),
    _row(_S, ReplyEnded, _S, actions.end_silenced, was_cut),
    _row(_S, ReplyEnded, _T, remarks.answer_waiting, question_waits),
    _row(_S, ReplyEnded, _L, remarks.listen_to_waiting, somebody_waits),
    _row(_S, ReplyEnded, _L, actions.listen_for_more, only_invites_more),
    _row(_S, ReplyEnded, _P, actions.end_while_overheard, is_overheard),
    _row(_S, ReplyEnded, _L, actions.listen_for_more, invites_more),
    _row(_S, ReplyEnded, _I, actions.end_reply),
    _row(_S, Failed, _T, actions.give_up_and_answer, question_waits),
    _row(_S, Failed, _L, actions.give_up_and_listen, somebody_waits),
    _row(_S, Failed, _P, actions.give_up_and_wait, is_overheard),
    _row(_S, Failed, _I, actions.give_up),
    #
    _row(_P, WakeHeard, _L, actions.begin_anew, is_over),
    _row(_P, WakeHeard, _L, actions.interrupt, may_interrupt),
    _row(_P, WakeHeard, _P, remarks.note_address),
    _row(_P, Pressed, _L, actions.begin_anew, is_over),
    _row(_P, Pressed, _L, actions.interrupt, may_interrupt),
    _row(_P, Pressed, _P, remarks.note_address),
    _row(_P, SpeechStarted, _P, remarks.overhear, is_listened_for),
    _row(_P, ListeningEnded, _P, remarks.take_remark),
    _row(_P, Overheard, _P, remarks.note_remark, question_waits),
    _row(_P, Overheard, _T, remarks.answer, is_new_question),
    _row(_P, Overheard, _P, remarks.wait_on, more_was_said),
    _row(_P, Overheard, _L, remarks.listen_on_for_more, invites_more_then),
    _row(_P, Overheard, _I, remarks.let_be, nothing_is_left),
    _row(_P, Overheard, _L, remarks.stop_and_listen, stops_for_somebody),
    _row(_P, Overheard, _I, remarks.stop, means_stop),
    _row(_P, Overheard, _P, remarks.commit, is_meant),
    _row(_P, Overheard, _S, remarks.go_on),
    _row(_P, Worded, _P, actions.note_words),
    _row(_P, ReplyStarted, _P, actions.start_reply),
    _row(_P, ReplyEnded, _T, remarks.answer_waiting, question_waits),
    _row(_P, ReplyEnded, _P, actions.end_silenced, was_cut),
    _row(_P, ReplyEnded, _L, remarks.listen_to_waiting, somebody_waits),
    _row(_P, ReplyEnded, _P, remarks.end_while_held),
    _row(_P, Failed, _L, actions.give_up_and_listen, only_somebody_waits),
    _row(_P, Failed, _P, actions.give_up_and_wait),
)


def step(turn: Turn, event: Event) -> Step:
    """The next state and what is to be done. Raises IllegalEventError, and then nothing has changed."""
    state, effects = _step(turn, event)
    if state.phase is Phase.IDLE and state.announced:
        first, *rest = state.announced
        found = _find(state, first)
        assert found is not None  # noqa: S101  it is in the table
        state, more = _take(found, replace(state, announced=tuple(rest)), first)
        effects = (*effects, *more)
    return state, effects


def _wait(turn: Turn, event: Announced) -> Turn:
    if any(event.text == each.text for each in turn.announced) or len(turn.announced) >= MOST_ANNOUNCED:
        return turn
    return replace(turn, announced=(*turn.announced, event))


def _step(turn: Turn, event: Event) -> Step:
    match event:
        case Announced():
            return _wait(turn, event), ()
        case SpeechStarted() | SpeechSustained() | SpeechEnded():
            state, reports = _sense(turn, event)
            found = _find(state, event)
            if found is None:
                return state, reports
            state, effects = _take(found, state, event)
            return state, (*reports, *effects)
        case WakeHeard() | Pressed():
            if is_stale(turn, event):
                return turn, ()
        case Released():
            if _find(turn, event) is None:
                return turn, ()
        case _:
            if event.generation != turn.generation or turn.phase is Phase.IDLE:
                return turn, _late(event)
    found = _find(turn, event)
    if found is None:
        raise IllegalEventError(f"{type(event).__name__} while {turn.phase.value}, in turn {turn.generation}")
    return _take(found, turn, event)


def is_stale(turn: Turn, event: WakeHeard | Pressed) -> bool:
    """Whether the trigger came in an older turn: in the same instant as the one that began this turn.

    What was said is no trigger, nor is an announcement: who pressed after that, but before the loop had made a turn of
    it, wants another one.
    """
    untriggered = (turn.follows_speech and turn.phase is Phase.THINKING) or turn.unasked
    seen = turn.generation - untriggered
    return not seen <= event.turn <= turn.generation


def _late(event: Event) -> tuple[Effect, ...]:
    match event:
        case ReplyEnded():
            return moves.ending(event)
        case Worded():
            return actions.wording(event)
        case _:
            return ()


def _find(turn: Turn, event: Event) -> Row | None:
    fitting = (row for row in TABLE if row.phase is turn.phase and row.event is type(event))
    return next((row for row in fitting if row.when is None or row.when(turn, event)), None)


def _take(row: Row, turn: Turn, event: Event) -> Step:
    state, effects = row.action(turn, event)
    return replace(state, phase=row.to), effects


def _sense(turn: Turn, event: SpeechStarted | SpeechSustained | SpeechEnded) -> tuple[Turn, tuple[Effect, ...]]:
    """One start and one end per stretch of speech; an utterance ends when the endpoint says so, not at each pause."""
    started = isinstance(event, SpeechStarted)
    listening = turn.phase is Phase.LISTENING
    if isinstance(event, SpeechSustained) or started == turn.voice or (not started and listening):
        return turn, ()
    since = event.at if started else turn.voice_since
    report = Report("speech_start" if started else "speech_end", event.at, turn.generation)
    return replace(turn, voice=started, voice_since=since), (report,)
