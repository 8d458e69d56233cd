"""A cache of what is asked of the network.

Rules:
- For one key there is one lookup at a time; who asks meanwhile waits for it.
- An answer is good for FLOOR seconds, or for as long as it says, if that is longer; so is a failure, for FLOOR.
- A lookup belongs to nobody who waits: whoever is cancelled leaves it, and the others, as they are.
- After `forget`, no answer is given of a lookup that began before.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

FLOOR = 0.5
"""Seconds that an answer is good for at least."""

CEILING = 3600.0
"""Seconds after which it is asked again, however long the answer says that it is good."""


class Unanswered(Exception):  # noqa: N818  it need not be an error
    """The network did not say, neither yes nor no."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[V]):
    """What was found, and for how many seconds that is so."""

    value: V
    ttl: float


class Cache(Generic[K, V]):
    """Answers of `look_up`, which may raise Unanswered. Belongs to one event loop."""

    def __init__(self, look_up: Callable[[K], Coroutine[None, None, Answer[V]]]) -> None:
        self._look_up = look_up
        self._lookups: dict[K, _Lookup[V]] = {}

    async def get(self, key: K) -> V:
        """What is known of `key`, or as soon as it is known. Unanswered: it is not to be found out now."""
        while True:
            lookup = self._lookups.get(key)
            if lookup is None or lookup.is_over():
                self._lookups = {key: each for key, each in self._lookups.items() if not each.is_over()}
                lookup = self._lookups[key] = _Lookup(self._look_up(key))
            await asyncio.wait({lookup.task})
            if not lookup.forgotten:
                if lookup.task.cancelled():
                    raise Unanswered("it was given up")
                return lookup.task.result().value

    def forget(self) -> None:
        """What was true may be so no longer: the network is another one."""
        for lookup in self._lookups.values():
            lookup.forgotten = True

    async def close(self) -> None:
        """Give up what is still being asked; who waits for it gets Unanswered."""
        tasks = [lookup.task for lookup in self._lookups.values() if not lookup.task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class _Lookup(Generic[V]):
    def __init__(self, asking: Coroutine[None, None, Answer[V]]) -> None:
        self.task = asyncio.create_task(asking)
        self.task.add_done_callback(self._note)
        self.forgotten = False
        self._good_until = 0.0

    def is_over(self) -> bool:
        """Whether it has to be asked again."""
        return self.task.done() and (self.forgotten or self.task.get_loop().time() >= self._good_until)

    def _note(self, task: asyncio.Task[Answer[V]]) -> None:
        failed = task.cancelled() or task.exception() is not None  # which nobody else may look at
        ttl = 0.0 if failed else task.result().ttl
        self._good_until = task.get_loop().time() + min(max(ttl, FLOOR), CEILING)
