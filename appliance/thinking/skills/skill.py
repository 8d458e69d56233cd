"""What every skill gets, what it gives, and what it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from appliance.core.timers import Timer
from appliance.thinking.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Situation:
    """How it stands with what skills can change."""

    at: float = 0.0
    """Seconds on the steady clock, as the timers count them."""
    timers: tuple[Timer, ...] = ()
    """Those that run, the first to end first."""
    rang: float | None = None
    """When somebody last had ringing timers stop, on the steady clock."""
    volume: int = 5
    """How loud replies are, from 0 to 10."""


@dataclass(frozen=True, slots=True)
class Question:
    """All that an answer may depend on besides the intent itself."""

    now: datetime
    """Local time."""
    last_reply: str
    """What the appliance said before; empty when it has said nothing yet."""
    rest: str
    """What is left to say of it after an interruption; empty when it was heard to its end."""
    phrases: Phrases
    slots: Mapping[str, int | str] = field(default_factory=dict)
    """What was said besides: see `Match.slots`."""
    situation: Situation = field(default_factory=Situation)


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Another timer is to run."""

    name: str
    seconds: int


@dataclass(frozen=True, slots=True)
class CancelTimers:
    """These timers are to be gone."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetVolume:
    """Replies are to be as loud as this."""

    level: int


Deed = StartTimer | CancelTimers | SetVolume
"""What is to be done besides answering. The skill only says so; its owner does it."""


@dataclass(frozen=True, slots=True)
class Done:
    """An answer with deeds. `asks`: it is a question, and `lacks` names the slot that it is about."""

    text: str
    deeds: tuple[Deed, ...] = ()
    lacks: str = ""


Skill = Callable[[Question], str | Done]
"""Gives the answer to say, which is empty when the best answer is silence. Takes milliseconds, and no I/O."""
