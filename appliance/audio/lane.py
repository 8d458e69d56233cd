"""The playback queue of one generation, which any thread can silence at once.

Rules:
- A turn begins with a generation of its own (`begin_turn`). From when its response is asked for (`expect`) until that
  is over, a hush cancels it; at any other time a hush does nothing and moves nothing.
- Cancelling moves the generation on under the lock, in the thread that calls. What is stale cannot be opened, put,
  finished or resumed, whenever it comes, and what was hushed is never pulled again.
- What the card still holds is dropped at its next pull, where the card can do that. One that cannot gets a short fade.
- What has sounded is counted by the times at which the card plays what it pulled, and ends with the drop.
- A reply that is paused stays where the listener heard it stop, and goes on from that very sample. So does one whose
  card is lost.
"""

import math
import threading
from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np

from appliance.audio.devices import Samples
from appliance.audio.track import Track
from appliance.core.cancel import CancelScope
from appliance.core.events import ReplyEnded, ReplyStarted
from appliance.core.interruption import SpokenClause

FADE = 0.005
"""Seconds in which a reply that is cut goes down to nothing, and one that goes on comes up, so that nothing clicks."""

PROGRESS = 0.25
"""Seconds of a reply that are used up between two calls of `on_progress`."""


class _Reply:
    def __init__(self, generation: int, rate: int, *, pausable: bool) -> None:
        self.generation = generation
        self.pausable = pausable
        self.track = Track(rate)
        self.finished = False
        self.paused = False
        self.flowing = False
        """The last sample that the card got was one of this reply."""
        self.rising = 0
        """How many samples are still to come up after a pause."""
        self.begins: float | None = None
        """When its first sample sounds."""
        self.told = False
        """Whether its start was reported."""


class Lane:
    """A `Source` with one reply at a time, and silence in between. All methods are quick, and for any thread.

    `report` gets a ReplyStarted once the first sample of a reply has sounded, and one ReplyEnded for every reply that
    was opened: when its last sample has sounded, or when it was cut and the card has dropped the rest. Times are in
    seconds of `clock`, which is also the one that the card pulls with. `on_progress` is called when more of a reply was
    used up, and when it is over. Both are called in order, one at a time, without the lock, from a thread that is at
    work here. `drops`: the card drops what it holds when `pull` gives None.
    """

    def __init__(
        self,
        rate: int,
        report: Callable[[ReplyStarted | ReplyEnded], None],
        clock: Callable[[], float],
        on_progress: Callable[[], None] = lambda: None,
        *,
        drops: bool = False,
    ) -> None:
        self.rate = rate
        self._report = report
        self._clock = clock
        self._on_progress = on_progress
        self._drops = drops
        self._lock = threading.Lock()
        self._scope = CancelScope()
        self._turn = 0
        self._expected = False
        self._opened = 0
        self._reply: _Reply | None = None
        self._hushed: _Reply | None = None
        """What the card still has to drop. It pulls nothing of another reply before, so there is never more."""
        self._fade: Samples = np.zeros(0, np.float32)
        self._pulled = -math.inf
        """When the card last was at work for certain."""
        self._outbox: deque[Callable[[], None]] = deque()
        self._telling = False

    @property
    def turn(self) -> int:
        """The number of the turn that was begun last: what a trigger that may not hush has seen."""
        return self._turn

    def begin_turn(self, generation: int) -> None:
        """A turn begins; what is left of the one before is hushed. ValueError: it is not the next one."""
        with self._lock:
            if generation != self._turn + 1:
                raise ValueError(f"turn {generation} cannot follow turn {self._turn}")
            self._silence()
            self._turn = self._scope.new_response()
        self._tell()

    def expect(self, generation: int) -> None:
        """The response of this turn is asked for: from now on there is something to hush."""
        with self._lock:
            self._expected = self._expected or self._scope.is_running(generation)

    def open(self, generation: int, *, pausable: bool = True) -> bool:
        """The reply of this turn begins. False, and nothing of it will be played: it is stale, over, or open."""
        with self._lock:
            if not self._scope.is_running(generation) or self._opened == generation:
                return False
            self._opened = generation
            self._expected = True
            self._reply = _Reply(generation, self.rate, pausable=pausable)
            return True

    def clause(self, generation: int, text: str) -> None:
        """What is put from here on says `text`."""
        with self._lock:
            reply = self._current(generation)
            if reply is not None:
                reply.track.clause(text)

    def put(self, generation: int, samples: Samples) -> bool:
        """Queue samples, which must not be changed afterwards. False, and dropped: this reply is over, or finished."""
        with self._lock:
            reply = self._current(generation)
            if reply is None or reply.finished:
                return False
            reply.track.put(samples)
            return True

    def finish(self, generation: int) -> None:
        """No more will come: the reply has ended when its last sample has sounded."""
        with self._lock:
            reply = self._current(generation)
            if reply is not None:
                reply.finished = True
                self._end_if_played(reply, self._clock())
        self._tell()

    def done(self, generation: int) -> None:
        """This turn's response is over without a reply: there is nothing left to hush."""
        with self._lock:
            if not self._scope.is_stale(generation) and self._reply is None:
                self._expected = False
                self._scope.response_done(generation)

    def hush(self, generation: int | None = None) -> int:
        """Silence now, in constant time, whatever the other threads do: the response under way is cancelled.

        With `generation`, only if it is that one's. Gives the number of the turn that was begun last.
        """
        with self._lock:
            if generation is None or not self._scope.is_stale(generation):
                self._silence()
            turn = self._turn
        self._tell()
        return turn

    def pause(self, generation: int | None = None) -> int:
        """Silence now, for `resume` to go on from the sample at which it begins. As `hush`, but reversible.

        A reply that is not pausable plays on. Gives the number of the turn that was begun last.
        """
        with self._lock:
            reply = self._reply
            if reply is not None and reply.pausable and generation in {None, reply.generation} and not reply.paused:
                reply.paused = True
                if not self._drops and reply.flowing:
                    self._fade = _ramp(reply.track.peek(self._fading), down=True)
                reply.flowing = False
            return self._turn

    def resume(self, generation: int, *, pausable: bool = True) -> None:
        """The reply goes on if it was paused; `pausable`: whether it may be paused again."""
        with self._lock:
            reply = self._current(generation)
            if reply is None:
                return
            reply.pausable = pausable
            if reply.paused:
                reply.paused = False
                self._raise(reply)
                self._outbox.append(self._on_progress)
        self._tell()

    def settle(self, generation: int | None = None) -> None:
        """What was hushed ends now, though the card has not pulled since. With `generation`, only that reply."""
        with self._lock:
            self._end_hushed(self._clock(), generation)
        self._tell()

    def lose(self) -> None:
        """The card is gone, as from its last pull: what it still held then never sounds, and the next card gets it."""
        with self._lock:
            self._end_hushed(self._pulled)
            reply = self._reply
            if reply is not None:
                self._take_back(reply, self._pulled)
                reply.flowing = False
                if not reply.paused:
                    self._raise(reply)
        self._tell()

    @property
    def speaks(self) -> bool:
        """Whether a reply is open that is not paused."""
        with self._lock:
            return self._reply is not None and not self._reply.paused

    def queued(self, generation: int) -> float:
        """Seconds of this reply that are still to be pulled; 0 when it is over."""
        with self._lock:
            reply = self._current(generation)
            return 0.0 if reply is None else reply.track.queued / self.rate

    def waits(self, generation: int) -> bool:
        """Whether this reply is neither over nor paused."""
        with self._lock:
            reply = self._current(generation)
            return reply is not None and not reply.paused

    def spoken(self, generation: int) -> tuple[tuple[SpokenClause, ...], int]:
        """The clauses of this reply that are made, and how many of its samples have sounded."""
        with self._lock:
            reply = self._current(generation)
            return ((), 0) if reply is None else (reply.track.clauses(), reply.track.played(self._clock()))

    def is_open(self, generation: int) -> bool:
        """Whether this reply was opened and is not over, nor hushed."""
        with self._lock:
            return self._current(generation) is not None

    def pull(self, count: int, at: float) -> Samples | None:
        """Exactly `count` samples, the first of which will sound at `at`; None: drop what was pulled before."""
        samples: Samples | None = None
        with self._lock:
            now = self._pulled = self._clock()
            drop = self._must_drop(now)
            self._end_hushed(now)
            reply = self._reply
            if drop:
                if reply is not None:
                    self._take_back(reply, now)
            else:
                samples = np.zeros(count, np.float32)
                filled = min(count, len(self._fade))
                samples[:filled] = self._fade[:filled]
                self._fade = self._fade[filled:]
                if reply is not None:
                    if not reply.paused:
                        self._play(reply, samples[filled:], at + filled / self.rate)
                    self._note_start(reply, reply.track.played(now))
                    self._end_if_played(reply, now)
        self._tell()
        return samples

    @property
    def _fading(self) -> int:
        return round(FADE * self.rate)

    def _current(self, generation: int) -> _Reply | None:
        reply = self._reply
        return reply if reply is not None and reply.generation == generation else None

    def _must_drop(self, now: float) -> bool:
        """The card holds samples that must not sound."""
        paused = self._reply if self._reply is not None and self._reply.paused else None
        return self._drops and any(each is not None and each.track.until > now for each in (self._hushed, paused))

    def _silence(self) -> None:
        if not self._expected:
            return
        self._expected = False
        self._scope.cancel()
        reply, self._reply = self._reply, None
        if reply is None:
            self._scope.response_done(self._turn)  # it was not opened, so no end of it will be told
            return
        if not self._drops and reply.flowing:
            fade = np.zeros(self._fading, np.float32)
            self._fade = _ramp(fade[: reply.track.take(fade, reply.track.until)], down=True)
        now = self._clock()
        if self._drops and reply.track.until > now:
            self._hushed = reply
        else:
            self._end(reply, max(reply.track.until, now))

    def _take_back(self, reply: _Reply, now: float) -> None:
        """What the card was given of `reply`, and had not sounded at `now`, is to be pulled again."""
        reply.track.rewind(now)
        if not reply.track.played(now):
            reply.begins = None

    def _raise(self, reply: _Reply) -> None:
        """It comes up if it has been heard before."""
        reply.rising = 0 if reply.begins is None else self._fading

    def _play(self, reply: _Reply, into: Samples, at: float) -> None:
        track = reply.track
        before = track.made - track.queued
        taken = track.take(into, at)
        if not taken:
            reply.flowing = False
            return
        reply.flowing = taken == len(into)
        if reply.begins is None:
            reply.begins = at
        if reply.rising:
            rise = np.linspace(0, 1, self._fading + 2, dtype=np.float32)[1:-1][-reply.rising :][:taken]
            into[: len(rise)] *= rise
            reply.rising -= len(rise)
        step = PROGRESS * self.rate
        if (before + taken) // step > before // step:
            self._outbox.append(self._on_progress)

    def _note_start(self, reply: _Reply, played: int) -> None:
        if played and not reply.told and reply.begins is not None:
            reply.told = True
            self._outbox.append(partial(self._report, ReplyStarted(reply.generation, reply.begins)))

    def _end_hushed(self, now: float, generation: int | None = None) -> None:
        reply = self._hushed
        if reply is not None and generation in {None, reply.generation}:
            self._hushed = None
            self._end(reply, now)

    def _end_if_played(self, reply: _Reply, now: float) -> None:
        if reply.finished and not reply.track.queued and reply.track.until <= now:
            self._expected = False
            self._reply = None
            self._end(reply, now)

    def _end(self, reply: _Reply, now: float) -> None:
        track = reply.track
        played = track.played(now)
        self._note_start(reply, played)
        complete = reply.finished and played == track.made
        at = min(track.until, now) if played else now
        self._scope.response_done(reply.generation)
        ended = ReplyEnded(reply.generation, at, played / self.rate, not complete, played, track.clauses())
        self._outbox += (partial(self._report, ended), self._on_progress)

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


def _ramp(samples: Samples, *, down: bool) -> Samples:
    ramp = np.linspace(1, 0, len(samples) + 2, dtype=np.float32)[1:-1]
    return samples * (ramp if down else ramp[::-1])
