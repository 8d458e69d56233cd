"""What several actions of the conversation have in common: how a turn begins, and what ends with a reply."""

from dataclasses import replace

from appliance.core.effects import Begin, Drop, Effect, Listen, Overhear, Remember, Report, Think
from appliance.core.events import Heard, Overheard, Pressed, ReplyEnded, WakeHeard
from appliance.core.state import Phase, Turn

Step = tuple[Turn, tuple[Effect, ...]]

FALSE_ALARMS = 3
"""How often a reply may be paused for nothing before speech does not pause it any more."""

PREROLL = 0.1
"""Seconds before a press, or the end of a reply, that hold the beginning of what is said, and hardly anything else."""

LEAD = 0.3
"""Seconds of sound before speech was noticed that hold its beginning."""


def ending(event: ReplyEnded) -> tuple[Effect, ...]:
    """What there is to say of a reply that is over, whenever that becomes known."""
    data = {"seconds": event.seconds, "cut": event.cut}
    return (
        Report("silent", event.at, event.generation),
        Report("reply_end", event.at, event.generation, data),
        Remember(event.generation, event.played, event.clauses, event.cut),
    )


def may_be_paused(turn: Turn) -> bool:
    """Speech is allowed to interrupt, nobody waits for the end, and it was not an echo or a false alarm too often."""
    may_interrupt = turn.gates.speech and turn.addressed is None
    return may_interrupt and not turn.deaf and turn.false_alarms < FALSE_ALARMS


def next_turn(turn: Turn) -> Step:
    """A new turn, for which nothing of the old one's reply counts any more."""
    generation = turn.generation + 1
    state = replace(nothing_overheard(turn), generation=generation, attending=False, nothing_left=False)
    state = replace(state, addressed=None, waiting=None, follows_up=False, follows_speech=False, unasked=False)
    state = replace(state, held_down=None)
    return state, (Begin(generation),)


def invite(turn: Turn, at: float) -> Step:
    """A turn for whoever goes on with this one."""
    state, effects = next_turn(turn)
    until = at + turn.follow_up
    return replace(state, patience_until=until, follows_up=True, attending=True), (
        Drop(turn.generation),
        *effects,
        Listen(state.generation, at, until, PREROLL),
    )


def ask_waiting(turn: Turn) -> Step:
    """The next turn, which begins with what waits."""
    assert turn.waiting is not None  # noqa: S101  the row's condition
    return ask(turn, turn.waiting, turn.asked_at)


def listen_to_addressed(turn: Turn, at: float) -> Step:
    """The next turn, for whoever addressed the appliance during this one."""
    assert turn.addressed is not None  # noqa: S101  the row's condition
    state, effects = next_turn(turn)
    until = at + turn.patience
    since = turn.addressed.at if turn.attending or turn.remarks or turn.voice else at
    return replace(state, patience_until=until, attending=True), (
        Drop(turn.generation),
        *effects,
        wake_report(turn.addressed, state.generation),
        Listen(state.generation, since, until),
    )


def ask(turn: Turn, question: Heard | Overheard, began: float) -> Step:
    """The next turn, which begins with what was said during this one. What was said since is heard again for it."""
    state, effects = next_turn(turn)
    if turn.addressed is None:
        state = replace(state, follows_speech=True)
        woken = Report("wake", began, state.generation, {"by": "speech", "word": None})
    else:
        woken = wake_report(turn.addressed, state.generation)
    speech: tuple[Effect, ...] = ()
    if turn.remarks:
        state, speech = overhear_from(state, remark_began(turn), question.at)
        state = replace(state, held_at=max(turn.held_at, remark_began(turn)))
    return state, (
        Drop(turn.generation),
        *effects,
        woken,
        heard_report(question, state.generation),
        Think(state.generation, question.text),
        *speech,
    )


def overhear_from(turn: Turn, since: float, now: float) -> Step:
    """What has been said since `since` is taken down."""
    state = replace(turn, overhearing=True, remarks=(*turn.remarks, since))
    if turn.phase is Phase.THINKING:
        state = replace(state, held_at=since)
    return state, (Overhear(turn.generation, since, now + turn.patience),)


def remark_began(turn: Turn) -> float:
    """When that began of which it becomes known next what it means."""
    return turn.remarks[0] if turn.remarks else turn.voice_since


def nothing_overheard(turn: Turn) -> Turn:
    """What was being taken down is wanted no more."""
    return replace(turn, remarks=(), overhearing=False)


def wake_report(event: WakeHeard | Pressed, generation: int) -> Report:
    """The line of the timeline for the trigger of a turn."""
    if isinstance(event, Pressed):
        return Report("wake", event.at, generation, {"by": "button", "word": None})
    return Report("wake", event.at, generation, {"by": "word", "word": event.word, "score": event.score})


def heard_report(event: Heard | Overheard, generation: int) -> Report:
    """The line of the timeline for what was said to the appliance."""
    sure = {} if event.confidence is None else {"confidence": event.confidence}
    return Report("heard", event.at, generation, {"text": event.text, **sure})


def unanswered(turn: Turn) -> tuple[Effect, ...]:
    """What was said to the appliance during the reply, and is the next question no more: it was heard all the same."""
    said = turn.waiting
    return (heard_report(said, turn.generation),) if said else ()
