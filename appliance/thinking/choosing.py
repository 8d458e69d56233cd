"""Which server is asked: one that is trusted and has just proved itself, by precedence, and by chance among equals.

Rules:
1. A trial asks a server what models it has, and takes TRIAL seconds at most. It is over, and its connection closed,
   before the next one begins; those who want the same one at once share it.
2. What is broken is benched. In the background it is tried every second as long as it is likely to be needed, and then
   less and less often; so is what is busy or warming up. What is new is tried there at once.
3. What is misconfigured is reported once, and left alone until it has changed, or for a minute.
4. A question under way is nobody's here: whatever is found out about its server meanwhile, it goes on.
5. How one question finds its server is in `search`.
"""

import asyncio
import logging
import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Protocol

from appliance.thinking.discovery.order import draw_order
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.sharing import Shared
from appliance.thinking.standing import Standing, State
from appliance.thinking.trust import Known, Verdict, explain, seniority, verdict
from appliance.thinking.truststore import TrustStore

_log = logging.getLogger(__name__)

TRIAL = 0.5
"""Seconds for connecting and proving itself."""

STRANGERS = 20
"""Servers that are not trusted and are logged, lest somebody on the LAN fill the log."""

Key = tuple[Source, str, str]
"""Source, name and address."""


class Client(Protocol):
    """Who talks to servers."""

    async def models(self, server: Server) -> list[str]:
        """The models that it has. Raises ServerError; when it is cancelled, nothing is left of the connection."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A server that is known, for people."""

    server: Server
    verdict: Verdict
    state: State
    why: str
    next_try: float | None
    """In how many seconds it is tried in the background."""


class Chooser:
    """Knows how each server stands. Made and used in the event loop, except for `sights`.

    `servers` gives those that are known now; `doubt` is told of one that turns out to be broken, each time.
    """

    def __init__(
        self,
        client: Client,
        servers: Callable[[], Sequence[Server]],
        trust: TrustStore,
        random: Random,
        doubt: Callable[[Server], object] = lambda _: None,
    ) -> None:
        self._client = client
        self._servers = servers
        self._trust = trust
        self._random = random
        self._doubt = doubt
        self._loop = asyncio.get_running_loop()
        self._standings: dict[Key, Standing] = {}
        self._trials: Shared[Key, bool] = Shared()
        self._needed = self._loop.time()
        self._roused = asyncio.Event()
        self._reported: set[Key] = set()
        self._strangers: set[Key] = set()

    def rouse(self) -> None:
        """Somebody is about to ask, or other servers are known than before: see at once who is there."""
        self._needed = self._loop.time()
        self._roused.set()

    async def run(self) -> None:
        """The trials in the background, until it is cancelled. Sleeps while there is nothing to try."""
        while True:
            self._roused.clear()
            candidates = self.candidates()
            due = [each.server for each in candidates if each.due(self._needed) <= self._loop.time()]
            if due:
                async with asyncio.TaskGroup() as trials:
                    for server in due:
                        trials.create_task(self.proves_itself(server))
                continue
            until = min((each.due(self._needed) for each in candidates), default=math.inf)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until if math.isfinite(until) else None):
                    await self._roused.wait()

    def sights(self) -> list[Sight]:
        """All servers that are known, and how they stand; one that has several names, by that by which it is asked.

        From any thread.
        """
        known = self._trust.known()
        standings = list(self._standings.values())
        asked = _by_url(each for each in standings if verdict(each.server, known).allowed)
        return [
            self._sight(each, known)
            for each in standings
            if asked.get(each.server.url, each) is each or not verdict(each.server, known).allowed
        ]

    def candidates(self) -> list[Standing]:
        """Those that may be tried, in the order for one asking; of those that may become the first one, only one."""
        self._look()
        known = self._trust.known()
        allowed: list[Standing] = []
        first: list[Standing] = []
        strangers: list[Standing] = []
        for standing in self._standings.values():
            said = verdict(standing.server, known)
            of_its_kind = first if said is Verdict.FIRST else allowed if said.allowed else strangers
            of_its_kind.append(standing)
        if first:
            allowed.append(min(first, key=_turn))
        by_url = _by_url(allowed)
        for standing in strangers:
            if standing.server.url not in by_url:  # else it is one of these by another name
                self._report_stranger(standing.server, explain(standing.server, known))
        order = draw_order((standing.server for standing in by_url.values()), self._random)
        return [by_url[server.url] for server in order]

    async def proves_itself(self, server: Server) -> bool:
        """Whether it answers a trial, and may be asked."""
        answers = await self._trials.get(key_of(server), lambda: self._try(server))
        self._look()
        return answers and key_of(server) in self._standings and verdict(server, self._trust.known()).trusted

    def answered(self, server: Server) -> None:
        """It answers a question."""
        self._reported.discard(key_of(server))
        self._note(server, Standing.answered)

    def failed(self, server: Server, error: ServerError) -> None:
        """It did not answer a question, or not to the end."""
        self._note(server, lambda standing: standing.failed_use(self._loop.time(), error))

    def _look(self) -> None:
        found = {key_of(server): server for server in self._servers()}
        for key in self._standings.keys() - found.keys():
            del self._standings[key]
        for key, server in found.items():
            if key not in self._standings or self._standings[key].server != server:
                self._standings[key] = Standing(server)

    def _sight(self, standing: Standing, known: Known) -> Sight:
        server = standing.server
        said = verdict(server, known)
        if not said.allowed:
            return Sight(server, said, standing.state, explain(server, known), None)
        wait = max(standing.due(self._needed) - self._loop.time(), 0.0)
        return Sight(server, said, standing.state, standing.detail, wait if math.isfinite(wait) else None)

    async def _try(self, server: Server) -> bool:
        began = self._loop.time()
        try:
            async with asyncio.timeout(TRIAL):
                models = frozenset(await self._models(server))
        except TimeoutError:
            error = ServerError(Problem.BROKEN, f"does not answer within {TRIAL:g} s")
        except ServerError as told:
            error = told
        except Exception as fault:  # noqa: BLE001  the next one may be one that works
            error = ServerError(Problem.BROKEN, f"cannot be tried: {fault!r}")
            if key_of(server) in self._standings and self._standings[key_of(server)].works:  # not every second
                _log.exception("the trial of %s (%s) failed", server.name, server.url)
        else:
            self._note(server, lambda standing: standing.proved(began, self._loop.time(), models))
            if not self._trust.has_met(server):
                await asyncio.to_thread(self._trust.meet, server)
            return True
        self._note(server, lambda standing: standing.failed_trial(began, self._loop.time(), error))
        if error.problem is Problem.BROKEN:
            self._doubt(server)
        return False

    async def _models(self, server: Server) -> list[str]:
        models = await self._client.models(server)
        if not models and not server.model:
            raise ServerError(Problem.MISCONFIGURED, "has no model")
        return models

    def _note(self, server: Server, change: Callable[[Standing], Standing]) -> None:
        """Change how `server` stands, unless it is no longer known, or another one by now."""
        key = key_of(server)
        standing = self._standings.get(key)
        if standing is None or standing.server != server:
            return
        before, standing = standing, change(standing)
        self._standings[key] = standing
        self._roused.set()  # it may be due now
        if standing.problem is None and before.problem is Problem.MISCONFIGURED and not before.from_use:
            self._reported.discard(key)
        misconfigured = standing.problem is Problem.MISCONFIGURED and not standing.was_only_a_guess
        if misconfigured and key not in self._reported:
            self._reported.add(key)
            _log.error("%s (%s) %s: it is not used until that changes", server.name, server.url, standing.detail)

    def _report_stranger(self, server: Server, why: str) -> None:
        if key_of(server) not in self._strangers and len(self._strangers) < STRANGERS:
            self._strangers.add(key_of(server))
            how = f"appliance llm trust {shlex.quote(server.name)}"
            _log.warning("%s (%s) was found and is not used: %s. To use it: %s", server.name, server.url, why, how)


def key_of(server: Server) -> Key:
    """What one standing is of."""
    return server.source, server.name, server.url


def _by_url(standings: Iterable[Standing]) -> dict[str, Standing]:
    """Each server once, by the name that comes first; only of those that may be asked, lest another name hide one."""
    by_url: dict[str, Standing] = {}
    for standing in sorted(standings, key=lambda standing: seniority(standing.server)[:4]):
        by_url.setdefault(standing.server.url, standing)
    return by_url


def _turn(standing: Standing) -> tuple[object, ...]:
    """Which of those that may become the first one gets its turn: the eldest, or the one that has waited longest."""
    misconfigured = standing.problem is Problem.MISCONFIGURED
    return not standing.works, misconfigured, 0.0 if standing.works else standing.tried, seniority(standing.server)
