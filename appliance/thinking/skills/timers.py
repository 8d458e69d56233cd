"""Timers: setting, cancelling, and how long is left."""

from collections.abc import Mapping, Sequence

from rapidfuzz.distance import Indel

from appliance.core.timers import LONGEST, MOST, Timer
from appliance.thinking.plain import plain
from appliance.thinking.skills.skill import CancelTimers, Done, Question, StartTimer

SET, CANCEL, LEFT = "set_timer", "cancel_timer", "timer_left"

_SAME = 0.75
"""How alike two names are that are one, as recognisers hear it: "spaghetti", "spagetti"."""

_JUST = 20.0
"""Seconds after ringing was stopped in which "stop the timer" means the one that rang: the wake word has done it."""


def set_(question: Question) -> Done:
    """Another timer; asks for how long, if that was not said."""
    phrases, slots = question.phrases, question.slots
    name, seconds = str(slots.get("name", "")), int(slots.get("duration", 0))
    if not seconds:
        return Done(phrases.TIMER_HOW_LONG, lacks="duration")
    if seconds > LONGEST:
        return Done(phrases.TIMER_TOO_LONG)
    if len(question.situation.timers) >= MOST:
        return Done(phrases.TIMERS_TOO_MANY)
    return Done(phrases.timer_set(name, seconds), (StartTimer(name, seconds),))


def cancel(question: Question) -> str | Done:
    """One timer, or all; which, if that is not clear."""
    phrases, situation = question.phrases, question.situation
    found = _meant(situation.timers, question.slots)
    if not _is_any(question.slots):
        if not situation.timers:
            return "" if _just_rang(question) else phrases.TIMERS_NONE
        if not found:
            return phrases.TIMER_UNKNOWN
    elif _just_rang(question):
        return ""
    elif not found:
        return phrases.TIMERS_NONE
    every = "all" in question.slots
    if len(found) > 1 and not every:
        return phrases.timer_which([_called(question, timer) for timer in found])
    deed = CancelTimers(tuple(timer.number for timer in found))
    return Done(phrases.TIMERS_CANCELLED if len(found) > 1 else phrases.TIMER_CANCELLED, (deed,))


def left(question: Question) -> str:
    """How long each timer that is meant still runs."""
    phrases, situation = question.phrases, question.situation
    if not situation.timers:
        return phrases.TIMERS_NONE
    found = _meant(situation.timers, question.slots)
    if not found:
        return phrases.TIMER_UNKNOWN
    remaining = [(_called(question, timer), _left(timer, situation.at)) for timer in found]
    return phrases.timers_left(remaining)


def _is_any(slots: Mapping[str, int | str]) -> bool:
    return not slots.keys() & {"name", "duration", "all"}


def _just_rang(question: Question) -> bool:
    rang = question.situation.rang
    return rang is not None and question.situation.at - rang < _JUST


def _meant(timers: Sequence[Timer], slots: Mapping[str, int | str]) -> Sequence[Timer]:
    if "duration" in slots:
        return [timer for timer in timers if timer.seconds == slots["duration"]]
    if name := str(slots.get("name", "")):
        return [timer for timer in timers if timer.name and _alike(timer.name, name)]
    return timers


def _alike(one: str, other: str) -> bool:
    return Indel.normalized_similarity(plain(one).lower(), plain(other).lower()) >= _SAME


def _called(question: Question, timer: Timer) -> str:
    return question.phrases.timer_called(timer.name, timer.seconds)


def _left(timer: Timer, at: float) -> int:
    return max(round(timer.ends - at), 1)
