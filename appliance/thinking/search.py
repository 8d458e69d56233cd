"""How one question finds its server.

Rules:
1. At most TRIALS servers are tried in a round, one after the other; first those that this search has not tried yet.
2. What is busy or warming up is tried again in the next round, after a pause that grows and that it may lengthen. From
   the second round on the user waits, and is told.
3. What is benched is only tried when nothing else might work, and not if its last trial is fresh.
4. What cannot take the question is asked no more in this search, and nothing is wrong with it.
5. The search is over after ROUNDS rounds, or when nothing is left that might work, or not within LONGEST_PAUSE. What
   becomes of the servers after that is seen in the background.
"""

import asyncio
import math
from collections.abc import Callable, Sequence

from appliance.thinking.choosing import Chooser
from appliance.thinking.server import Problem, Server, ServerError
from appliance.thinking.standing import Standing

TRIALS = 3
ROUNDS = 5

FIRST_PAUSE = 0.05
GROWTH = 1.5
LONGEST_PAUSE = 1.0
"""Seconds between two rounds."""

_HOPE = (Problem.WARMING, Problem.AT_CAPACITY, Problem.BROKEN, Problem.MISCONFIGURED)
"""Of several problems the one that leaves most hope is told of."""


class NoServerError(Exception):
    """There is no server to ask now.

    `problem` is that of the most hopeful one, None if none is known; `detail` is one line for the owner; `retry_after`
    is in how many seconds a busy one wants to be asked again.
    """

    def __init__(self, problem: Problem | None, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail
        self.retry_after = retry_after


class Search:
    """Looks for a server for one question. Belongs to one task.

    `on_wait` is called when that takes more than a moment, once at most.
    """

    def __init__(self, chooser: Chooser, on_wait: Callable[[], None]) -> None:
        self._chooser = chooser
        self._on_wait = on_wait
        self._now = asyncio.get_running_loop().time
        self._round = 1
        self._pause = FIRST_PAUSE
        self._tried: set[str] = set()
        """URLs, in this round; a name may come and go meanwhile."""
        self._ever_tried: set[str] = set()
        self._unfit: set[str] = set()
        self._found: Server | None = None
        self.waiting_for: set[str] = set()
        """URLs of servers that are being asked, and are not found meanwhile."""
        chooser.rouse()

    async def find_instance(self) -> Server:
        """A server that has just proved itself; after `failed`, the next one. Raises NoServerError."""
        while True:
            while (server := self._next()) is not None:
                self._tried.add(server.url)
                self._ever_tried.add(server.url)
                if await self._chooser.proves_itself(server):
                    self._found = server
                    return server
            await self._next_round()

    def answered(self, server: Server | None = None) -> None:
        """The server, or else the one that was found last, answers: something of the reply is there."""
        if server := server or self._found:
            self._chooser.answered(server)

    def failed(self, error: ServerError, server: Server | None = None) -> None:
        """The server, or else the one that was found last, did not answer, or not to the end."""
        if server := server or self._found:
            if error.problem is Problem.TOO_LONG:
                self._unfit.add(server.url)
            self._chooser.failed(server, error)

    def _next(self) -> Server | None:
        if len(self._tried) == TRIALS:
            return None
        now, candidates = self._now(), self._candidates()
        if any(each.works for each in candidates):
            fit = [each.server for each in candidates if each.hopeful(now)]
        else:
            fit = [each.server for each in candidates if each.stale(now)]
        fit.sort(key=lambda server: server.url in self._ever_tried)  # lest three busy ones hide a fourth
        return next((server for server in fit if server.url not in self._tried), None)

    def _candidates(self) -> list[Standing]:
        out = self._unfit | self.waiting_for
        return [each for each in self._chooser.candidates() if each.server.url not in out]

    async def _next_round(self) -> None:
        candidates = self._candidates()
        waits = [each.wait(self._now()) for each in candidates if each.works]
        pause = max(self._pause, min(waits, default=math.inf))
        if self._round == ROUNDS or pause > LONGEST_PAUSE:
            raise _none(candidates, self._now())
        if self._round == 1:
            self._on_wait()
        await asyncio.sleep(pause)
        self._round += 1
        self._pause = min(self._pause * GROWTH, LONGEST_PAUSE)
        self._tried.clear()


def _none(candidates: Sequence[Standing], now: float) -> NoServerError:
    missed = [each for each in candidates if not each.was_only_a_guess]
    problems = [problem for problem in _HOPE if any(each.problem is problem for each in missed)]
    if not problems:
        return NoServerError(None, "no server is known that may be asked")
    details = [f"{each.server.name} {each.detail}" for each in missed if each.problem is not None]
    wait = min((each.wait(now) for each in missed if each.passing), default=0.0)
    return NoServerError(problems[0], "; ".join(details), wait or None)
