"""Servers that behave as they are told, on the clock of the event loop."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from appliance.simulation.clock import VirtualLoop
from appliance.thinking.choosing import TRIAL, Chooser
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.truststore import TrustStore

T = TypeVar("T")

CLOSING = 0.01
"""Seconds that a connection takes to close, however it ends."""

NEAR = 0.003
"""Seconds that a server of the house takes to answer."""

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Behaviour:
    """What a server does with a trial."""

    problem: Problem | None = None
    retry_after: float | None = None
    after: float = NEAR
    models: tuple[str, ...] = ("a model",)

    @property
    def works(self) -> bool:
        """Whether a trial would succeed."""
        return self.problem is None and self.after < TRIAL


WORKS = Behaviour()
REFUSES = Behaviour(Problem.BROKEN)
HANGS = Behaviour(after=math.inf)
BUSY = Behaviour(Problem.AT_CAPACITY)
LOADS = Behaviour(Problem.WARMING)
LOCKED = Behaviour(Problem.MISCONFIGURED)


@dataclass
class Trial:
    """One request for the models."""

    server: Server
    does: Behaviour
    began: float
    ended: float = math.nan
    """When its connection was closed."""


@dataclass
class Lan:
    """The servers that are known, and what they do; also everything that was asked of them."""

    servers: list[Server] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    most_at_once: Counter[str] = field(default_factory=Counter)
    on_trial: Callable[[Server], object] = lambda _: None
    _open: Counter[str] = field(default_factory=Counter)

    def add(self, *servers: Server, does: Behaviour = WORKS) -> None:
        """They are known from now on."""
        self.servers += servers
        self.tell(does, *servers)

    def tell(self, does: Behaviour, *servers: Server) -> None:
        """They behave like this from now on."""
        self.behaviours.update({server.url: does for server in servers})

    async def models(self, server: Server) -> list[str]:
        """As an LlmClient."""
        loop = asyncio.get_running_loop()
        does = self.behaviours.get(server.url, REFUSES)
        trial = Trial(server, does, loop.time())
        self.trials.append(trial)
        self.on_trial(server)
        self._open[server.url] += 1
        self.most_at_once[server.url] = max(self.most_at_once[server.url], self._open[server.url])
        try:
            await asyncio.sleep(min(does.after, 1e9))
            if does.problem:
                raise ServerError(does.problem, does.problem.value, does.retry_after)
            return list(does.models)
        finally:
            try:
                await asyncio.sleep(CLOSING)
            finally:
                self._open[server.url] -= 1
                trial.ended = loop.time()

    def tried(self, *servers: Server) -> list[float]:
        """When trials of them began."""
        return [trial.began for trial in self.trials if trial.server in servers]

    @property
    def open(self) -> int:
        """Connections."""
        return self._open.total()

    def chooser(self, trust: TrustStore, seed: int = 1) -> Chooser:
        """One that asks these servers."""
        return Chooser(self, lambda: list(self.servers), trust, Random(seed))  # noqa: S311


def a_server(name: str = "den", source: Source = Source.CONFIGURED, priority: int = 0, **properties: str) -> Server:
    """A server; its address follows from its name."""
    return Server(name, f"http://{name}.lan:8080/v1", source, priority, properties=properties)


def a_store(directory: Path) -> TrustStore:
    """What is trusted, in a directory, on a certain day."""
    return TrustStore(directory, lambda: NOW)


def run(main: Coroutine[Any, Any, T]) -> T:
    """On the virtual clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


@contextmanager
def in_background(chooser: Chooser) -> Iterator[None]:
    """Its trials in the background."""
    task = asyncio.ensure_future(chooser.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    while not condition():  # noqa: ASYNC110  on this clock that costs nothing
        await asyncio.sleep(0.005)


def clock() -> float:
    """Seconds on the clock of the loop."""
    return asyncio.get_running_loop().time()
