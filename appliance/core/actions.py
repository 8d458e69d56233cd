"""What happens on the way from one phase to the next: the actions that the table of the conversation names.

An action gives the new state, save for the phase, which is in the table, and the effects in the order in which they are
to be carried out. Silence comes first. What is said while the appliance thinks or speaks is in `remarks`.
"""

from dataclasses import replace

from appliance.core.effects import (
    Drop,
    Effect,
    FinishListening,
    Hush,
    LetGo,
    Listen,
    Pause,
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
    ListeningEnded,
    Pressed,
    Released,
    ReplyEnded,
    ReplyStarted,
    WakeHeard,
    Worded,
)
from appliance.core.moves import (
    LEAD,
    PREROLL,
    Step,
    ask_waiting,
    ending,
    heard_report,
    invite,
    listen_to_addressed,
    may_be_paused,
    next_turn,
    nothing_overheard,
    overhear_from,
    unanswered,
    wake_report,
)
from appliance.core.state import Phase, Turn

HEARD_BEFORE = 2.0
"""Seconds of speech before the button was pressed that belong to what was said, at most."""


def begin(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something."""
    state, effects = next_turn(turn)
    until = event.at + turn.patience
    since, preroll = event.at, None
    if isinstance(
        event, Pressed
    ):  # there is no wake word before it, but there may be an earlier question, or the reply
        since, preroll = (
            (max(turn.voice_since, event.at - HEARD_BEFORE), LEAD) if _is_spoken(turn) else (since, PREROLL)
        )
    held = isinstance(event, Pressed)
    state = replace(state, patience_until=until, attending=True, held_down=event.at if held else None)
    return state, (
        *effects,
        wake_report(event, state.generation),
        Listen(state.generation, since, until, preroll, held),
    )


def interrupt(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something else. Who spoke before pressing the button need not say it again."""
    old = turn.generation
    by = "word" if isinstance(event, WakeHeard) else "button"
    state, effects = begin(turn, event)
    interrupted = Report("interrupted", event.at, old, {"by": by})
    return state, (Hush(old), interrupted, *unanswered(turn), Drop(old), *effects)


def announce(turn: Turn, event: Announced) -> Step:
    """A turn of its own, for which nobody has asked."""
    state, effects = next_turn(turn)
    report = Report("reply_text", event.at, state.generation, {"text": event.text})
    return _speak(replace(state, invites=False, unasked=True), (*effects, report), event.text)


def ignore(turn: Turn, _: Event) -> Step:
    """Nothing."""
    return turn, ()


def address(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something, and has to wait until the reply is over; what is said until then is taken down."""
    return replace(turn, addressed=event, waiting=None, overhearing=False, attending=True), (
        Resume(turn.generation, pausable=False),  # speech may have paused it in this instant
        *unanswered(turn),
        Listen(turn.generation, event.at, event.at + turn.patience),
    )


def keep_question(turn: Turn, event: Heard) -> Step:
    """What was said to the appliance waits for the end of the reply; after the wake word alone, the user does."""
    return replace(turn, attending=False, waiting=event if event.text else None), unanswered(turn)


def finish_listening(turn: Turn, event: Pressed | Released) -> Step:
    """The user is done."""
    return replace(turn, patience_until=event.at), (FinishListening(turn.generation),)


def let_go(turn: Turn, _: Released) -> Step:
    """It was a tap, or nothing was said yet: the user is listened to as after a wake word."""
    return replace(turn, held_down=None), (LetGo(turn.generation),)


def take_utterance(turn: Turn, event: ListeningEnded) -> Step:
    """Speech-to-text has all that it needs."""
    data = {"why": event.why.value, "decided": event.decided}
    woken = Report("wake", turn.voice_since, turn.generation, {"by": "follow-up", "word": None})
    return replace(turn, listened_until=event.decided, voice=False, follows_up=False, held_down=None), (
        *((woken,) if turn.follows_up else ()),
        Report("speech_end", event.at, turn.generation, data),
    )


def stop_listening(turn: Turn, event: ListeningEnded) -> Step:
    """Nobody has said anything."""
    missed = Report("notice", event.decided, turn.generation, {"text": "nobody spoke"})
    return replace(turn, voice=False, follows_up=False, attending=False), (
        *_voice_over(turn, event.at),
        *(() if turn.follows_up else (missed,)),
        Drop(turn.generation),
    )


def begin_anew(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody asks in the ordinary way, though it would not have been necessary."""
    state, effects = begin(turn, event)
    return state, (*unanswered(turn), Drop(turn.generation), *effects)


def think(turn: Turn, event: Heard) -> Step:
    """Something was asked; who has gone on speaking since is listened to."""
    state = replace(turn, attending=False)
    speech: tuple[Effect, ...] = ()
    if has_begun_to_speak(turn):
        state, speech = overhear_from(state, turn.voice_since, event.at)
    return state, (
        heard_report(event, turn.generation),
        Think(turn.generation, event.text),
        *speech,
    )


def listen_on(turn: Turn, _: Heard) -> Step:
    """The command is still to come."""
    return turn, (Listen(turn.generation, turn.listened_until, turn.patience_until),)


def listen_anew(turn: Turn, event: Heard) -> Step:
    """There were no words in it, but somebody has begun to speak since."""
    until = event.at + turn.patience
    return replace(turn, patience_until=until), (Listen(turn.generation, turn.voice_since, until, LEAD),)


def not_understood(turn: Turn, event: Heard) -> Step:
    """There were no words in it."""
    return replace(turn, attending=False), (
        Report("notice", event.at, turn.generation, {"text": "no words were heard"}),
        Drop(turn.generation),
    )


def speak(turn: Turn, event: Answered) -> Step:
    """The reply begins."""
    return _speak(replace(turn, invites=event.text is None or event.asks), _answer(turn, event), event.text)


def speak_later(turn: Turn, event: Answered) -> Step:
    """There is a reply, but somebody has spoken since: it waits until it is known what that means."""
    state = _reply_begins(replace(turn, invites=event.text is None or event.asks))
    speech = Speak(turn.generation, event.text, pausable=True)  # what was said before it sounds is no echo
    return state, (*_answer(turn, event), speech, Pause(turn.generation))


def agree_later(turn: Turn, event: Answered) -> Step:
    """Silence is the answer, but somebody has spoken since."""
    return replace(turn, nothing_left=True, invites=False), _answer(turn, event)


def agree(turn: Turn, event: Answered) -> Step:
    """Silence is the answer."""
    return nothing_overheard(turn), (*_answer(turn, event), Drop(turn.generation))


def apologise(turn: Turn, event: Failed) -> Step:
    """Something of ours broke, and the user is told."""
    return _speak(
        replace(turn, voice=False, invites=False, follows_up=False, attending=False),
        (
            *_voice_over(turn, event.at),
            *_apology(event),
        ),
        event.apology,
    )


def apologise_later(turn: Turn, event: Failed) -> Step:
    """Something of ours broke, but somebody has spoken since: the apology waits until it is known what that means."""
    state = replace(turn, invites=False, attending=False)
    speech: tuple[Effect, ...] = ()
    if not turn.remarks:
        state, speech = overhear_from(state, turn.voice_since, event.at)
    return _reply_begins(state), (
        *_apology(event),
        Speak(turn.generation, event.apology, pausable=True),
        Pause(turn.generation),
        *speech,
    )


def give_up(turn: Turn, event: Failed) -> Step:
    """The reply itself broke: there is nothing left to tell it with."""
    return nothing_overheard(turn), (*_broken(turn, event), Drop(turn.generation))


def give_up_and_wait(turn: Turn, event: Failed) -> Step:
    """The reply itself broke; what was said during it may still be the next question."""
    return replace(turn, nothing_left=turn.waiting is None, invites=False), _broken(turn, event)


def give_up_and_answer(turn: Turn, event: Failed) -> Step:
    """The reply itself broke, and what was said during it is the next question."""
    state, effects = ask_waiting(turn)
    return state, (*_broken(turn, event), *effects)


def give_up_and_listen(turn: Turn, event: Failed) -> Step:
    """The reply itself broke, and whoever addressed the appliance during it has not said yet what for."""
    state, effects = listen_to_addressed(turn, event.at)
    return state, (*_broken(turn, event), *effects)


def note_words(turn: Turn, event: Worded) -> Step:
    """All of the reply is known now."""
    return turn, wording(event)


def start_reply(turn: Turn, event: ReplyStarted) -> Step:
    """It sounds."""
    return replace(turn, sounding_since=event.at), (Report("reply_start", event.at, turn.generation),)


def end_reply(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end."""
    return nothing_overheard(turn), (*ending(event), Drop(turn.generation))


def listen_for_more(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end, and whoever wants to go on need not say the wake word."""
    state, effects = invite(turn, event.at)
    return state, (*ending(event), *effects)


def end_silenced(turn: Turn, event: ReplyEnded) -> Step:
    """A trigger has silenced the reply ahead of its own event, which follows."""
    return turn, ending(event)


def end_while_overheard(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end; what was said meanwhile, or is still being said, may be the next question."""
    return replace(turn, nothing_left=True, held_at=event.at), ending(event)


def wording(event: Worded) -> tuple[Effect, ...]:
    """What there is to say of the words of a reply, whenever they are known."""
    by = {"by": event.by} if event.by else {}
    return (Report("reply_text", event.at, event.generation, {"text": event.text, **by}),)


def has_begun_to_speak(turn: Turn) -> bool:
    """Whether somebody has spoken since the utterance that is being made out."""
    return turn.voice_since >= turn.listened_until


def _apology(event: Failed) -> tuple[Effect, ...]:
    return (
        Report("notice", event.at, event.generation, {"text": event.message}),
        Report("reply_text", event.at, event.generation, {"text": event.apology}),
    )


def _broken(turn: Turn, event: Failed) -> tuple[Effect, ...]:
    return Hush(turn.generation), Report("notice", event.at, turn.generation, {"text": event.message})


def _speak(turn: Turn, before: tuple[Effect, ...], text: str | None) -> Step:
    state = _reply_begins(turn)
    return state, (*before, Speak(turn.generation, text, pausable=may_be_paused(state)))


def _reply_begins(turn: Turn) -> Turn:
    return replace(turn, deaf=max(turn.deaf - 1, 0), false_alarms=0)


def _is_spoken(turn: Turn) -> bool:
    """Whether the user is speaking, as far as that can be told from the reply."""
    return turn.phase is Phase.PAUSED or (turn.voice and (turn.phase is not Phase.SPEAKING or not turn.deaf))


def _voice_over(turn: Turn, at: float) -> tuple[Effect, ...]:
    """The end of speech that began before the utterance, or in it, and whose end listening has swallowed."""
    return (Report("speech_end", at, turn.generation),) if turn.voice else ()


def _answer(turn: Turn, event: Answered) -> tuple[Effect, ...]:
    intent = Report("intent", event.at, turn.generation, {"intent": event.intent})
    if event.text is None:
        return (intent,)
    return (intent, Report("reply_text", event.at, turn.generation, {"text": event.text}))
