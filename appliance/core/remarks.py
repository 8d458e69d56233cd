"""What happens on the way from one phase to the next because somebody speaks while the appliance thinks or speaks.

As in `actions`, silence comes first.
"""

from dataclasses import replace

from appliance.core.effects import Drop, Effect, Hush, Listen, Pause, Report, Resume
from appliance.core.events import (
    ListeningEnded,
    Overheard,
    Pressed,
    ReplyEnded,
    SpeechStarted,
    SpeechSustained,
    WakeHeard,
)
from appliance.core.interruption import Meaning
from appliance.core.moves import (
    PREROLL,
    Step,
    ask,
    ask_waiting,
    ending,
    heard_report,
    invite,
    listen_to_addressed,
    may_be_paused,
    nothing_overheard,
    overhear_from,
    remark_began,
    unanswered,
)
from appliance.core.state import Turn

MOST_ECHOES = 5
"""After the n-th echo in a row speech is taken for one in 2**n replies; from this many on it stays at that."""

OUTLASTS = 0.25
"""Seconds for which speech goes on after the reply has paused, and its own echo does not, in any room."""

UNHEARD = 1.5
"""Seconds for which a reply has sounded before anything was heard, so that it can't be its own echo that was."""

_GOES_ON = {
    Meaning.NOTHING: "no words were heard: the reply goes on",
    Meaning.WORDS: "that was too short to be sure: the reply goes on",
    Meaning.BACK_CHANNEL: "that was only a sign of listening: the reply goes on",
    Meaning.ECHO: "the microphone hears the speaker: the reply goes on, and speech does not pause it for a while",
}


def ask_instead(turn: Turn, event: Overheard) -> Step:
    """It was meant, before there was an answer to what was asked: that is looked for no more."""
    state, effects = ask(_somebody_spoke(turn), event, remark_began(turn))
    return state, (
        *_interrupted(turn, "speech"),
        *effects,
    )


def note_remark(turn: Turn, event: Overheard) -> Step:
    """What was said changes nothing."""
    return _judged(turn), _overheard(turn.generation, event)


def overhear(turn: Turn, event: SpeechStarted) -> Step:
    """Somebody speaks while the appliance thinks or speaks: it is taken down, whatever it may change."""
    return overhear_from(turn, event.at, event.at)


def hold(turn: Turn, event: SpeechSustained) -> Step:
    """The reply waits."""
    state, speech = turn, tuple[Effect, ...]()
    if not turn.overhearing:
        state, speech = overhear_from(turn, event.since, event.since)
    return replace(state, held_at=event.at, last_voice=event.at), (Pause(turn.generation), *speech)


def take_remark(turn: Turn, event: ListeningEnded) -> Step:
    """Speech-to-text has all of what was said; who has begun to speak again meanwhile is listened to as well."""
    if not turn.overhearing:
        return turn, ()
    state = replace(turn, overhearing=False, last_voice=event.at)
    return overhear_from(state, event.decided, event.decided) if turn.voice_since > event.at else (state, ())


def note_address(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something, which is the next turn, at the latest when the reply is over."""
    return replace(turn, addressed=event), ()


def play_on(turn: Turn, event: Overheard) -> Step:
    """What was said may not interrupt, or was too short for it."""
    state = _judged(turn)
    if event.meaning is Meaning.ECHO:
        state = _deafened(state)
    return state, (Resume(turn.generation, pausable=may_be_paused(state)), *_overheard(turn.generation, event))


def go_on(turn: Turn, event: Overheard) -> Step:
    """It was a false alarm."""
    state = replace(_false_alarm(turn, event), sounding_since=event.at)
    meaning = event.meaning
    if meaning in (Meaning.NOTHING, Meaning.WORDS) and may_be_echo(turn):
        meaning = Meaning.ECHO
    if meaning is Meaning.ECHO:
        state = _deafened(state)
    listen: tuple[Effect, ...] = ()
    if turn.addressed is not None:
        state = replace(state, attending=True, overhearing=False)
        since = turn.addressed.at if state.remarks else event.at
        listen = (Listen(turn.generation, since, event.at + turn.patience, PREROLL),)
    return state, (
        Resume(turn.generation, pausable=may_be_paused(state)),
        *_overheard(turn.generation, event),
        Report("notice", event.at, turn.generation, {"text": _GOES_ON[meaning]}),
        *listen,
    )


def wait_on(turn: Turn, event: Overheard) -> Step:
    """It was nothing, but more was said since, or is being said."""
    state = _false_alarm(turn, event)
    return replace(state, held_at=max(turn.held_at, remark_began(state))), _overheard(turn.generation, event)


def stop(turn: Turn, event: Overheard) -> Step:
    """The user wants silence, and nothing else."""
    return nothing_overheard(_somebody_spoke(turn)), (
        *_interrupted(turn, "stop"),
        *unanswered(turn),
        *_overheard(turn.generation, event),
        Drop(turn.generation),
    )


def stop_and_listen(turn: Turn, event: Overheard) -> Step:
    """The user wants silence; but somebody has addressed the appliance meanwhile."""
    state, effects = listen_to_addressed(_somebody_spoke(turn), event.at)
    return state, (
        *_interrupted(turn, "stop"),
        *_overheard(turn.generation, event),
        *effects,
    )


def commit(turn: Turn, event: Overheard) -> Step:
    """It was meant: the reply is over, and as soon as that is certain, what was said is the next question."""
    return replace(_somebody_spoke(turn), waiting=event, asked_at=remark_began(turn)), (*_interrupted(turn, "speech"),)


def answer_waiting(turn: Turn, event: ReplyEnded) -> Step:
    """The reply is over, and what was said during it is the next question."""
    state, effects = ask_waiting(turn)
    return replace(state, held_at=max(state.held_at, event.at)), (*ending(event), *effects)


def end_while_held(turn: Turn, event: ReplyEnded) -> Step:
    """Its last sample had sounded when it was paused; what is being said may still be the next question."""
    return replace(turn, nothing_left=True), ending(event)


def answer(turn: Turn, event: Overheard) -> Step:
    """It was meant, and is the next question."""
    return ask(_somebody_spoke(turn), event, remark_began(turn))


def let_be(turn: Turn, event: Overheard) -> Step:
    """It was not meant, and there is nothing left to say."""
    return replace(nothing_overheard(turn), nothing_left=False), (
        *_overheard(turn.generation, event),
        Drop(turn.generation),
    )


def listen_on_for_more(turn: Turn, event: Overheard) -> Step:
    """It was not meant, and there is nothing left to say; whoever wants to go on need not say the wake word."""
    state, effects = invite(turn, event.at)
    return state, (*_overheard(turn.generation, event), *effects)


def listen_to_waiting(turn: Turn, event: ReplyEnded) -> Step:
    """The reply is over, and whoever addressed the appliance during it has not said yet what for."""
    state, effects = listen_to_addressed(turn, event.at)
    return state, (*ending(event), *effects)


def may_be_echo(turn: Turn) -> bool:
    """Whether what paused the reply may have been the reply itself: both began and ended together."""
    return not has_outlasted(turn) and turn.voice_since - turn.sounding_since < UNHEARD


def has_lasted(turn: Turn) -> bool:
    """Whether the speech of which it becomes known what it means was long enough to be meant."""
    return turn.last_voice - remark_began(turn) >= OUTLASTS


def has_outlasted(turn: Turn) -> bool:
    """Whether the speech that paused the reply went on after that."""
    return turn.last_voice - turn.held_at >= OUTLASTS


def _interrupted(turn: Turn, by: str) -> tuple[Effect, ...]:
    """What was said during the reply, and is known now, has cut it."""
    return Hush(turn.generation), Report("interrupted", remark_began(turn), turn.generation, {"by": by})


def _judged(turn: Turn) -> Turn:
    """It is known what something meant that was taken down."""
    remarks = turn.remarks[1:]
    return replace(turn, remarks=remarks, overhearing=turn.overhearing and bool(remarks))


def _somebody_spoke(turn: Turn) -> Turn:
    """It is known that it was no echo."""
    return replace(_judged(turn), echoes=0, deaf=0)


def _false_alarm(turn: Turn, event: Overheard) -> Turn:
    """It paused the reply, and was not meant. Who shows to be listening may do so as often as they like."""
    return replace(_judged(turn), false_alarms=turn.false_alarms + (event.meaning is not Meaning.BACK_CHANNEL))


def _deafened(turn: Turn) -> Turn:
    if turn.deaf:
        return turn
    echoes = min(turn.echoes + 1, MOST_ECHOES)
    return replace(turn, echoes=echoes, deaf=2**echoes)


def _overheard(generation: int, event: Overheard) -> tuple[Effect, ...]:
    report = heard_report(event, generation)
    return (replace(report, data={**report.data, "meaning": event.meaning.value}),) if event.text else ()
