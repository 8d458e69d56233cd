"""Work that several may want at once, and that is done once.

It belongs to those who wait for it: when the last of them is cancelled, so is the work, and that one goes on only when
nothing is left of it. So no work outlives those who wanted it, and work on one thing never overlaps.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(slots=True)
class _Work(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class Shared(Generic[K, T]):
    """The work that is under way, by what it is on."""

    def __init__(self) -> None:
        self._under_way: dict[K, _Work[T]] = {}

    async def get(self, on: K, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the work on `on` results in; `begin` is only called where there is none to join."""
        while (work := self._under_way.get(on)) is not None and not work.waiters:
            await asyncio.wait({work.task})  # abandoned, and ending
        if work is None:
            work = self._under_way[on] = _Work(asyncio.create_task(begin()))
            work.task.add_done_callback(lambda task: self._forget(on, task))
        work.waiters += 1
        try:
            await asyncio.wait({work.task})
        finally:
            work.waiters -= 1
            if not work.waiters and not work.task.done():
                await _end(work.task)
        return work.task.result()

    def _forget(self, on: K, task: asyncio.Task[T]) -> None:
        del self._under_way[on]
        if not task.cancelled():
            task.exception()  # where all are gone that wanted it, there is nobody to tell


async def _end(task: asyncio.Task[T]) -> None:
    """Cancel, and wait until nothing is left; whoever does this is cancelled already, and once is enough."""
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
