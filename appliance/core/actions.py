"""What happens on the way from one phase to the next: the actions that the table of the conversation names.

An action gives the new state, save for the phase, which is in the table, and the effects in the order in which they are
to be carried out. Silence comes first.
"""

from dataclasses import replace

from appliance.core.effects import (
    Begin,
    Drop,
    Effect,
    FinishListening,
    Hush,
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
    ListeningEnded,
    Overheard,
    Pressed,
    ReplyEnded,
    ReplyStarted,
    SpeechStarted,
    SpeechSustained,
    WakeHeard,
    Worded,
)
from appliance.core.interruption import Meaning
from appliance.core.state import Phase, Turn

Step = tuple[Turn, tuple[Effect, ...]]

FALSE_ALARMS = 3
"""How often a reply may be paused for nothing before speech does not pause it any more."""

MOST_ECHOES = 5
"""After the n-th echo in a row speech is taken for one in 2**n replies; from this many on it stays at that."""

OUTLASTS = 0.25
"""Seconds for which speech goes on after the reply has paused, and its own echo does not, in any room."""

UNHEARD = 1.5
"""Seconds for which a reply has sounded before anything was heard, so that it can't be its own echo that was."""

HEARD_BEFORE = 2.0
"""Seconds of speech before the button was pressed that belong to what was said, at most."""

PREROLL = 0.1
"""Seconds before a press, or the end of a reply, that hold the beginning of what is said, and hardly anything else."""

LEAD = 0.3
"""Seconds of sound before speech was noticed that hold its beginning."""

_GOES_ON = {
    Meaning.NOTHING: "no words were heard: the reply goes on",
    Meaning.WORDS: "that was too short to be sure: the reply goes on",
    Meaning.BACK_CHANNEL: "that was only a sign of listening: the reply goes on",
    Meaning.ECHO: "the microphone hears the speaker: the reply goes on, and speech does not pause it for a while",
}


def begin(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something."""
    state, effects = _next(turn)
    until = event.at + turn.patience
    since, preroll = event.at, None
    if isinstance(
        event, Pressed
    ):  # there is no wake word before it, but there may be an earlier question, or the reply
        since, preroll = (
            (max(turn.voice_since, event.at - HEARD_BEFORE), LEAD) if _is_spoken(turn) else (since, PREROLL)
        )
    return replace(state, patience_until=until, attending=True), (
        *effects,
        _woken(event, state.generation),
        Listen(state.generation, since, until, preroll),
    )


def interrupt(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something else. Who spoke before pressing the button need not say it again."""
    old = turn.generation
    by = "word" if isinstance(event, WakeHeard) else "button"
    state, effects = begin(turn, event)
    interrupted = Report("interrupted", event.at, old, {"by": by})
    return state, (Hush(old), interrupted, *_unanswered(turn), Drop(old), *effects)


def announce(turn: Turn, event: Announced) -> Step:
    """A turn of its own, for which nobody has asked."""
    state, effects = _next(turn)
    report = Report("reply_text", event.at, state.generation, {"text": event.text})
    return _speak(replace(state, is_worded=False, unasked=True), (*effects, report), event.text)


def ignore(turn: Turn, _: Event) -> Step:
    """Nothing."""
    return turn, ()


def address(turn: Turn, event: WakeHeard | Pressed) -> Step:
    """Somebody wants something, and has to wait until the reply is over; what is said until then is taken down."""
    return replace(turn, addressed=event, waiting=None, overhearing=False, attending=True), (
        Resume(turn.generation, pausable=False),  # speech may have paused it in this instant
        *_unanswered(turn),
        Listen(turn.generation, event.at, event.at + turn.patience),
    )


def keep_question(turn: Turn, event: Heard) -> Step:
    """What was said to the appliance waits for the end of the reply; after the wake word alone, the user does."""
    return replace(turn, attending=False, waiting=event if event.text else None), _unanswered(turn)


def finish_listening(turn: Turn, event: Pressed) -> Step:
    """The user is done."""
    return replace(turn, patience_until=event.at), (FinishListening(turn.generation),)


def take_utterance(turn: Turn, event: ListeningEnded) -> Step:
    """Speech-to-text has all that it needs."""
    data = {"why": event.why.value, "decided": event.decided}
    woken = Report("wake", turn.voice_since, turn.generation, {"by": "follow-up", "word": None})
    return replace(turn, listened_until=event.decided, voice=False, follows_up=False), (
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
    return state, (*_unanswered(turn), Drop(turn.generation), *effects)


def think(turn: Turn, event: Heard) -> Step:
    """Something was asked; who has gone on speaking since is listened to."""
    state = replace(turn, attending=False)
    speech: tuple[Effect, ...] = ()
    if has_begun_to_speak(turn):
        state, speech = _overhear(state, turn.voice_since, event.at)
    return state, (
        Report("heard", event.at, turn.generation, {"text": event.text}),
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
    return _speak(replace(turn, is_worded=event.text is None), _answer(turn, event), event.text)


def speak_later(turn: Turn, event: Answered) -> Step:
    """There is a reply, but somebody has spoken since: it waits until it is known what that means."""
    state = _reply_begins(replace(turn, is_worded=event.text is None))
    speech = Speak(turn.generation, event.text, pausable=True)  # what was said before it sounds is no echo
    return state, (*_answer(turn, event), speech, Pause(turn.generation))


def ask_instead(turn: Turn, event: Overheard) -> Step:
    """It was meant, before there was an answer to what was asked: that is looked for no more."""
    state, effects = _ask(_somebody_spoke(turn), event, _began(turn))
    return state, (
        *_interrupted(turn, "speech"),
        *effects,
    )


def note_remark(turn: Turn, event: Overheard) -> Step:
    """What was said changes nothing."""
    return _judged(turn), _overheard(turn.generation, event)


def agree_later(turn: Turn, event: Answered) -> Step:
    """Silence is the answer, but somebody has spoken since."""
    return replace(turn, nothing_left=True, is_worded=False), _answer(turn, event)


def agree(turn: Turn, event: Answered) -> Step:
    """Silence is the answer."""
    return _nothing_overheard(turn), (*_answer(turn, event), Drop(turn.generation))


def apologise(turn: Turn, event: Failed) -> Step:
    """Something of ours broke, and the user is told."""
    return _speak(
        replace(turn, voice=False, is_worded=False, follows_up=False, attending=False),
        (
            *_voice_over(turn, event.at),
            *_apology(event),
        ),
        event.apology,
    )


def apologise_later(turn: Turn, event: Failed) -> Step:
    """Something of ours broke, but somebody has spoken since: the apology waits until it is known what that means."""
    state = replace(turn, is_worded=False, attending=False)
    speech: tuple[Effect, ...] = ()
    if not turn.remarks:
        state, speech = _overhear(state, turn.voice_since, event.at)
    return _reply_begins(state), (
        *_apology(event),
        Speak(turn.generation, event.apology, pausable=True),
        Pause(turn.generation),
        *speech,
    )


def give_up(turn: Turn, event: Failed) -> Step:
    """The reply itself broke: there is nothing left to tell it with."""
    return _nothing_overheard(turn), (*_broken(turn, event), Drop(turn.generation))


def give_up_and_wait(turn: Turn, event: Failed) -> Step:
    """The reply itself broke; what was said during it may still be the next question."""
    return replace(turn, nothing_left=turn.waiting is None, is_worded=False), _broken(turn, event)


def give_up_and_answer(turn: Turn, event: Failed) -> Step:
    """The reply itself broke, and what was said during it is the next question."""
    state, effects = _answer_waiting(turn)
    return state, (*_broken(turn, event), *effects)


def give_up_and_listen(turn: Turn, event: Failed) -> Step:
    """The reply itself broke, and whoever addressed the appliance during it has not said yet what for."""
    state, effects = _listen_to_waiting(turn, event.at)
    return state, (*_broken(turn, event), *effects)


def note_words(turn: Turn, event: Worded) -> Step:
    """All of the reply is known now."""
    return turn, wording(event)


def wording(event: Worded) -> tuple[Effect, ...]:
    """What there is to say of the words of a reply, whenever they are known."""
    by = {"by": event.by} if event.by else {}
    return (Report("reply_text", event.at, event.generation, {"text": event.text, **by}),)


def start_reply(turn: Turn, event: ReplyStarted) -> Step:
    """It sounds."""
    return replace(turn, sounding_since=event.at), (Report("reply_start", event.at, turn.generation),)


def end_reply(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end."""
    return _nothing_overheard(turn), (*ending(event), Drop(turn.generation))


def listen_for_more(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end, and whoever wants to go on need not say the wake word."""
    state, effects = _invite(turn, event.at)
    return state, (*ending(event), *effects)


def end_silenced(turn: Turn, event: ReplyEnded) -> Step:
    """A trigger has silenced the reply ahead of its own event, which follows."""
    return turn, ending(event)


def ending(event: ReplyEnded) -> tuple[Effect, ...]:
    """What there is to say of a reply that is over, whenever that becomes known."""
    data = {"seconds": event.seconds, "cut": event.cut}
    return (
        Report("silent", event.at, event.generation),
        Report("reply_end", event.at, event.generation, data),
        Remember(event.generation, event.played, event.clauses, event.cut),
    )


def end_while_overheard(turn: Turn, event: ReplyEnded) -> Step:
    """It was heard to its end; what was said meanwhile, or is still being said, may be the next question."""
    return replace(turn, nothing_left=True, held_at=event.at), ending(event)


def overhear(turn: Turn, event: SpeechStarted) -> Step:
    """Somebody speaks while the appliance thinks or speaks: it is taken down, whatever it may change."""
    return _overhear(turn, event.at, event.at)


def hold(turn: Turn, event: SpeechSustained) -> Step:
    """The reply waits."""
    state, speech = turn, tuple[Effect, ...]()
    if not turn.overhearing:
        state, speech = _overhear(turn, event.since, event.since)
    return replace(state, held_at=event.at, last_voice=event.at), (Pause(turn.generation), *speech)


def take_remark(turn: Turn, event: ListeningEnded) -> Step:
    """Speech-to-text has all of what was said; who has begun to speak again meanwhile is listened to as well."""
    if not turn.overhearing:
        return turn, ()
    state = replace(turn, overhearing=False, last_voice=event.at)
    return _overhear(state, event.decided, event.decided) if turn.voice_since > event.at else (state, ())


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
    return replace(state, held_at=max(turn.held_at, _began(state))), _overheard(turn.generation, event)


def has_begun_to_speak(turn: Turn) -> bool:
    """Whether somebody has spoken since the utterance that is being made out."""
    return turn.voice_since >= turn.listened_until


def may_be_echo(turn: Turn) -> bool:
    """Whether what paused the reply may have been the reply itself: both began and ended together."""
    return not has_outlasted(turn) and turn.voice_since - turn.sounding_since < UNHEARD


def has_lasted(turn: Turn) -> bool:
    """Whether the speech of which it becomes known what it means was long enough to be meant."""
    return turn.last_voice - _began(turn) >= OUTLASTS


def has_outlasted(turn: Turn) -> bool:
    """Whether the speech that paused the reply went on after that."""
    return turn.last_voice - turn.held_at >= OUTLASTS


def stop(turn: Turn, event: Overheard) -> Step:
    """The user wants silence, and nothing else."""
    return _nothing_overheard(_somebody_spoke(turn)), (
        *_interrupted(turn, "stop"),
        *_unanswered(turn),
        *_overheard(turn.generation, event),
        Drop(turn.generation),
    )


def stop_and_listen(turn: Turn, event: Overheard) -> Step:
    """The user wants silence; but somebody has addressed the appliance meanwhile."""
    state, effects = _listen_to_waiting(_somebody_spoke(turn), event.at)
    return state, (
        *_interrupted(turn, "stop"),
        *_overheard(turn.generation, event),
        *effects,
    )


def commit(turn: Turn, event: Overheard) -> Step:
    """It was meant: the reply is over, and as soon as that is certain, what was said is the next question."""
    return replace(_somebody_spoke(turn), waiting=event, asked_at=_began(turn)), (*_interrupted(turn, "speech"),)


def answer_waiting(turn: Turn, event: ReplyEnded) -> Step:
    """The reply is over, and what was said during it is the next question."""
    state, effects = _answer_waiting(turn)
    return replace(state, held_at=max(state.held_at, event.at)), (*ending(event), *effects)


def end_while_held(turn: Turn, event: ReplyEnded) -> Step:
    """Its last sample had sounded when it was paused; what is being said may still be the next question."""
    return replace(turn, nothing_left=True), ending(event)


def answer(turn: Turn, event: Overheard) -> Step:
    """It was meant, and is the next question."""
    return _ask(_somebody_spoke(turn), event, _began(turn))


def let_be(turn: Turn, event: Overheard) -> Step:
    """It was not meant, and there is nothing left to say."""
    return replace(_nothing_overheard(turn), nothing_left=False), (
        *_overheard(turn.generation, event),
        Drop(turn.generation),
    )


def listen_on_for_more(turn: Turn, event: Overheard) -> Step:
    """It was not meant, and there is nothing left to say; whoever wants to go on need not say the wake word."""
    state, effects = _invite(turn, event.at)
    return state, (*_overheard(turn.generation, event), *effects)


def listen_to_waiting(turn: Turn, event: ReplyEnded) -> Step:
    """The reply is over, and whoever addressed the appliance during it has not said yet what for."""
    state, effects = _listen_to_waiting(turn, event.at)
    return state, (*ending(event), *effects)


def may_be_paused(turn: Turn) -> bool:
    """Speech is allowed to interrupt, nobody waits for the end, and it was not an echo or a false alarm too often."""
    may_interrupt = turn.gates.speech and turn.addressed is None
    return may_interrupt and not turn.deaf and turn.false_alarms < FALSE_ALARMS


def _next(turn: Turn) -> Step:
    """A new turn, for which nothing of the old one's reply counts any more."""
    generation = turn.generation + 1
    state = replace(_nothing_overheard(turn), generation=generation, attending=False, nothing_left=False)
    state = replace(state, addressed=None, waiting=None, follows_up=False, follows_speech=False, unasked=False)
    return state, (Begin(generation),)


def _invite(turn: Turn, at: float) -> Step:
    """A turn for whoever goes on with this one."""
    state, effects = _next(turn)
    until = at + turn.follow_up
    return replace(state, patience_until=until, follows_up=True, attending=True), (
        Drop(turn.generation),
        *effects,
        Listen(state.generation, at, until, PREROLL),
    )


def _answer_waiting(turn: Turn) -> Step:
    assert turn.waiting is not None  # noqa: S101  the row's condition
    return _ask(turn, turn.waiting, turn.asked_at)


def _listen_to_waiting(turn: Turn, at: float) -> Step:
    assert turn.addressed is not None  # noqa: S101  the row's condition
    state, effects = _next(turn)
    until = at + turn.patience
    since = turn.addressed.at if turn.attending or turn.remarks or turn.voice else at
    return replace(state, patience_until=until, attending=True), (
        Drop(turn.generation),
        *effects,
        _woken(turn.addressed, state.generation),
        Listen(state.generation, since, until),
    )


def _interrupted(turn: Turn, by: str) -> tuple[Effect, ...]:
    """What was said during the reply, and is known now, has cut it."""
    return Hush(turn.generation), Report("interrupted", _began(turn), turn.generation, {"by": by})


def _apology(event: Failed) -> tuple[Effect, ...]:
    return (
        Report("notice", event.at, event.generation, {"text": event.message}),
        Report("reply_text", event.at, event.generation, {"text": event.apology}),
    )


def _broken(turn: Turn, event: Failed) -> tuple[Effect, ...]:
    return Hush(turn.generation), Report("notice", event.at, turn.generation, {"text": event.message})


def _ask(turn: Turn, question: Heard | Overheard, began: float) -> Step:
    """The next turn, which begins with what was said during this one. What was said since is heard again for it."""
    state, effects = _next(turn)
    if turn.addressed is None:
        state = replace(state, follows_speech=True)
        woken = Report("wake", began, state.generation, {"by": "speech", "word": None})
    else:
        woken = _woken(turn.addressed, state.generation)
    speech: tuple[Effect, ...] = ()
    if turn.remarks:
        state, speech = _overhear(state, _began(turn), question.at)
        state = replace(state, held_at=max(turn.held_at, _began(turn)))
    return state, (
        Drop(turn.generation),
        *effects,
        woken,
        Report("heard", question.at, state.generation, {"text": question.text}),
        Think(state.generation, question.text),
        *speech,
    )


def _overhear(turn: Turn, since: float, now: float) -> Step:
    """What has been said since `since` is taken down."""
    state = replace(turn, overhearing=True, remarks=(*turn.remarks, since))
    if turn.phase is Phase.THINKING:
        state = replace(state, held_at=since)
    return state, (Overhear(turn.generation, since, now + turn.patience),)


def _began(turn: Turn) -> float:
    """When that began of which it becomes known next what it means."""
    return turn.remarks[0] if turn.remarks else turn.voice_since


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


def _nothing_overheard(turn: Turn) -> Turn:
    """What was being taken down is wanted no more."""
    return replace(turn, remarks=(), overhearing=False)


def _woken(event: WakeHeard | Pressed, generation: int) -> Report:
    if isinstance(event, Pressed):
        return Report("wake", event.at, generation, {"by": "button", "word": None})
    return Report("wake", event.at, generation, {"by": "word", "word": event.word, "score": event.score})


def _speak(turn: Turn, before: tuple[Effect, ...], text: str | None) -> Step:
    state = _reply_begins(turn)
    return state, (*before, Speak(turn.generation, text, pausable=may_be_paused(state)))


def _reply_begins(turn: Turn) -> Turn:
    return replace(turn, deaf=max(turn.deaf - 1, 0), false_alarms=0)


def _is_spoken(turn: Turn) -> bool:
    """Whether the user is speaking, as far as that can be told from the reply."""
    return turn.phase is Phase.PAUSED or (turn.voice and (turn.phase is not Phase.SPEAKING or not turn.deaf))


def _deafened(turn: Turn) -> Turn:
    if turn.deaf:
        return turn
    echoes = min(turn.echoes + 1, MOST_ECHOES)
    return replace(turn, echoes=echoes, deaf=2**echoes)


def _overheard(generation: int, event: Overheard) -> tuple[Effect, ...]:
    data = {"text": event.text, "meaning": event.meaning.value}
    return (Report("heard", event.at, generation, data),) if event.text else ()


def _unanswered(turn: Turn) -> tuple[Effect, ...]:
    """What was said to the appliance during the reply, and is the next question no more: it was heard all the same."""
    said = turn.waiting
    return (Report("heard", said.at, turn.generation, {"text": said.text}),) if said else ()


def _voice_over(turn: Turn, at: float) -> tuple[Effect, ...]:
    """The end of speech that began before the utterance, or in it, and whose end listening has swallowed."""
    return (Report("speech_end", at, turn.generation),) if turn.voice else ()


def _answer(turn: Turn, event: Answered) -> tuple[Effect, ...]:
    intent = Report("intent", event.at, turn.generation, {"intent": event.intent})
    if event.text is None:
        return (intent,)
    return (intent, Report("reply_text", event.at, turn.generation, {"text": event.text}))
