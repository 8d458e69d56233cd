"""Quests to test with, which note what happens to them, and virtual time to test in."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

import pytest

from appliance.quests import Quest
from appliance.simulation.clock import VirtualLoop

P = ParamSpec("P")
Step = Callable[[], Awaitable[None]]

WHOLE_LIFE = ["init", "got", "run", "ran", "close", "closed"]


class Boom(Exception):  # noqa: N818
    """What fails here, fails with this."""


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run the test on a clock that jumps. No task may be left, and asyncio may have nothing to complain of.

    A deadlock fails at once: when nothing else is left to wait for, the clock jumps to the limit.
    """

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        complaints: list[dict[str, Any]] = []

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
            async with asyncio.timeout(1e6):
                await test(*args, **kwargs)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        gc.freeze()  # what was there before is none of our garbage
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(main())
        gc.collect()
        gc.unfreeze()
        assert complaints == []

    return run


def now() -> float:
    return asyncio.get_running_loop().time()


async def ticks(count: int = 20) -> None:
    """Let everything happen that needs no time."""
    for _ in range(count):
        await asyncio.sleep(0)


async def ticks_until(condition: Callable[[], bool]) -> None:
    while not condition():
        await ticks(1)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, BaseException | None]]:
    """The errors in the log, each with the name of its quest."""
    records = [record for record in caplog.records if record.levelno >= logging.ERROR]
    return [(vars(record)["quest"], record.exc_info[1] if record.exc_info else None) for record in records]


async def at_once() -> None:
    """A step that never suspends."""


async def for_ever() -> None:
    await asyncio.Event().wait()


def taking(seconds: float) -> Step:
    return lambda: asyncio.sleep(seconds)


def failing(error: BaseException) -> Step:
    async def step() -> None:
        raise error

    return step


def swallowing(times: int = 1, then: Step = at_once) -> Step:
    """A step that goes on for ever, ignores so many cancellations, and then does something else."""

    async def step() -> None:
        for _ in range(times):
            with contextlib.suppress(asyncio.CancelledError):
                await for_ever()
        await then()

    return step


class Job:
    """A quest that notes in `events` what it does; by default its `init` is done at once and its `run` never."""

    def __init__(
        self,
        name: str = "job",
        *,
        init: Step = at_once,
        run: Step = for_ever,
        close: Step = at_once,
        close_timeout: float = 2.0,
        events: list[str] | None = None,
        label: str = "",
    ) -> None:
        self.events: list[str] = [] if events is None else events
        self.resource = object()
        self._label = label

        async def get() -> object:
            self._note("init")
            await init()
            self._note("got")
            return self.resource

        async def use(resource: object) -> None:
            assert resource is self.resource
            self._note("run")
            try:
                await run()
            finally:
                self._note("ran")

        async def let_go(resource: object) -> None:
            assert resource is self.resource
            self._note("close")
            await close()
            self._note("closed")

        self.quest = Quest(name, get, use, let_go, close_timeout)

    def _note(self, event: str) -> None:
        self.events.append(self._label + event)
