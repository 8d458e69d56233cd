"""A quest: a background job with a resource, from its `init` through its `run` to its `close`.

    start ──► work: init, run ──► closing: close, within its limit ──► over
      └── cancelled before its turn came ────────────────────────────────┘

Three tasks, so that each has one reason to be cancelled:

- the *work* does init and then run, and is what a removal cancels;
- the *closing* does close, and is cancelled only when its time is up;
- the *life* waits for the two in turn. Nobody cancels it but a loop that shuts down, so the resource gets closed.

What a quest obeys, and the order of quests of one name, stands at the top of `manager`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")

_log = logging.getLogger(__name__)

INSIST_AFTER = 10.0
"""Seconds until work that goes on after its cancellation is cancelled again. Long, since it may be cleaning up; but
asyncio.wait_for loses a cancellation now and then before Python 3.12, and such work would go on for ever."""

CLOSE_GRACE = 0.1
"""Seconds that a close gets to unwind when it is cancelled because its time is up."""

CLOSE_CANCELLATIONS = 3
"""How many cancellations a close may swallow before it is left to itself."""

_stragglers: set[asyncio.Task[None]] = set()
"""The closings that were left to themselves: the loop alone would let them be collected in mid-flight."""


class QuestRemoved(Exception):  # noqa: N818  it says what happened, which need not be an error
    """The resource is not to be had, or no longer: the quest was removed, or is over."""

    def __init__(self, name: str) -> None:
        super().__init__(f"quest {name!r} was removed or is over")


class Quest(Generic[T]):
    """A job for a QuestManager: `init` gets the resource, `run` works with it, `close` lets go of it.

    It lives once: `run` is called when `init` is done, and `close` exactly once for what `init` got, however it ends.
    `close` has `close_timeout` seconds.
    """

    def __init__(
        self,
        name: str,
        init: Callable[[], Awaitable[T]],
        run: Callable[[T], Awaitable[None]],
        close: Callable[[T], Awaitable[None]] | None = None,
        close_timeout: float = 2.0,
    ) -> None:
        self.name = name
        self.close_timeout = close_timeout
        self._init = init
        self._run = run
        self._close = close
        self._resource: tuple[T] | None = None  # in a tuple, since the resource itself may be None
        self._init_error: BaseException | None = None
        self._settled = asyncio.Event()  # who waits for the resource has an answer
        self._removed = False  # on purpose, while it was waiting or at work
        self._gone = False  # removed, or run is over: no longer in the registry
        self._over = asyncio.Event()  # nothing of it is left
        self._failures: list[BaseException] = []
        self._leave: Callable[[Quest[T]], None] | None = None  # set by the manager that has it
        self._life: asyncio.Task[None] | None = None
        self._work: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._insistence: asyncio.TimerHandle | None = None

    @staticmethod
    def from_run_step(name: str, run: Callable[[], Awaitable[None]]) -> "Quest[None]":
        """A quest without a resource."""

        async def init() -> None:
            return None

        async def run_alone(_: None) -> None:
            await run()

        return Quest(name, init, run_alone)

    async def get(self) -> T:
        """The resource, as soon as `init` has it. Raises what `init` raised, or QuestRemoved.

        Waits even before the quest is given to a manager. A quest whose run is over has no resource to give.
        """
        late = self._gone
        await self._settled.wait()
        if self._init_error is not None and not self._removed:
            raise self._init_error
        if self._resource is None or self._removed or late:
            raise QuestRemoved(self.name)
        return self._resource[0]

    def get_nowait(self) -> T | None:
        """The resource while there is one to work with, otherwise None. Never raises."""
        return None if self._resource is None or self._gone else self._resource[0]

    def cancel(self) -> None:
        """Ask for the removal and return at once. From the event loop.

        From now on the quest is out of the registry, its waiters wake, and nothing of it begins but its close. Its
        manager stays responsible for it. A quest whose run is over, or that was removed before, is not disturbed.
        """
        if self._gone:
            return
        self._removed = True
        self._depart()
        if self._work is not None:
            self._cancel_work(self._work)
        elif self._life is None:
            self._over.set()

    async def remove(self) -> None:
        """Remove the quest; returns when its task is over and its close has run, or has used up its time.

        Failures are not raised here but kept for the manager's `wait`. A caller that is cancelled stops waiting; the
        removal goes on. Within the quest's own `init` and `run` it never returns, but raises the CancelledError that
        ends them; within its own `close` it returns at once.
        """
        self.cancel()
        caller = asyncio.current_task()
        if caller is self._closing:
            return
        if caller is not None and caller is self._work:
            # Again if need be: work that waited here for its own end, say in a finally, would do so for ever.
            caller.cancel()
        await self._over.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.remove()

    def _begin(self, over: Callable[[], None]) -> None:
        """For the manager: its turn has come. `over` is called once, when nothing of it is left."""

        def bury(_: asyncio.Task[None]) -> None:
            self._depart()
            self._over.set()
            over()

        self._life = asyncio.create_task(self._live(), name=f"quest {self.name}")
        self._life.add_done_callback(bury)

    def _depart(self) -> None:
        """Out of the registry; who still waits for the resource is answered."""
        if self._gone:
            return
        self._gone = True
        self._settled.set()
        if self._leave is not None:
            self._leave(self)

    async def _live(self) -> None:
        if self._removed:
            return
        self._work = asyncio.create_task(self._init_and_run(), name=f"quest {self.name}: work")
        await self._outlast(self._work)
        if self._insistence is not None:
            self._insistence.cancel()
        self._failures += _failures_of(self._work, cancelled_on_purpose=self._removed)
        for failure in self._failures:
            self._report("failed", failure)
        if self._resource is None or self._close is None:
            return
        self._closing = asyncio.create_task(_call(self._close, self._resource[0]), name=f"quest {self.name}: close")
        for failure in await self._close_failures_of(self._closing):
            self._report("did not close", failure)
            if not self._removed:
                self._failures.append(failure)

    async def _init_and_run(self) -> None:
        try:
            try:
                resource = await self._init()
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                self._init_error = error
                raise
            self._resource = (resource,)
            self._settled.set()
            if not self._removed:
                await self._run(resource)
        finally:
            self._depart()

    async def _close_failures_of(self, closing: asyncio.Task[None]) -> list[BaseException]:
        await self._outlast(closing, self.close_timeout)
        if closing.done():
            return _failures_of(closing, cancelled_on_purpose=False)
        late = TimeoutError(f"close of quest {self.name!r} took longer than {self.close_timeout:g} s")
        for _ in range(CLOSE_CANCELLATIONS):
            closing.cancel()
            await self._outlast(closing, CLOSE_GRACE)
            if closing.done():
                return [late, *_failures_of(closing, cancelled_on_purpose=True)]
        _stragglers.add(closing)
        closing.add_done_callback(self._straggler_over)
        return [late]

    def _straggler_over(self, closing: asyncio.Task[None]) -> None:
        _stragglers.discard(closing)
        for failure in _failures_of(closing, cancelled_on_purpose=True):
            self._report("did not close", failure)

    async def _outlast(self, task: asyncio.Task[None], limit: float | None = None) -> None:
        """Wait until `task` is over, or for `limit` seconds; a loop that shuts down amounts to a removal."""
        while True:
            try:
                await asyncio.wait({task}, timeout=limit)
            except asyncio.CancelledError:
                self.cancel()
            else:
                return

    def _cancel_work(self, work: asyncio.Task[None]) -> None:
        if work.done():
            return
        if self._insistence is not None:
            _log.warning("quest %s goes on after its removal", self.name, extra={"quest": self.name})
        work.cancel()
        self._insistence = work.get_loop().call_later(INSIST_AFTER, self._cancel_work, work)

    def _report(self, what: str, failure: BaseException) -> None:
        _log.error("quest %s %s: %s", self.name, what, failure, exc_info=failure, extra={"quest": self.name})


async def _call(close: Callable[[T], Awaitable[None]], resource: T) -> None:
    await close(resource)


def _failures_of(task: asyncio.Task[Any], *, cancelled_on_purpose: bool) -> list[BaseException]:
    """What a task that is over failed with, if it did."""
    if task.cancelled():
        return [] if cancelled_on_purpose else [RuntimeError(f"{task.get_name()} was cancelled, but not by a removal")]
    failure = task.exception()
    return [] if failure is None else [failure]
