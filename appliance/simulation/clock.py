"""An event loop whose clock moves on as soon as there is nothing left to do."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVarTuple

_Ts = TypeVarTuple("_Ts")


class _Selector(selectors.DefaultSelector):
    """Turns waiting for a timer into moving the clock, unless a worker thread is still busy."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.busy = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(None if self.busy else 0)
        if not ready:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time stands still while callbacks or executor jobs run, and jumps to the next timer when none does.

    Only executor jobs hold the clock; another thread that wants to be waited for must run in one. With nothing
    scheduled at all, and nobody to wake it, the loop waits for real, as any loop would.
    """

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Seconds since the loop was made, on its own clock."""
        return self._virtual.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Ts], Any], *args: *_Ts
    ) -> asyncio.Future[Any]:
        """As asyncio's own, and the clock stands still until the job's result has arrived."""
        future = super().run_in_executor(executor, func, *args)
        self._virtual.busy += 1  # only now: what was refused never gets done
        future.add_done_callback(self._done)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  asyncio's own
        """As asyncio's own, without a limit: on this clock any limit would be over before a thread could end."""
        await super().shutdown_default_executor()

    def _done(self, _: object) -> None:
        self._virtual.busy -= 1
