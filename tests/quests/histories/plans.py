"""What a generated history consists of: quests that do this and that, and calls that deal with them."""

from dataclasses import dataclass
from enum import Enum

TICK = -1.0
"""A pause of one turn of the loop; more of them are more turns."""

LONG = 1000.0
"""Seconds after which everything has happened that may happen."""

NAMES = ("a", "b", "c")


class Reaction(Enum):
    """What a step does when it is cancelled."""

    OBEY = "obey"
    FINISH = "swallow it, and be done"
    LINGER = "swallow it, and be done later"
    FAIL = "fail instead"
    IGNORE_ONCE = "swallow the first one, and go on as before"
    IGNORE_TWICE = "swallow the first two, and go on as before"
    IGNORE = "go on whatever comes"  # in a close only: nothing could end an init or a run


class Ending(Enum):
    """How a step ends that is not cancelled."""

    WELL = "well"
    FAILS = "with an error"
    CANCELS = "with a CancelledError that nobody asked for"


class Act(Enum):
    """What a step does to the manager, or its own quest."""

    CANCEL = "cancel itself"
    REMOVE = "remove itself"
    REMOVE_NAME = "remove what has its name"
    REMOVE_OTHER = "remove what has the next name"
    REPLACE = "replace itself"
    REPLACE_IN_BLOCK = "replace itself, for the time of a block"


@dataclass(frozen=True)
class Step:
    """What an init, run or close does. `takes` None: it never ends by itself."""

    takes: float | None = 0.0
    reaction: Reaction = Reaction.OBEY
    ending: Ending = Ending.WELL
    act: Act | None = None
    act_last: bool = False


@dataclass(frozen=True)
class Plan:
    """What one quest does."""

    name: str
    init: Step = Step()
    run: Step = Step(takes=None)
    close: Step | None = Step()
    close_timeout: float = 2.0


class Call(Enum):
    """What a caller does. All but the first three deal with an earlier quest, or its name."""

    MAKE = "make"
    ADD = "add"
    ADD_IN_BLOCK = "async with add"
    ADD_EARLIER = "add what was made before"
    REMOVE = "Quest.remove"
    REMOVE_NAME = "QuestManager.remove"
    CANCEL = "cancel"
    DISCARD = "discard"
    GET = "get"
    WAIT = "wait"


@dataclass(frozen=True)
class Op:
    """A call in a task of its own, which may be cancelled after a pause; and a pause until the next."""

    call: Call
    plan: Plan = Plan("a")  # of the quest that is made for it, if one is
    which: int = 0  # of the earlier quests, counted back from the latest
    awaited: bool = False  # somebody waits for the resource of the quest that is made
    cancelled_after: float | None = None
    pause: float = 0.0


@dataclass(frozen=True)
class History:
    """Calls, and how the block of the manager is left."""

    ops: tuple[Op, ...]
    exit_cancelled_after: tuple[float, ...] = ()
    add_during_exit: Plan | None = None
