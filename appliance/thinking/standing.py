"""What is known of one server from asking it. Pure: the time comes in, in seconds on any one clock.

A *trial* asks whether it is there (`/models`); *use* is a real question to it. Use knows better, so what it says is not
taken back by the next trial: llama.cpp says that all is well while it loads, and a hung graphics card lists its models.
What takes it back is the passing of the time that it was given, or a change: a server that was down since, or that has
other models now.
"""

import math
from dataclasses import dataclass, replace
from enum import Enum

from appliance.thinking.server import Problem, Server, ServerError, Source

FIRST_BENCH = 1.0
LONGEST_BENCH = 60.0
"""Seconds that a server which fails in use is left alone: twice as long each time, until it answers again."""

LOADING = 60.0
"""Seconds that a server is shown as warming up after it said so in use. It is asked again all the same."""

EVERY = 1.0
SELDOM = 60.0
SLOWING = 60.0
"""In the background a server is tried again after a 60th of the time since it was last likely to be needed: every
second for a minute, once a minute after an hour. A refused connection costs a millisecond and two packets."""

FRESH = 2.0
"""Seconds that a failed trial is believed where there is nothing else to try, so that a server which has come back is
never missed for longer, and a dead one does not hold up each question."""

_PASSING = {Problem.AT_CAPACITY, Problem.WARMING}


class State(Enum):
    """How a server is, for people."""

    UNTRIED = "not tried yet"
    READY = "ready"
    BUSY = "busy"
    WARMING = "warming up"
    BENCHED = "benched"
    MISCONFIGURED = "misconfigured"


_STATES = {
    Problem.AT_CAPACITY: State.BUSY,
    Problem.WARMING: State.WARMING,
    Problem.BROKEN: State.BENCHED,
    Problem.MISCONFIGURED: State.MISCONFIGURED,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """What trials and use have shown of `server`, as it is now: another address or other properties begin anew."""

    server: Server
    tried: float = -math.inf
    """When the last trial that came to an end began."""
    problem: Problem | None = None
    detail: str = ""
    until: float = -math.inf
    """When it may be asked again, if its problem passes by itself."""
    stands: float = -math.inf
    """Until when no trial takes the problem back."""
    failures: int = 0
    """In use, since it last answered."""
    models: frozenset[str] | None = None
    """What it had at its last trial; None when it has never proved itself."""

    def proved(self, began: float, now: float, models: frozenset[str]) -> "Standing":
        """A trial that began at `began` has succeeded."""
        changed = self.problem is Problem.MISCONFIGURED and models != self.models
        if now < self.stands and not changed:
            return replace(self, tried=began, models=models)
        return replace(self, tried=began, models=models, problem=None, detail="", stands=-math.inf)

    def failed_trial(self, began: float, now: float, error: ServerError) -> "Standing":
        """A trial that began at `began` has failed."""
        return replace(self._failed(now, error), tried=began, stands=-math.inf)

    def failed_use(self, now: float, error: ServerError) -> "Standing":
        """A question to it has failed."""
        after = self._failed(now, error)
        match error.problem:
            case Problem.BROKEN:
                bench = now + min(FIRST_BENCH * 2.0 ** min(self.failures, 10), LONGEST_BENCH)
                return replace(after, failures=self.failures + 1, until=bench, stands=bench)
            case Problem.WARMING:
                return replace(after, stands=now + LOADING)
            case Problem.AT_CAPACITY:
                return replace(after, stands=after.until)
            case Problem.MISCONFIGURED:
                return replace(after, stands=now + SELDOM)  # a key that was put right cannot be seen otherwise
            case Problem.TOO_LONG:
                return self

    def answered(self) -> "Standing":
        """A question to it is being answered."""
        return replace(self, problem=None, detail="", stands=-math.inf, failures=0)

    def _failed(self, now: float, error: ServerError) -> "Standing":
        wait = min(error.retry_after or 0.0, SELDOM) if error.problem in _PASSING else 0.0
        # A trial tells nothing that could be too long.
        problem = Problem.BROKEN if error.problem is Problem.TOO_LONG else error.problem
        return replace(self, problem=problem, detail=error.detail, until=now + wait)

    @property
    def passing(self) -> bool:
        """Whether it has a problem that passes by itself."""
        return self.problem in _PASSING

    @property
    def from_use(self) -> bool:
        """Whether its problem was found in use, so that a trial knows no better."""
        return self.stands > -math.inf

    @property
    def works(self) -> bool:
        """Whether it may be asked, now or soon."""
        return self.problem is None or self.passing

    def hopeful(self, now: float) -> bool:
        """Whether it may be asked now."""
        return self.works and not self.wait(now)

    def wait(self, now: float) -> float:
        """Seconds until it may be asked, if it works."""
        return max(self.until - now, 0.0) if self.passing else 0.0

    def stale(self, now: float) -> bool:
        """Whether it is benched, and that for long enough that it may have come back."""
        return self.problem is Problem.BROKEN and now >= self.tried + FRESH

    @property
    def was_only_a_guess(self) -> bool:
        """Whether nobody has said that it is there, and it never was; so nobody misses it."""
        return self.server.source is Source.LOCAL and self.models is None and not self.passing

    def due(self, needed: float) -> float:
        """When it is to be tried in the background, if it was last likely to be needed at `needed`."""
        if self.problem is None:
            return -math.inf if self.models is None else math.inf
        if self.problem is Problem.MISCONFIGURED:
            over = self.stands if self.stands > self.tried else math.inf
            return min(self.tried + SELDOM, over)  # no hurry: whoever mends it knows, but cannot tell us
        pause = min(max((self.tried - needed) / SLOWING, EVERY), SELDOM)
        return max(self.tried + pause, self.until)

    @property
    def state(self) -> State:
        """How it is, for people."""
        if self.problem is not None:
            return _STATES[self.problem]
        return State.UNTRIED if self.models is None else State.READY
