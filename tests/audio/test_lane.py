"""The lane against a model of it, and the promises that the model is too simple for."""

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.devices import Samples
from appliance.audio.lane import FADE, PROGRESS, Lane
from appliance.core.events import ReplyEnded, ReplyStarted

RATE = 1024  # so that times are exact
FADING = round(FADE * RATE)


def sound(first: int, count: int) -> Samples:
    """Samples that can be told from each other, from silence and from a fade."""
    return np.arange(first, first + count, dtype=np.float32)


def events_of(lane_events: list[ReplyStarted | ReplyEnded], generation: int) -> list[ReplyStarted | ReplyEnded]:
    return [event for event in lane_events if event.generation == generation]


@dataclass
class Model:
    """A lane without threads, time or efficiency: it writes down what must be heard."""

    newest: int = -1
    current: int | None = None
    queue: list[float] = field(default_factory=list)
    finished: bool = False
    played: int = 0
    sounding: bool = False
    fade: list[float] = field(default_factory=list)
    ends: list[tuple[int, int, bool]] = field(default_factory=list)

    def open(self, generation: int) -> bool:
        if generation <= self.newest:
            return False
        self.cut()
        self.newest = self.current = generation
        self.queue, self.finished, self.played, self.sounding = [], False, 0, False
        return True

    def put(self, generation: int, samples: Samples) -> bool:
        if generation != self.current or self.finished:
            return False
        self.queue += samples.tolist()
        return True

    def finish(self, generation: int) -> None:
        if generation == self.current:
            self.finished = True
            self.end_if_done()

    def hush(self, generation: int | None) -> bool:
        self.newest = max(self.newest, -1 if generation is None else generation)
        if self.current is None or generation not in {None, self.current}:
            return False
        self.cut()
        return True

    def pull(self, count: int) -> list[tuple[float, bool]]:
        """Samples, and whether each is part of a fade."""
        out = [(sample, True) for sample in self.fade[:count]]
        self.fade = self.fade[count:]
        if self.current is not None:
            room = count - len(out)
            taken, self.queue = self.queue[:room], self.queue[room:]
            out += [(sample, False) for sample in taken]
            self.played += len(taken)
            self.sounding = bool(taken) and len(out) == count
            if taken:
                self.end_if_done()
        return out + [(0.0, False)] * (count - len(out))

    def cut(self) -> None:
        if self.current is None:
            return
        if self.sounding:
            self.fade = self.queue[:FADING]
            self.played += len(self.fade)
        self.ends.append((self.current, self.played, True))
        self.current = None

    def end_if_done(self) -> None:
        if self.finished and not self.queue and self.current is not None:
            self.ends.append((self.current, self.played, False))
            self.current = None


generations = st.integers(0, 6)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("open"), generations),
        st.tuples(st.just("put"), generations, st.integers(0, 12)),
        st.tuples(st.just("finish"), generations),
        st.tuples(st.just("hush"), st.none() | generations),
        st.tuples(st.just("pull"), st.integers(0, 8)),
    ),
    max_size=60,
)


@settings(max_examples=200)
@given(operations)
def test_it_does_what_the_model_does(todo: list[tuple[str, int, int]]) -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane, model = Lane(RATE, events.append), Model()
    now, next_sample = 5.0, 1
    for name, *arguments in todo:
        if name == "put":
            generation, count = arguments
            samples = sound(next_sample, count)
            next_sample += count
            assert lane.put(generation, samples) == model.put(generation, samples)
        elif name == "pull":
            (count,) = arguments
            heard = lane.pull(count, now)
            now += count / RATE
            assert len(heard) == count
            for sample, (wanted, fading) in zip(heard.tolist(), model.pull(count), strict=True):
                assert 0 < sample < wanted if fading else sample == wanted
        else:
            assert getattr(lane, name)(*arguments) == getattr(model, name)(*arguments)
        playing = model.newest if model.current is None else model.current
        assert lane.queued(playing) * RATE == pytest.approx(len(model.queue) if model.current is not None else 0)
    ends = [event for event in events if isinstance(event, ReplyEnded)]
    assert [(end.generation, round(end.seconds * RATE), end.cut) for end in ends] == model.ends
    for end in ends:
        kinds = [type(event) for event in events_of(events, end.generation)]
        assert kinds == ([ReplyStarted, ReplyEnded] if end.seconds else [ReplyEnded])


def test_what_was_hushed_before_it_was_opened_cannot_be_opened_any_more() -> None:
    lane = Lane(RATE, lambda _: None)
    assert not lane.hush(3)
    assert not lane.open(3)
    assert not lane.put(3, sound(1, 10))
    assert lane.open(4)


def test_times_are_those_of_the_samples() -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    lane.pull(128, 10.0)
    lane.open(1)
    lane.put(1, sound(1, 192))
    lane.pull(128, 10.125)
    lane.finish(1)
    lane.pull(128, 10.25)
    assert events == [ReplyStarted(1, 10.125), ReplyEnded(1, 10.3125, 0.1875, cut=False)]


def test_a_cut_reply_ends_with_its_fade_though_nobody_pulls_any_more() -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    lane.open(1)
    lane.put(1, sound(1, 512))
    lane.pull(128, 10.0)
    assert lane.hush(1)
    assert events[-1] == ReplyEnded(1, 10.125 + FADING / RATE, 0.125 + FADING / RATE, cut=True)


def test_a_reply_that_waits_for_its_next_piece_is_cut_without_a_fade() -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    lane.open(1)
    lane.put(1, sound(1, 64))
    lane.pull(128, 10.0)
    lane.put(1, sound(65, 64))
    assert lane.hush()
    assert not lane.pull(128, 10.125).any()
    assert events[-1] == ReplyEnded(1, 10.0625, 0.0625, cut=True)


def test_a_reply_that_was_finished_late_ended_when_its_last_sample_sounded() -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    lane.open(1)
    lane.put(1, sound(1, 64))
    lane.pull(128, 10.0)
    lane.pull(128, 10.125)
    lane.finish(1)
    assert events[-1] == ReplyEnded(1, 10.0625, 0.0625, cut=False)


@pytest.mark.parametrize("end", ["finish", "hush"])
def test_a_reply_without_sound_ends_too(end: str) -> None:
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    lane.pull(128, 10.0)
    lane.open(1)
    getattr(lane, end)(1)
    assert events == [ReplyEnded(1, 10.125, 0.0, cut=end == "hush")]


def test_progress_comes_while_it_is_used_up_and_at_its_end() -> None:
    calls: list[float] = []
    lane = Lane(RATE, lambda _: None, lambda: calls.append(lane.queued(1)))
    lane.open(1)
    lane.put(1, sound(1, RATE))
    for _ in range(RATE // 8):
        lane.pull(8, 0.0)
    lane.hush()
    assert calls == pytest.approx([1 - PROGRESS, 1 - 2 * PROGRESS, 1 - 3 * PROGRESS, 0, 0])


def test_who_is_told_may_use_the_lane() -> None:
    events: list[ReplyStarted | ReplyEnded] = []

    def report(event: ReplyStarted | ReplyEnded) -> None:
        events.append(event)
        if isinstance(event, ReplyStarted):
            assert lane.hush(event.generation)

    lane = Lane(RATE, report)
    lane.open(1)
    lane.put(1, sound(1, 100))
    lane.pull(10, 0.0)
    assert [type(event) for event in events] == [ReplyStarted, ReplyEnded]


def test_what_fails_when_told_holds_up_nothing() -> None:
    def report(_: object) -> None:
        raise RuntimeError("told")

    lane = Lane(RATE, report)
    for generation in (1, 2):
        assert lane.open(generation)
        with pytest.raises(RuntimeError, match="told"):
            lane.hush()


def test_producer_speaker_and_interrupter_may_be_at_it_at_once() -> None:
    """On real threads, nothing but a fade is pulled after the hush, and every reply ends once, after its start."""
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append)
    pulls: list[Samples] = []
    over = threading.Event()

    def speak() -> None:
        while not over.is_set():
            pulls.append(lane.pull(7, 0.0))

    def produce(generation: int) -> None:
        while lane.put(generation, np.full(10, generation, np.float32)):
            pass

    speaker = threading.Thread(target=speak)
    speaker.start()
    for generation in range(1, 21):
        lane.open(generation)
        producer = threading.Thread(target=produce, args=(generation,))
        producer.start()
        if generation % 2:
            while not events_of(events, generation):
                time.sleep(0)
        assert lane.hush(generation)
        first_after = len(pulls) + 1  # one pull may have been under way
        assert not lane.hush(generation)
        producer.join()
        while len(pulls) < first_after + 2:
            time.sleep(0)
        assert not any((samples == generation).any() for samples in pulls[first_after:])
    over.set()
    speaker.join()
    for generation in range(1, 21):
        kinds = [type(event) for event in events_of(events, generation)]
        assert kinds == [ReplyStarted, ReplyEnded] or (kinds == [ReplyEnded] and not generation % 2)
