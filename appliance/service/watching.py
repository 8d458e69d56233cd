"""Tells whoever watches what happens, as lines of JSON. Nothing is kept, so words end where they were shown.

A watcher that is slow loses lines, and is told how many; it holds up nobody. While nobody watches this costs nothing.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
import numpy as np
import numpy.typing as npt

from appliance.core.effects import Report
from appliance.core.turn import Phase

MOST = 200
"""Lines that wait for a watcher: 20 seconds of levels."""

LEVEL = 1600
"""Samples to a line about how loud it is: a tenth of a second."""

_SILENCE = 1e-5
"""The level that no microphone is below, so that silence has a number too."""


class Lines:
    """What one watcher has not taken yet. Put in from any thread, taken out in the event loop that it was made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._lost = 0
        self._filled = asyncio.Event()

    def put(self, line: bytes) -> None:
        """One more; the oldest is lost when there are too many. Never waits."""
        with self._lock:
            if len(self._lines) == MOST:
                self._lines.popleft()
                self._lost += 1
            self._lines.append(line)
            if len(self._lines) == 1:
                self._loop.call_soon_threadsafe(self._filled.set)

    async def take(self) -> bytes:
        """All that there are, and at least one."""
        await self._filled.wait()
        with self._lock:
            lines, lost = b"".join(self._lines), self._lost
            self._lines.clear()
            self._lost = 0
            self._filled.clear()
        return _line({"kind": "lost", "lines": lost}) + lines if lost else lines


class Watchers:
    """An observer for all who watch. What it is told in the event loop, and hears in the microphone's thread, they get.

    `now` is the wall-clock time, in seconds since 1970.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._watching: list[Lines] = []
        self._phase = Phase.IDLE
        self._count = 0
        self._squares = 0.0
        self._peak = 0.0
        self._scores: dict[str, float] = {}

    @contextmanager
    def joined(self) -> Iterator[Lines]:
        """All that happens from now on, until the end of the block. In the event loop that takes it."""
        lines = Lines()
        with self._lock:
            lines.put(self._phase_line())
            self._watching.append(lines)
        try:
            yield lines
        finally:
            with self._lock:
                self._watching.remove(lines)

    def report(self, report: Report) -> None:
        """A line of the conversation."""
        if self._watching:
            self._tell(self._stamped(report.kind, generation=report.generation, **report.data))

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        self._phase = phase
        if self._watching:
            self._tell(self._phase_line())

    def hear(self, samples: npt.NDArray[np.float32], scores: Mapping[str, float]) -> None:
        """What the microphone hears, and the scores of the wake words that came with it. From one thread."""
        if not self._watching or not len(samples):
            return
        self._count += len(samples)
        self._squares += float(np.dot(samples, samples))
        self._peak = max(self._peak, float(np.abs(samples).max()))
        self._scores = {word: max(score, self._scores.get(word, 0.0)) for word, score in scores.items()}
        if self._count >= LEVEL:
            loudness = math.sqrt(self._squares / self._count)
            best = {word: round(score, 3) for word, score in self._scores.items()}
            self._tell(self._stamped("level", rms=_decibels(loudness), peak=_decibels(self._peak), scores=best))
            self._count, self._squares, self._peak, self._scores = 0, 0.0, 0.0, {}

    def _phase_line(self) -> bytes:
        return self._stamped("phase", phase=self._phase.value)

    def _stamped(self, kind: str, **data: object) -> bytes:
        return _line({"kind": kind, "at": round(self._now(), 3), **data})

    def _tell(self, line: bytes) -> None:
        with self._lock:
            for lines in self._watching:
                lines.put(line)


def _line(content: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def _decibels(level: float) -> float:
    return round(20 * math.log10(max(level, _SILENCE)), 1)
