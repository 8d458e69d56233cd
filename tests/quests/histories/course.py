"""Plays a history: calls the callers, leaves the manager's block, and looks at the end whether all is as it must be."""

import asyncio
import contextvars
import gc
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVarTuple

from appliance.quests import ManagerClosed, QuestRemoved
from appliance.simulation.clock import VirtualLoop
from tests.quests.histories import callers, corners, rules
from tests.quests.histories.plans import LONG, Call, History, Op
from tests.quests.histories.steps import make, pause
from tests.quests.histories.world import Life, World
from tests.quests.jobs import now, ticks

Ts = TypeVarTuple("Ts")

MAKING = (Call.MAKE, Call.ADD, Call.ADD_IN_BLOCK)
"""Calls with a new quest, whether or not there are earlier ones."""


def play(history: History) -> tuple[list[str], Counter[str]]:
    """What went wrong, and what happened."""
    complaints: list[dict[str, Any]] = []
    gc.freeze()  # so that what is collected below is this history's garbage, and collected quickly
    try:
        wrong, seen = _play(history, complaints)
        gc.collect()  # asyncio complains of some tasks only now
    finally:
        gc.unfreeze()
    return [*wrong, *map(str, complaints)], seen


def _play(history: History, complaints: list[dict[str, Any]]) -> tuple[list[str], Counter[str]]:
    logger = logging.getLogger("appliance.quests.quest")
    loop = _Loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    course = _Course()
    records = _Records(course.world.records)

    async def main() -> None:
        async with asyncio.timeout(30 * LONG):  # a deadlock lets the clock jump there
            await course.take(history)

    logger.addHandler(records)
    logger.propagate = False
    try:
        loop.run_until_complete(main())
    except TimeoutError:
        course.world.wrong.append("somebody waits for ever")
    except RuntimeError:
        if loop.turns_left > 0:
            raise
        course.world.wrong.append("something goes round and round")
    finally:
        logger.propagate = True
        logger.removeHandler(records)
        loop.close()
    return course.world.wrong, course.world.seen


class _Loop(VirtualLoop):
    """Stops when more is done than any history asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.turns_left = 2_000

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        self.turns_left -= 1
        if self.turns_left <= 0:
            self.stop()
        return super().call_soon(callback, *args, context=context)


class _Records(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@dataclass(eq=False)
class _Course:
    world: World = field(default_factory=World)
    callers: list[asyncio.Task[None]] = field(default_factory=list)
    cancelled: list[asyncio.Task[None]] = field(default_factory=list)
    getters: list[tuple[asyncio.Task[None], Life]] = field(default_factory=list)

    async def take(self, history: History) -> None:
        for op in history.ops:
            self._call(op)
            await pause(op.pause)
            rules.check_registry(self.world)
            if op.pause > 0:
                self._check_getters()
            if op.pause == LONG:
                rules.check_settled(self.world)
        leaving = self._spawn(lambda: callers.leave(self.world))
        for count, after in enumerate(history.exit_cancelled_after):
            self._spawn_cancelling(leaving, after, "exit, cancelled again" if count else "exit, cancelled")
        if (plan := history.add_during_exit) is not None:
            await ticks(2)
            refused = make(self.world, plan)
            self.getters.append((self._spawn(lambda: callers.get(self.world, refused)), refused))
            self._spawn(lambda: _unless_refused(callers.add(self.world, refused)))
        await asyncio.wait({leaving})
        rules.check_left(self.world)
        await self._finish()

    def _call(self, op: Op) -> None:
        world = self.world
        earlier = world.lives[-1 - op.which % len(world.lives)] if world.lives else None
        life = make(world, op.plan) if earlier is None or op.call in MAKING else earlier
        calls: dict[Call, Callable[[], Awaitable[None]]] = {
            Call.MAKE: lambda: ticks(0),
            Call.ADD: lambda: _unless_refused(callers.add(world, life)),
            Call.ADD_IN_BLOCK: lambda: _unless_refused(callers.add_in_block(world, life)),
            Call.ADD_EARLIER: lambda: _unless_refused(callers.add(world, life)),
            Call.REMOVE: lambda: callers.remove(world, life),
            Call.REMOVE_NAME: lambda: callers.remove_name(world, life.plan.name),
            Call.CANCEL: lambda: callers.cancel(world, life),
            Call.DISCARD: lambda: callers.discard(world, life.plan.name),
            Call.GET: lambda: callers.get(world, life),
            Call.WAIT: lambda: callers.wait(world),
        }
        world.note(op.call.value)
        caller = self._spawn(calls[op.call])
        if op.call is Call.GET:
            self.getters.append((caller, life))
        if op.awaited:
            self.getters.append((self._spawn(calls[Call.GET]), life))
        if op.cancelled_after is not None:
            self._spawn_cancelling(caller, op.cancelled_after, corners.caller_cancelled(op.call))

    def _spawn(self, call: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        async def caller() -> None:
            await call()

        self.callers.append(asyncio.create_task(caller(), name="caller"))
        return self.callers[-1]

    def _spawn_cancelling(self, caller: asyncio.Task[None], after: float, corner: str) -> None:
        async def cancel() -> None:
            await pause(after)
            if caller.cancel():
                self.world.note(corner)
                self.cancelled.append(caller)

        self._spawn(cancel)

    def _check_getters(self) -> None:
        """When time has gone by since the answer was there, nobody waits for it any longer."""
        waiting = [life for caller, life in self.getters if not caller.done()]
        self.world.check(all(now() <= life.answered_at for life in waiting), 3, "a waiter that does not wake")

    async def _finish(self) -> None:
        world = self.world
        await asyncio.sleep(0.01)
        rules.check_registry(world)
        self._check_getters()
        for _ in range(2):
            await callers.wait(world)
        world.check(not world.waits[-1].raised, 6, "what was told is told again")
        rules.check_told(world)
        rules.check_log(world)
        for life in world.lives:
            if not life.added and not life.asked:
                await callers.remove(world, life)  # for those who still wait for it
        world.released.set()
        await asyncio.sleep(2 * LONG)  # callers may be cancelled that late
        for caller in self.callers:
            world.check(caller.done(), 5, "a caller that never returns")
            if caller.done() and not caller.cancelled():
                world.check(caller.exception() is None, 5, f"a caller fails: {caller.exception()!r}")
        world.check(all(caller.cancelled() for caller in self.cancelled), 5, "a caller's cancellation is swallowed")
        rules.check_closed(world)


async def _unless_refused(adding: Coroutine[Any, Any, None]) -> None:
    with suppress(ManagerClosed, QuestRemoved, ValueError):  # `callers.add` has looked at it
        await adding
