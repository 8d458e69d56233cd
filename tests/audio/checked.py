"""A lane that is held against the model after everything that is done to it."""

from collections.abc import Callable

import numpy as np

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
from appliance.core.events import ReplyEnded, ReplyStarted
from tests.audio.card import PARTS, RATE, Clock
from tests.audio.model import FADING, Heard, Model

STEP = FADING + 1
"""Between two samples: a fade multiplies them with so many parts of one, which makes none of them another."""


def assert_is(sounded: list[float], must: list[Heard]) -> None:
    """What sounded is what must be heard."""
    for sample, (wanted, fading) in zip(sounded, must, strict=True):
        assert 0 < sample < wanted if fading else sample == wanted


class CheckedLane:
    """Has the lane's methods. AssertionError: lane and model differ."""

    def __init__(
        self,
        clock: Clock,
        report: Callable[[ReplyStarted | ReplyEnded], None] = lambda _: None,
        on_progress: Callable[[], None] = lambda: None,
        *,
        drops: bool,
    ) -> None:
        self.lane = Lane(RATE, self._note, clock, on_progress, drops=drops)
        self.model = Model(drops=drops)
        self._clock = clock
        self._report = report
        self._noted: list[ReplyStarted | ReplyEnded] = []
        self.numbered = 1
        """The next sample."""

    def begin_turn(self, generation: int) -> None:
        self.model.begin_turn(generation, self._now)
        self.lane.begin_turn(generation)
        self._check()

    def expect(self, generation: int) -> None:
        self.model.expect(generation)
        self.lane.expect(generation)
        self._check()

    def open(self, generation: int, *, pausable: bool = True) -> bool:
        opened = self.model.open(generation, pausable=pausable)
        assert self.lane.open(generation, pausable=pausable) == opened
        self._check()
        return opened

    def clause(self, generation: int, text: str) -> None:
        self.model.clause(generation, text)
        self.lane.clause(generation, text)
        self._check()

    def put(self, generation: int, count: int) -> bool:
        """Samples that can be told from all others, from silence, and from every part of a fade."""
        samples = np.arange(self.numbered, self.numbered + STEP * count, STEP, dtype=np.float32)
        self.numbered += STEP * count
        put = self.model.put(generation, samples.tolist())
        assert self.lane.put(generation, samples) == put
        self._check()
        return put

    def finish(self, generation: int) -> None:
        self.model.finish(generation, self._now)
        self.lane.finish(generation)
        self._check()

    def done(self, generation: int) -> None:
        self.model.done(generation)
        self.lane.done(generation)
        self._check()

    def hush(self, generation: int | None = None) -> int:
        turn = self.model.hush(generation, self._now)
        assert self.lane.hush(generation) == turn
        self._check()
        return turn

    def pause(self, generation: int | None = None) -> int:
        turn = self.model.pause(generation)
        assert self.lane.pause(generation) == turn
        self._check()
        return turn

    def resume(self, generation: int, *, pausable: bool = True) -> None:
        self.model.resume(generation, pausable=pausable)
        self.lane.resume(generation, pausable=pausable)
        self._check()

    def settle(self, generation: int | None = None) -> None:
        self.model.settle(generation, self._now)
        self.lane.settle(generation)
        self._check()

    def lose(self) -> None:
        self.model.lose()
        self.lane.lose()
        self._check()

    def pull(self, count: int, at: float) -> Samples | None:
        must = self.model.pull(count, round(at * RATE * PARTS), self._now)
        samples = self.lane.pull(count, at)
        if must is None or samples is None:
            assert (samples is None) == (must is None), "dropped, or not"
        else:
            assert_is(samples.tolist(), must)
        self._check()
        if self.model.reply is not None:
            assert self.lane.spoken(self.model.turn) == self.model.reply.spoken(self._now)
        return samples

    @property
    def _now(self) -> int:
        return self._clock.ticks

    def _note(self, event: ReplyStarted | ReplyEnded) -> None:
        self._noted.append(event)
        self._report(event)

    def _check(self) -> None:
        lane, model, reply = self.lane, self.model, self.model.reply
        assert self._noted == model.events
        assert lane.turn == model.turn
        generation = model.turn if reply is None else reply.generation
        assert lane.is_open(generation) == (reply is not None)
        assert lane.waits(generation) == (reply is not None and not reply.paused)
        assert lane.queued(generation) == (0 if reply is None else len(reply.coming) / RATE)
        assert lane._scope.generation == model.turn + model.cancelled
        assert model.hushed or not lane._scope.discarding
