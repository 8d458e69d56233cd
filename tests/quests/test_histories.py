"""Random histories of quests and callers obey the rules at the top of `appliance.quests.manager`.

The environment variable QUEST_HISTORIES says how many are played (500).
"""

import asyncio
import gc
import logging
import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.simulation.clock import VirtualLoop
from tests.quests.histories import World
from tests.quests.plans import LONG, NAMES, TICK, Act, Call, Ending, History, Op, Plan, Reaction, Step

TAKES = [0.0, TICK, 2 * TICK, 0.5, 3.0, None]
PAUSES = [0.0, TICK, 2 * TICK, 3 * TICK, 6 * TICK, 0.25, 1.0, 5.0, LONG]
COMPLAINTS: list[dict[str, Any]] = []
"""What asyncio complained of. Some of it comes only when the garbage is collected."""


def steps(*reactions: Reaction) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        takes=st.sampled_from(TAKES),
        reaction=st.sampled_from([Reaction.OBEY, *reactions]),
        ending=st.sampled_from([Ending.WELL, Ending.WELL, Ending.WELL, Ending.FAILS, Ending.CANCELS]),
        act=st.sampled_from([None, None, None, None, *Act]),
        act_last=st.booleans(),
    )


WORK = steps(*(reaction for reaction in Reaction if reaction is not Reaction.IGNORE))
PLANS = st.builds(
    Plan,
    name=st.sampled_from(NAMES),
    init=WORK,
    run=WORK,
    close=st.none() | steps(*Reaction),
    close_timeout=st.sampled_from([2.0, 0.4]),
)
CANCELLED_AFTER = st.sampled_from([None, None, None, *PAUSES])
ADDS = st.builds(
    Op,
    call=st.sampled_from([Call.ADD, Call.ADD, Call.ADD, Call.ADD_IN_BLOCK]),
    plan=PLANS,
    cancelled_after=CANCELLED_AFTER,
    pause=st.sampled_from(PAUSES),
)
DEALINGS = st.builds(
    Op,
    call=st.sampled_from([Call.GET, *(call for call in Call if call not in (Call.ADD, Call.ADD_IN_BLOCK))]),
    which=st.integers(0, 5),
    cancelled_after=CANCELLED_AFTER,
    pause=st.sampled_from(PAUSES),
)
HISTORIES = st.builds(
    History,
    ops=st.lists(ADDS | DEALINGS, max_size=12).map(tuple),
    exit_cancelled_after=st.sampled_from([None, *PAUSES]),
    add_during_exit=st.none() | PLANS,
)


def play(history: History) -> list[str]:
    """What went wrong."""
    logger = logging.getLogger("appliance.quests.quest")
    loop = VirtualLoop()
    loop.set_exception_handler(lambda _, context: COMPLAINTS.append(context))
    world = World()

    async def main() -> None:
        async with asyncio.timeout(1e9):  # a deadlock lets the clock jump there
            await world.play(history)

    logger.addHandler(world)
    logger.propagate = False
    try:
        loop.run_until_complete(main())
    finally:
        logger.propagate = True
        logger.removeHandler(world)
        loop.close()
    wrong = [*world.wrong, *map(str, COMPLAINTS)]
    COMPLAINTS.clear()
    return wrong


@settings(
    max_examples=int(os.environ.get("QUEST_HISTORIES", "500")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(history=HISTORIES)
def test_every_history_obeys_the_rules(history: History) -> None:
    assert play(history) == []


def test_nothing_was_complained_of_when_the_garbage_was_collected() -> None:
    gc.collect()
    assert COMPLAINTS == []
