"""The registry of quests. What it promises, in the words that its tests use:

1. Closed once. What `init` got is closed exactly once: after a natural end, a failure, a removal before, during or just
   after `init`, or an `init` that swallows its cancellation. Nothing of a removed quest begins but its close.
2. Removed means over. `remove()` returns when the task is over and `close` has run. A close that fails or exceeds its
   limit is reported, and then counts as done: for the name, for the siblings, and for the exit.
3. Waiters wake. `get()` ends with the resource, with what `init` raised, or with QuestRemoved.
4. One at a time. Under one name at most one quest lives (from `init` to the end of `close`) and at most one waits for
   its turn: the last one added. One that is displaced or removed while it waits is over at once.
5. Cancelled callers. Their cancellation reaches them, and nothing that they asked for is left untended. A quest may
   remove or replace itself.
6. Nothing stale, nothing lost. A quest leaves the registry when its run is over or its removal is asked for. Each
   failure is logged when it happens, and kept until `wait()` has raised it. A removal is none, and a failing close of a
   removed quest is only logged.
7. Exit. New quests are refused, all are removed side by side, no task is left, and a cancellation of the exit is passed
   on when that is done. Failures are not raised by the exit, lest they hide what ended the block: `wait()` has them,
   after the exit too.

The one task that may be left is that of a close which has swallowed several cancellations after its time was up;
asyncio has no way to end it, and how it ends is only logged. Work that swallows its cancellation is cancelled again
from time to time, and waited for.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from appliance.quests.quest import Quest, QuestRemoved

T = TypeVar("T")


class ManagerClosed(Exception):  # noqa: N818  as QuestRemoved
    """The manager takes no more quests: its block has ended, or is ending."""


class QuestManager:
    """Owns the quests that are added to it until they are over. All of it belongs to one event loop."""

    def __init__(self) -> None:
        self._current: dict[str, Quest[Any]] = {}  # alive, or waiting for its turn, and wanted
        self._living: dict[str, Quest[Any]] = {}  # begun and not over, wanted or not
        self._failed: list[Quest[Any]] = []  # with failures that nobody has been told of by `wait`
        self._closed = False
        self.quests: Mapping[str, Quest[Any]] = MappingProxyType(self._current)
        """A live, read-only view by name of the quests that were neither removed nor have ended."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        for quest in list(self._current.values()):
            quest.cancel()
        cancellation: asyncio.CancelledError | None = None
        for quest in list(self._living.values()):
            while not quest._over.is_set():
                try:
                    await quest._over.wait()
                except asyncio.CancelledError as outer:
                    cancellation = outer
        if cancellation is not None:
            raise cancellation

    async def add(self, quest: Quest[T]) -> Quest[T]:
        """Register `quest`, in place of any other of its name, and return it. Awaits nothing: see `start`.

        So there is no half-done add: a caller that is cancelled has either added the quest or not yet called.
        """
        return self.start(quest)

    def start(self, quest: Quest[T]) -> Quest[T]:
        """Register `quest` and return it, at once; what had its name is removed. From the event loop.

        Its `init` begins when nothing of its predecessors is left. Raises ManagerClosed, and wakes who waits for the
        quest, when the manager is closed; QuestRemoved when the quest has been removed; ValueError when a manager
        has it already.
        """
        if quest._removed:
            raise QuestRemoved(quest.name)
        if quest._leave is not None:
            raise ValueError(f"quest {quest.name!r} was added before; a quest lives once")
        if self._closed:
            quest.cancel()
            raise ManagerClosed(f"quest {quest.name!r} was refused: its manager is closed")
        self.discard(quest.name)
        self._current[quest.name] = quest
        quest._leave = self._left
        if quest.name not in self._living:
            self._begin(quest)
        return quest

    async def remove(self, name: str) -> None:
        """Remove the quest of that name, as `Quest.remove` does; returns when nothing under the name is left.

        What is added under the name meanwhile is not touched. Without such a quest it returns at once.
        """
        self.discard(name)
        if (quest := self._living.get(name)) is not None:
            await quest.remove()

    def discard(self, name: str) -> None:
        """Ask for the removal of the quest of that name, if there is one, and return at once. From the event loop."""
        if (quest := self._current.get(name)) is not None:
            quest.cancel()

    async def wait(self) -> None:
        """Return when all quests that are there now are over.

        Raises what they failed with, and what no earlier `wait` has raised: the exception itself if it is one, an
        ExceptionGroup if there are several. Waits may overlap: each hears of all the quests that it waited for. One
        that is cancelled takes no failure with it.
        """
        quests = [*self._living.values(), *self._current.values()]
        for quest in quests:
            await quest._over.wait()
        failed = dict.fromkeys([*self._failed, *quests])
        self._failed.clear()
        failures = [failure for quest in failed for failure in quest._failures]
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} failures of quests", failures)

    def _begin(self, quest: Quest[Any]) -> None:
        self._living[quest.name] = quest
        quest._begin(lambda: self._over(quest))

    def _left(self, quest: Quest[Any]) -> None:
        del self._current[quest.name]  # it is there: what takes a name removes what had it first

    def _over(self, quest: Quest[Any]) -> None:
        del self._living[quest.name]
        if quest._failures:
            self._failed.append(quest)
        if (successor := self._current.get(quest.name)) is not None:
            self._begin(successor)
