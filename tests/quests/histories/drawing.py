"""Draws a history, choice by choice, from whatever chooses: hypothesis, which can shrink it, or a random generator."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from tests.quests.histories.plans import LONG, NAMES, TICK, Act, Call, Ending, History, Op, Plan, Reaction, Step

T = TypeVar("T")


class Pick(Protocol):
    """Chooses one of the options. The simplest comes first: a failing history shrinks towards it."""

    def __call__(self, options: Sequence[T], /) -> T: ...


MOST_CALLS = 12

RECENT = (0, 0, 0, 1, 1, 2, 3, 4, 5)
EITHER = (False, True)
SOMETIMES = (False, False, True)
USUALLY = (False, True, True, True)
ONE_MORE = (False, True, True, True, True, True, True)
TAKES = (0.0, TICK, 2 * TICK, 0.5, 3.0, None)
PAUSES = (0.0, TICK, 2 * TICK, 3 * TICK, 6 * TICK, 0.25, 1.0, 5.0, LONG)
CANCELLED_AFTER = (None, None, None, *PAUSES)
CLOSE_REACTIONS = (Reaction.OBEY, *Reaction)
WORK_REACTIONS = tuple(reaction for reaction in CLOSE_REACTIONS if reaction is not Reaction.IGNORE)
ENDINGS = (Ending.WELL, Ending.WELL, Ending.WELL, Ending.FAILS, Ending.CANCELS)
ACTS = (None, None, None, None, *Act)
CLOSE_TIMEOUTS = (2.0, 0.4)
BEGINNINGS = (Call.ADD, Call.ADD, Call.ADD, Call.ADD_IN_BLOCK, Call.MAKE, Call.MAKE)
DEALINGS = (Call.GET, Call.ADD_EARLIER, *(call for call in Call if call not in BEGINNINGS))


def a_history(pick: Pick) -> History:
    ops: list[Op] = []
    while len(ops) < MOST_CALLS and pick(ONE_MORE):
        ops.append(_an_op(pick))
    cancellations: list[float] = []
    while len(cancellations) < 2 and pick(EITHER):
        cancellations.append(pick(PAUSES))
    return History(tuple(ops), tuple(cancellations), add_during_exit=_a_plan(pick) if pick(EITHER) else None)


def _an_op(pick: Pick) -> Op:
    cancelled_after, pause = pick(CANCELLED_AFTER), pick(PAUSES)
    if pick(EITHER):
        return Op(pick(DEALINGS), which=pick(RECENT), cancelled_after=cancelled_after, pause=pause)
    call, plan, awaited = pick(BEGINNINGS), _a_plan(pick), pick(SOMETIMES)
    return Op(call, plan, awaited=awaited, cancelled_after=cancelled_after, pause=pause)


def _a_plan(pick: Pick) -> Plan:
    return Plan(
        name=pick(NAMES),
        init=_a_step(pick, WORK_REACTIONS) if pick(SOMETIMES) else Step(pick(TAKES)),
        run=_a_step(pick, WORK_REACTIONS),
        close=_a_step(pick, CLOSE_REACTIONS) if pick(USUALLY) else None,
        close_timeout=pick(CLOSE_TIMEOUTS),
    )


def _a_step(pick: Pick, reactions: Sequence[Reaction]) -> Step:
    act = pick(ACTS)
    return Step(
        takes=pick(TAKES),
        reaction=pick(reactions),
        ending=pick(ENDINGS),
        act=act,
        act_last=act is not None and pick(EITHER),
    )
