"""The samples of one reply: what is still to come, what the card has in hand, and what has sounded."""

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from appliance.audio.devices import Samples
from appliance.core.interruption import SpokenClause

_ROUNDING = 1e-3
"""Share of a sample by which times may be off, after months; without it one that has just sounded might not count."""


@dataclass(frozen=True, slots=True)
class _Handed:
    """A stretch that the card has got, and when its first sample sounds."""

    at: float
    samples: Samples


class Track:
    """Not for several threads at once: the lane holds a lock. Times in seconds, on the clock of `take`."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._coming: deque[Samples] = deque()
        self._handed: deque[_Handed] = deque()
        self._sounded = 0
        self._clauses: list[tuple[str, int]] = []
        self.made = 0
        """How many samples there have been in all."""
        self.queued = 0
        """How many of them are still to be taken."""
        self.until = -math.inf
        """When the last sample that was taken has sounded."""

    def clause(self, text: str) -> None:
        """What is put from here on says `text`."""
        self._clauses.append((text, self.made))

    def put(self, samples: Samples) -> None:
        """Queue samples, which nobody changes any more."""
        self._coming.append(samples)
        self.queued += len(samples)
        self.made += len(samples)

    def take(self, into: Samples, at: float) -> int:
        """Move samples to the beginning of `into`, whose first one sounds at `at`; how many there were for it."""
        taken = self._copy(into)
        left = taken
        while left:
            chunk = self._coming.popleft()
            if len(chunk) > left:
                self._coming.appendleft(chunk[left:])
            left -= min(left, len(chunk))
        if taken:
            self.queued -= taken
            self.until = at + taken / self._rate
            self._handed.append(_Handed(at, into[:taken].copy()))
        return taken

    def peek(self, count: int) -> Samples:
        """The next samples, at most `count`, which stay where they are."""
        samples = np.zeros(count, np.float32)
        return samples[: self._copy(samples)]

    def played(self, now: float) -> int:
        """How many samples have sounded until `now`."""
        while self._handed and self._end(self._handed[0]) <= now + _ROUNDING / self._rate:
            self._sounded += len(self._handed.popleft().samples)
        return self._sounded + (self._of(self._handed[0], now) if self._handed else 0)

    def rewind(self, now: float) -> None:
        """What was taken and has not sounded until `now` never will: the card dropped it. It is to be taken again."""
        played = self.played(now)
        back = np.concatenate([np.zeros(0, np.float32), *(each.samples for each in self._handed)])
        back = back[played - self._sounded :]
        self._sounded = played
        self._handed.clear()
        self.until = min(self.until, now)
        if len(back):
            self._coming.appendleft(back)
            self.queued += len(back)

    def clauses(self) -> tuple[SpokenClause, ...]:
        """Which samples say which text, as far as they are made."""
        begins = [*(begin for _, begin in self._clauses), self.made]
        return tuple(
            SpokenClause(text, begin, end) for (text, begin), end in zip(self._clauses, begins[1:], strict=True)
        )

    def _copy(self, into: Samples) -> int:
        copied = 0
        for chunk in self._coming:
            part = chunk[: len(into) - copied]
            into[copied : copied + len(part)] = part
            copied += len(part)
            if copied == len(into):
                break
        return copied

    def _end(self, handed: _Handed) -> float:
        return handed.at + len(handed.samples) / self._rate

    def _of(self, handed: _Handed, now: float) -> int:
        return min(max(math.floor((now - handed.at) * self._rate + _ROUNDING), 0), len(handed.samples))
