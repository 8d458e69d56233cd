"""How loud replies are."""

from appliance.thinking.quantities import HIGHEST
from appliance.thinking.skills.skill import Done, Question, SetVolume

SET, LOUDER, QUIETER, TELL = "set_volume", "louder", "quieter", "tell_volume"

_LOWEST = 1
"""Where "quieter" ends: who cannot hear that it worked takes it for broken."""


def set_(question: Question) -> Done:
    """To a level; asks which, if that was not said."""
    phrases, level = question.phrases, question.slots.get("level")
    if level is None:
        return Done(phrases.VOLUME_WHICH, lacks="level")
    return _to(question, int(level))


def louder(question: Question) -> str | Done:
    """By some steps, or says that it cannot be louder."""
    if question.situation.volume >= HIGHEST:
        return question.phrases.VOLUME_HIGHEST
    return _to(question, min(question.situation.volume + _steps(question), HIGHEST))


def quieter(question: Question) -> str | Done:
    """By some steps, but never silent."""
    if question.situation.volume <= _LOWEST:
        return question.phrases.VOLUME_LOWEST
    return _to(question, max(question.situation.volume - _steps(question), _LOWEST))


def tell(question: Question) -> str:
    """The level."""
    return question.phrases.tell_volume(question.situation.volume)


def _steps(question: Question) -> int:
    return int(question.slots.get("steps", 1))


def _to(question: Question, level: int) -> Done:
    return Done(question.phrases.volume_set(level), (SetVolume(level),))
