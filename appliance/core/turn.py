"""The conversation as one table: idle, listening, thinking, speaking.

Rules of the table:
- `step` looks for the first row of the phase, the event's type and its condition; the row says where the turn goes on.
- A wake word or the button in any phase but listening begins a new generation; what was going on is hushed first, as a
  rule by the edge itself, before its event is here.
- Events of an older generation, or of the newest one once the turn is idle again, change nothing: they come late. Only
  the end of a reply is still reported: it happened.
- An event of the turn under way that the table has no row for raises `IllegalEventError` and changes nothing.
- What the microphone senses (speech that starts or ends) is reported in every phase and moves none.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar, cast

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


class Phase(Enum):
    """Where the conversation stands."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"


class IllegalEventError(Exception):
    """An event of the turn under way that cannot happen in this phase: a defect of an edge."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The whole state of the conversation. `patience`: seconds that the user may take before the first word."""

    patience: float
    phase: Phase = Phase.IDLE
    generation: int = 0
    """The number of the newest response; 0 before the first."""
    patience_until: float = 0.0
    listened_until: float = 0.0
    """How far the utterance went; where listening goes on if only the wake word was said."""
    voice: bool = False
    """Whether somebody's speech has been reported as started, but not as ended."""


Step = tuple[Turn, tuple[Effect, ...]]
_E = TypeVar("_E", bound=Event)


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


def _begin(turn: Turn, event: WakeHeard | Pressed) -> Step:
    generation = turn.generation + 1
    until = event.at + turn.patience
    data = (
        {"by": "word", "word": event.word, "score": event.score}
        if isinstance(event, WakeHeard)
        else {"by": "button", "word": None}
    )
    return replace(turn, generation=generation, patience_until=until), (
        Report("wake", event.at, generation, data),
        Listen(generation, event.at, until),
    )


def _interrupt(turn: Turn, event: WakeHeard | Pressed) -> Step:
    old = turn.generation
    by = "word" if isinstance(event, WakeHeard) else "button"
    state, effects = _begin(turn, event)
    return state, (Hush(old), Report("interrupted", event.at, old, {"by": by}), Drop(old), *effects)


def _ignore(turn: Turn, _: Event) -> Step:
    return turn, ()


def _finish_listening(turn: Turn, event: Pressed) -> Step:
    return replace(turn, patience_until=event.at), (FinishListening(turn.generation),)


def _utterance(turn: Turn, event: ListeningEnded) -> Step:
    data = {"why": event.why.value, "decided": event.decided}
    return replace(turn, listened_until=event.decided, voice=False), (
        Report("speech_end", event.at, turn.generation, data),
    )


def _voice_over(turn: Turn, at: float) -> tuple[Effect, ...]:
    """The end of speech that began before the utterance, or in it, and whose end listening has swallowed."""
    return (Report("speech_end", at, turn.generation),) if turn.voice else ()


def _nothing_said(turn: Turn, event: ListeningEnded) -> Step:
    return replace(turn, voice=False), (
        *_voice_over(turn, event.at),
        Report("notice", event.decided, turn.generation, {"text": "nobody spoke"}),
        Drop(turn.generation),
    )


def _think(turn: Turn, event: Heard) -> Step:
    return turn, (
        Report("heard", event.at, turn.generation, {"text": event.text}),
        Think(turn.generation, event.text),
    )


def _listen_on(turn: Turn, _: Heard) -> Step:
    return turn, (Listen(turn.generation, turn.listened_until, turn.patience_until),)


def _not_understood(turn: Turn, event: Heard) -> Step:
    return turn, (
        Report("notice", event.at, turn.generation, {"text": "no words were heard"}),
        Drop(turn.generation),
    )


def _answer(turn: Turn, event: Answered) -> tuple[Effect, ...]:
    return (
        Report("intent", event.at, turn.generation, {"intent": event.intent}),
        Report("reply_text", event.at, turn.generation, {"text": event.text}),
    )


def _speak(turn: Turn, event: Answered) -> Step:
    return turn, (*_answer(turn, event), Speak(turn.generation, event.text))


def _agree(turn: Turn, event: Answered) -> Step:
    return turn, (*_answer(turn, event), Drop(turn.generation))


def _apologise(turn: Turn, event: Failed) -> Step:
    return replace(turn, voice=False), (
        *_voice_over(turn, event.at),
        Report("notice", event.at, turn.generation, {"text": event.message}),
        Report("reply_text", event.at, turn.generation, {"text": event.apology}),
        Speak(turn.generation, event.apology),
    )


def _give_up(turn: Turn, event: Failed) -> Step:
    return turn, (
        Hush(turn.generation),
        Report("notice", event.at, turn.generation, {"text": event.message}),
        Drop(turn.generation),
    )


def _started(turn: Turn, event: ReplyStarted) -> Step:
    return turn, (Report("reply_start", event.at, turn.generation),)


def _ended(turn: Turn, event: ReplyEnded) -> Step:
    return turn, (*_ending(event), Drop(turn.generation))


def _silenced(turn: Turn, event: ReplyEnded) -> Step:
    return turn, _ending(event)


def _ending(event: ReplyEnded) -> tuple[Effect, ...]:
    data = {"seconds": event.seconds, "cut": event.cut}
    return (
        Report("silent", event.at, event.generation),
        Report("reply_end", event.at, event.generation, data),
    )


def was_cut(_: Turn, event: ReplyEnded) -> bool:
    """A trigger has silenced the reply, ahead of its own event, which follows."""
    return event.cut


def may_still_come(turn: Turn, event: Heard) -> bool:
    """It was the wake word alone, or a cough, and there is patience left for the command."""
    return event.at < turn.patience_until


def has_words(_: Turn, event: Heard) -> bool:
    """Something was said."""
    return event.text != ""


def has_reply(_: Turn, event: Answered) -> bool:
    """There is something to say."""
    return event.text != ""


def nobody_spoke(_: Turn, event: ListeningEnded) -> bool:
    """The patience ended before any speech."""
    return event.why is ListeningEnd.NOTHING


_I, _L, _T, _S = Phase.IDLE, Phase.LISTENING, Phase.THINKING, Phase.SPEAKING

TABLE: tuple[Row, ...] = (
    _row(_I, WakeHeard, _L, _begin),
    _row(_I, Pressed, _L, _begin),
    _row(_L, WakeHeard, _L, _ignore),
    _row(_L, Pressed, _L, _finish_listening),
    _row(_L, ListeningEnded, _I, _nothing_said, nobody_spoke),
    _row(_L, ListeningEnded, _T, _utterance),
    _row(_L, Failed, _S, _apologise),
    _row(_T, WakeHeard, _L, _interrupt),
    _row(_T, Pressed, _L, _interrupt),
    _row(_T, Heard, _T, _think, has_words),
    _row(_T, Heard, _L, _listen_on, may_still_come),
    _row(_T, Heard, _I, _not_understood),
    _row(_T, Answered, _S, _speak, has_reply),
    _row(_T, Answered, _I, _agree),
    _row(_T, Failed, _S, _apologise),
    _row(_S, WakeHeard, _L, _interrupt),
    _row(_S, Pressed, _L, _interrupt),
    _row(_S, ReplyStarted, _S, _started),
    _row(_S, ReplyEnded, _S, _silenced, was_cut),
    _row(_S, ReplyEnded, _I, _ended),
    _row(_S, Failed, _I, _give_up),
)


def step(turn: Turn, event: Event) -> Step:
    """The next state and what is to be done. Raises IllegalEventError, and then nothing has changed."""
    if isinstance(event, SpeechStarted | SpeechEnded):
        return _sense(turn, event)
    if not isinstance(event, WakeHeard | Pressed) and (event.generation != turn.generation or turn.phase is Phase.IDLE):
        return turn, _ending(event) if isinstance(event, ReplyEnded) else ()
    for row in TABLE:
        if row.phase is turn.phase and row.event is type(event) and (row.when is None or row.when(turn, event)):
            state, effects = row.action(turn, event)
            return replace(state, phase=row.to), effects
    raise IllegalEventError(f"{type(event).__name__} while {turn.phase.value}: {event}")


def _sense(turn: Turn, event: SpeechStarted | SpeechEnded) -> Step:
    """One start and one end per stretch of speech; an utterance ends when the endpoint says so, not at each pause."""
    started = isinstance(event, SpeechStarted)
    if started == turn.voice or (not started and turn.phase is Phase.LISTENING):
        return turn, ()
    kind = "speech_start" if started else "speech_end"
    return replace(turn, voice=started), (Report(kind, event.at, turn.generation),)
