"""A sound card on a clock that the test moves on, exact to the sample: what it holds, drops, and has played."""

import numpy as np

from appliance.audio.devices import Samples, Source

RATE = 1024  # so that times are exact
PARTS = 4
"""Ticks of the clock in a sample: things happen between samples too."""

LAST = 64
"""Blocks among which are all that a card holds."""


class Clock:
    """Time that moves when it is told to."""

    def __init__(self) -> None:
        self.ticks = 5 * RATE * PARTS

    def __call__(self) -> float:
        """Seconds."""
        return self.ticks / (RATE * PARTS)

    def move(self, ticks: int) -> None:
        """Let time go by."""
        self.ticks += ticks


class Card:
    """Pulls when it is told to, ahead of time: what it pulls sounds after what it holds, `latency` ticks from now."""

    def __init__(self, source: Source, clock: Clock, latency: int) -> None:
        self._source = source
        self._clock = clock
        self._latency = latency
        self._blocks: list[tuple[int, Samples]] = []
        self._until = 0
        self._pulled = 0

    @property
    def held(self) -> int:
        """For how many ticks it can play without another pull."""
        return max(0, self._until - self._clock.ticks)

    def pull(self, count: int) -> Samples | None:
        """Ask the source for a block, or drop what is held, as it wishes. What it said."""
        self._pulled = self._clock.ticks
        at = max(self._until, self._pulled + self._latency)
        samples = self._source.pull(count, at / (RATE * PARTS))
        if samples is None:
            self._drop(self._clock.ticks)
        else:
            self._blocks.append((at, samples))
            self._until = at + PARTS * count
        return samples

    def vanish(self) -> None:
        """It was unplugged right after its last pull. It is to be plugged in again for the next."""
        self._drop(self._pulled)

    def sounded(self) -> list[float]:
        """What has sounded to its end until now, without the silence."""
        now = self._clock.ticks
        return [float(each) for at, samples in self._blocks for each in samples[: _whole(at, now)] if each]

    def coming(self) -> Samples:
        """What is held, and will sound."""
        blocks = (samples[_whole(at, self._clock.ticks) :] for at, samples in self._blocks[-LAST:])
        return np.concatenate([np.zeros(0, np.float32), *blocks])

    def _drop(self, now: int) -> None:
        self._blocks = [(at, samples[: _whole(at, now)]) for at, samples in self._blocks]
        self._until = now


def _whole(at: int, now: int) -> int:
    """How many samples have sounded at `now`, since `at`."""
    return max(0, now - at) // PARTS
