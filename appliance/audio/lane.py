"""The playback queue of one generation, which any thread can silence at once.

What is made for an older generation cannot get in, whenever it comes; what is hushed never gets out.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from appliance.audio.devices import Samples
from appliance.core.events import ReplyEnded, ReplyStarted

FADE = 0.005
"""Seconds in which the sound of a reply that is cut goes down to nothing, so that there is no click."""

PROGRESS = 0.25
"""Seconds of a reply that are used up between two calls of `on_progress`."""


@dataclass(slots=True)
class _Reply:
    generation: int
    chunks: deque[Samples] = field(default_factory=deque)
    queued: int = 0
    played: int = 0
    finished: bool = False
    sounding: bool = False
    """The last sample that the speaker got was one of this reply."""
    until: float = 0.0
    """When its last sample so far has sounded."""

    def take(self, into: Samples) -> int:
        """Move samples to the beginning of `into`; how many there were for it."""
        taken = 0
        while self.chunks and taken < len(into):
            chunk = self.chunks.popleft()
            part = chunk[: len(into) - taken]
            into[taken : taken + len(part)] = part
            taken += len(part)
            if len(part) < len(chunk):
                self.chunks.appendleft(chunk[len(part) :])
        self.queued -= taken
        self.played += taken
        return taken


class Lane:
    """A `Source` with one reply at a time, and silence in between. All methods are quick, and for any thread.

    `report` gets a ReplyStarted with the first sample of a generation, and one ReplyEnded for every generation that was
    opened: with its last sample, or from whoever cuts it, so that it ends even if the speaker does not pull any more.
    What is cut before it sounded ends at 0 seconds. Times are on the clock that the speaker pulls with; before its
    first pull they are 0. `on_progress` is called when more of a reply was used up, and when it is over. Both are
    called in order, one at a time, without the lock, from a thread that is at work here.
    """

    def __init__(
        self,
        rate: int,
        report: Callable[[ReplyStarted | ReplyEnded], None],
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        self.rate = rate
        self._report = report
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._newest: int | None = None
        self._reply: _Reply | None = None
        self._fade: Samples = np.zeros(0, np.float32)
        self._pulled_until = 0.0
        self._outbox: deque[Callable[[], None]] = deque()
        self._telling = False

    def open(self, generation: int) -> bool:
        """Make this the current reply; one that is not over is cut. False: it, or a later one, was opened before."""
        with self._lock:
            if self._newest is not None and generation <= self._newest:
                return False
            self._newest = generation
            if self._reply is not None:
                self._cut(self._reply)
            self._reply = _Reply(generation)
        self._tell()
        return True

    def put(self, generation: int, samples: Samples) -> bool:
        """Queue samples, which must not be changed afterwards. False, and dropped: this reply is over, or finished."""
        with self._lock:
            reply = self._current(generation)
            if reply is None or reply.finished:
                return False
            reply.chunks.append(samples)
            reply.queued += len(samples)
            return True

    def finish(self, generation: int) -> None:
        """No more will come: the reply has ended when its last sample was pulled."""
        with self._lock:
            reply = self._current(generation)
            if reply is not None:
                reply.finished = True
                self._end_if_played(reply)
        self._tell()

    def hush(self, generation: int | None = None) -> bool:
        """Silence the current reply: nothing of it is pulled any more but a fade of its very next samples.

        False, and nothing sounded: there is none, or it is not `generation`; which cannot be opened any more either.
        """
        with self._lock:
            if generation is not None and (self._newest is None or generation > self._newest):
                self._newest = generation
            reply = self._reply if generation is None else self._current(generation)
            if reply is None:
                return False
            self._cut(reply)
        self._tell()
        return True

    def queued(self, generation: int) -> float:
        """Seconds of this reply that are still to be pulled; 0 when it is over."""
        with self._lock:
            reply = self._current(generation)
            return 0.0 if reply is None else reply.queued / self.rate

    def pull(self, count: int, at: float) -> Samples:
        """Exactly `count` samples, the first of which will sound at `at`."""
        samples = np.zeros(count, np.float32)
        with self._lock:
            filled = min(count, len(self._fade))
            samples[:filled] = self._fade[:filled]
            self._fade = self._fade[filled:]
            self._pulled_until = at + count / self.rate
            if self._reply is not None:
                self._play(self._reply, samples[filled:], at + filled / self.rate)
        self._tell()
        return samples

    def _current(self, generation: int) -> _Reply | None:
        reply = self._reply
        return reply if reply is not None and reply.generation == generation else None

    def _play(self, reply: _Reply, into: Samples, at: float) -> None:
        before = reply.played
        taken = reply.take(into)
        reply.sounding = 0 < taken == len(into)
        if not taken:
            return
        if not before:
            self._outbox.append(partial(self._report, ReplyStarted(reply.generation, at)))
        reply.until = at + taken / self.rate
        step = PROGRESS * self.rate
        if reply.played // step > before // step:
            self._outbox.append(self._on_progress)
        self._end_if_played(reply)

    def _cut(self, reply: _Reply) -> None:
        if reply.sounding:
            fade = np.zeros(round(FADE * self.rate), np.float32)
            taken = reply.take(fade)
            self._fade = fade[:taken] * np.linspace(1, 0, taken + 2, dtype=np.float32)[1:-1]
            reply.until = self._pulled_until + taken / self.rate
        self._end(reply, cut=True)

    def _end_if_played(self, reply: _Reply) -> None:
        if reply.finished and not reply.queued:
            self._end(reply, cut=False)

    def _end(self, reply: _Reply, *, cut: bool) -> None:
        at = reply.until if reply.played else self._pulled_until
        ended = ReplyEnded(reply.generation, at, reply.played / self.rate, cut)
        self._outbox += (partial(self._report, ended), self._on_progress)
        self._reply = None

    def _tell(self) -> None:
        """Call what was noted under the lock. Whoever finds another thread at it leaves the rest to that one."""
        while True:
            with self._lock:
                if self._telling or not self._outbox:
                    return
                self._telling = True
                tell = self._outbox.popleft()
            try:
                tell()
            finally:
                with self._lock:
                    self._telling = False
