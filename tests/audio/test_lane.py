"""The lane against a model of it, and the promises that the model is too simple for."""

import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.devices import Samples
from appliance.audio.lane import PROGRESS, Lane
from appliance.core.events import ReplyEnded, ReplyStarted
from appliance.core.interruption import SpokenClause
from tests.audio.card import PARTS, RATE, Card, Clock
from tests.audio.checked import CheckedLane, assert_is
from tests.audio.model import FADING

LATENCY = 64 * PARTS

ago = st.sampled_from((0, 0, 0, 0, 1, 2))
"""How many turns ago that was which somebody still deals with."""

operations = st.lists(
    st.one_of(
        st.tuples(st.just("pull"), st.integers(0, 16)),
        st.tuples(st.just("reply"), st.booleans(), st.integers(0, 24)),
        st.tuples(st.just("move"), st.integers(0, 100)),
        st.tuples(st.just("put"), ago, st.integers(0, 24)),
        st.tuples(st.just("begin_turn")),
        st.tuples(st.just("open"), ago, st.booleans()),
        st.tuples(st.sampled_from(("expect", "clause", "finish", "done")), ago),
        st.tuples(st.sampled_from(("hush", "pause")), st.none() | ago),
        st.tuples(st.just("resume"), ago, st.booleans()),
        st.tuples(st.just("settle"), st.none() | ago),
        st.tuples(st.just("vanish")),
    ),
    min_size=20,
    max_size=60,
)


@settings(max_examples=300)
@given(st.booleans(), st.integers(0, LATENCY), operations)
def test_it_does_what_the_model_does(drops: bool, latency: int, todo: list[tuple[str, int, int]]) -> None:
    clock = Clock()
    lane = CheckedLane(clock, drops=drops)
    card = Card(lane, clock, latency)

    def vanish() -> None:
        card.vanish()
        lane.lose()

    for name, *arguments in todo:
        turn = lane.model.turn
        calls: dict[str, Callable[..., object]] = {
            "pull": card.pull,
            "move": clock.move,
            "vanish": vanish,
            "put": lambda ago, count, turn=turn: lane.put(turn - ago, count),
            "reply": lambda finished, count, turn=turn: reply(lane, turn + 1, count, finished=finished),
            "begin_turn": lambda turn=turn: lane.begin_turn(turn + 1),
            "open": lambda ago, pausable, turn=turn: lane.open(turn - ago, pausable=pausable),
            "clause": lambda ago, turn=turn: lane.clause(turn - ago, "clause"),
            "hush": lambda ago, turn=turn: lane.hush(None if ago is None else turn - ago),
            "pause": lambda ago, turn=turn: lane.pause(None if ago is None else turn - ago),
            "resume": lambda ago, pausable, turn=turn: lane.resume(turn - ago, pausable=pausable),
            "settle": lambda ago, turn=turn: lane.settle(None if ago is None else turn - ago),
        }
        call = calls.get(name)
        if call is None:
            getattr(lane, name)(turn - arguments[0])
        else:
            call(*arguments)
    clock.move(100 * RATE * PARTS)
    assert_is(card.sounded(), [heard for _, heard in lane.model.heard])


def reply(lane: CheckedLane, generation: int, count: int, *, finished: bool) -> None:
    lane.begin_turn(generation)
    lane.open(generation)
    lane.put(generation, count)
    if finished:
        lane.finish(generation)


class Stage:
    """A lane with a card, and what it tells."""

    def __init__(self, *, drops: bool, latency: int = 0) -> None:
        self.clock = Clock()
        self.events: list[ReplyStarted | ReplyEnded] = []
        self.lane = Lane(RATE, self.events.append, self.clock, drops=drops)
        self.card = Card(self.lane, self.clock, latency * PARTS)

    def reply(self, generation: int, count: int) -> None:
        self.lane.begin_turn(generation)
        assert self.lane.open(generation)
        assert self.lane.put(generation, sound(1, count))

    def play(self, count: int) -> None:
        """One block, from its pull to its end."""
        self.card.pull(count)
        self.clock.move(self.card.held)

    @property
    def ends(self) -> list[ReplyEnded]:
        return [event for event in self.events if isinstance(event, ReplyEnded)]


@pytest.fixture(params=[True, False], ids=["a card that drops", "a card that cannot drop"])
def stage(request: pytest.FixtureRequest) -> Stage:
    return Stage(drops=request.param)


@pytest.fixture
def dropping() -> Stage:
    """The card has 16 samples of delay."""
    return Stage(drops=True, latency=16)


@pytest.fixture
def fading() -> Stage:
    return Stage(drops=False)


def sound(first: int, count: int) -> Samples:
    return np.arange(first, first + count, dtype=np.float32)


def test_what_was_hushed_before_it_was_opened_cannot_be_opened_any_more(stage: Stage) -> None:
    stage.lane.begin_turn(1)
    stage.lane.expect(1)
    assert stage.lane.hush() == 1
    assert not stage.lane.open(1)
    assert not stage.lane.put(1, sound(1, 10))
    stage.reply(2, 10)


def test_a_reply_is_opened_once(stage: Stage) -> None:
    stage.reply(1, 8)
    assert not stage.lane.open(1)
    stage.lane.finish(1)
    stage.play(8)
    stage.play(8)
    assert len(stage.ends) == 1
    assert not stage.lane.open(1)


def test_with_nothing_to_hush_nothing_moves(stage: Stage) -> None:
    stage.lane.begin_turn(1)
    stage.lane.hush()
    stage.lane.pause()
    assert stage.lane.open(1)
    stage.lane.finish(1)
    stage.lane.hush()
    stage.lane.begin_turn(2)
    stage.lane.expect(2)
    stage.lane.done(2)
    stage.lane.hush()
    assert [end.generation for end in stage.ends] == [1]
    stage.lane.begin_turn(3)
    assert stage.lane.open(3)


def test_a_response_that_is_over_is_not_asked_for_again(stage: Stage) -> None:
    stage.lane.begin_turn(1)
    stage.lane.done(1)
    stage.lane.expect(1)
    assert not stage.lane.open(1)
    stage.lane.begin_turn(2)
    stage.lane.open(2)
    stage.lane.finish(2)
    stage.lane.expect(2)
    stage.lane.hush()
    assert [end.cut for end in stage.ends] == [False]


def test_a_hush_that_names_another_reply_changes_nothing(stage: Stage) -> None:
    stage.reply(1, 8)
    stage.lane.hush(0)
    stage.lane.pause(0)
    assert stage.lane.waits(1)


def test_a_turn_that_is_not_the_next_one_is_refused_and_changes_nothing(stage: Stage) -> None:
    stage.reply(1, 8)
    for wrong in (0, 1, 3):
        with pytest.raises(ValueError, match=f"turn {wrong} cannot follow turn 1"):
            stage.lane.begin_turn(wrong)
    assert stage.lane.is_open(1)


def test_times_are_those_of_the_samples(stage: Stage) -> None:
    began = stage.clock()
    stage.play(128)
    stage.reply(1, 192)
    stage.lane.clause(1, "more")
    stage.lane.finish(1)
    stage.play(128)
    assert stage.events == []
    stage.card.pull(128)
    assert stage.events == [ReplyStarted(1, began + 0.125)]
    stage.clock.move(128 * PARTS)
    stage.card.pull(128)
    end = ReplyEnded(1, began + 0.3125, 0.1875, cut=False, played=192, clauses=(SpokenClause("more", 192, 192),))
    assert stage.events[1:] == [end]


def test_what_the_card_holds_is_dropped_at_its_next_pull_and_does_not_count(dropping: Stage) -> None:
    dropping.reply(1, 100)
    dropping.card.pull(8)
    dropping.card.pull(8)
    dropping.clock.move(20 * PARTS + 1)
    dropping.lane.hush()
    assert dropping.ends == []
    assert dropping.card.pull(8) is None
    assert [(end.played, end.cut) for end in dropping.ends] == [(4, True)]
    assert dropping.card.sounded() == [1, 2, 3, 4]
    assert dropping.card.pull(8) is not None


def test_the_drop_is_not_forgotten_when_the_next_reply_is_hushed_before_it(dropping: Stage) -> None:
    dropping.reply(1, 100)
    dropping.card.pull(8)
    dropping.reply(2, 100)
    dropping.lane.hush()
    assert [end.generation for end in dropping.ends] == [2]
    assert dropping.card.pull(8) is None
    assert [end.generation for end in dropping.ends] == [2, 1]


def test_a_card_that_pulls_no_more_does_not_keep_a_reply_from_ending(dropping: Stage) -> None:
    dropping.reply(1, 100)
    dropping.card.pull(8)
    dropping.lane.hush()
    dropping.clock.move(RATE * PARTS)
    dropping.lane.settle(1)
    dropping.lane.settle(1)
    assert [end.played for end in dropping.ends] == [8]


def test_a_reply_goes_on_with_the_next_card_from_where_the_last_one_was_unplugged(dropping: Stage) -> None:
    dropping.reply(1, 100)
    dropping.card.pull(8)
    dropping.clock.move(20 * PARTS)
    dropping.card.pull(8)
    dropping.clock.move(3 * RATE * PARTS)
    dropping.card.vanish()
    dropping.lane.lose()
    assert dropping.ends == []
    assert dropping.lane.spoken(1)[1] == 4
    dropping.play(8 + FADING)
    assert dropping.card.sounded()[:4] == [1, 2, 3, 4]
    assert dropping.card.sounded()[4 + FADING :] == list(range(5 + FADING, 13 + FADING))


def test_what_a_card_that_is_gone_had_to_drop_is_over(dropping: Stage) -> None:
    dropping.reply(1, 100)
    dropping.card.pull(8)
    dropping.lane.hush()
    dropping.clock.move(RATE * PARTS)
    dropping.lane.lose()
    dropping.lane.lose()
    assert [(end.played, end.cut) for end in dropping.ends] == [(0, True)]


def test_who_settles_one_reply_does_not_keep_the_next_from_being_dropped(dropping: Stage) -> None:
    dropping.lane.begin_turn(1)
    dropping.reply(2, 100)
    dropping.card.pull(8)
    dropping.lane.hush()
    dropping.lane.settle(1)
    assert dropping.ends == []
    assert dropping.card.pull(8) is None
    assert [end.generation for end in dropping.ends] == [2]


def test_a_card_that_cannot_drop_gets_a_short_fade_and_the_end_is_known_at_once(fading: Stage) -> None:
    fading.reply(1, 100)
    fading.card.pull(8)
    fading.lane.hush()
    assert [(end.played, end.at) for end in fading.ends] == [(8 + FADING, fading.clock() + (8 + FADING) / RATE)]
    block = fading.card.pull(16)
    assert block is not None
    assert (np.diff(block[:FADING] / sound(9, FADING)) < 0).all()
    assert not block[FADING:].any()


def test_a_reply_that_waits_for_its_next_piece_is_cut_without_a_fade(fading: Stage) -> None:
    fading.reply(1, 4)
    fading.play(8)
    fading.lane.put(1, sound(5, 10))
    fading.lane.hush()
    assert [end.played for end in fading.ends] == [4]
    block = fading.card.pull(8)
    assert block is not None
    assert not block.any()


def test_an_interruption_after_the_last_sample_changes_nothing(stage: Stage) -> None:
    stage.reply(1, 8)
    stage.lane.finish(1)
    stage.play(8)
    assert stage.ends == []
    stage.lane.hush()
    assert [(end.played, end.cut) for end in stage.ends] == [(8, False)]


def test_a_reply_that_was_finished_late_ended_when_its_last_sample_sounded(stage: Stage) -> None:
    began = stage.clock()
    stage.reply(1, 64)
    stage.play(128)
    stage.play(128)
    stage.lane.finish(1)
    assert [(end.at, end.cut) for end in stage.ends] == [(began + 0.0625, False)]


@pytest.mark.parametrize("end", ["finish", "hush"])
def test_a_reply_without_sound_ends_too(stage: Stage, end: str) -> None:
    stage.lane.begin_turn(1)
    stage.lane.open(1)
    getattr(stage.lane, end)(1)
    assert stage.events == [ReplyEnded(1, stage.clock(), 0.0, cut=end == "hush", played=0, clauses=())]


def test_a_paused_reply_goes_on_from_the_sample_that_was_not_heard(dropping: Stage) -> None:
    dropping.reply(1, 40)
    dropping.lane.finish(1)
    dropping.card.pull(16)
    dropping.card.pull(16)
    dropping.clock.move(26 * PARTS + 3)
    dropping.lane.pause()
    assert dropping.card.pull(16) is None
    dropping.play(16)
    dropping.lane.resume(1)
    for _ in range(4):
        dropping.play(16)
    heard = dropping.card.sounded()
    assert heard[:10] + heard[10 + FADING :] == sound(1, 40).tolist()[:10] + sound(1, 40).tolist()[10 + FADING :]
    assert all(0 < sample < whole for sample, whole in zip(heard[10:][:FADING], range(11, 40), strict=False))
    assert [(end.played, end.cut) for end in dropping.ends] == [(40, False)]


def test_a_reply_that_was_paused_before_it_was_heard_begins_when_it_is_heard(dropping: Stage) -> None:
    dropping.reply(1, 40)
    dropping.card.pull(16)
    dropping.lane.pause()
    assert dropping.card.pull(16) is None
    dropping.play(16)
    dropping.lane.resume(1)
    at = dropping.clock() + 16 / RATE
    dropping.play(16)
    dropping.play(16)
    assert dropping.events == [ReplyStarted(1, at)]
    assert dropping.card.sounded()[:16] == sound(1, 16).tolist(), "there was no silence that it would come up from"


def test_a_reply_that_is_not_pausable_plays_on(stage: Stage) -> None:
    stage.reply(1, 8)
    stage.lane.resume(1, pausable=False)
    stage.lane.pause()
    assert stage.lane.waits(1)
    stage.lane.resume(1)
    stage.lane.pause()
    assert not stage.lane.waits(1)


def test_progress_comes_while_it_is_used_up_when_it_goes_on_and_at_its_end() -> None:
    calls: list[float] = []
    lane = Lane(RATE, lambda _: None, Clock(), lambda: calls.append(lane.queued(1)))
    lane.begin_turn(1)
    lane.open(1)
    lane.put(1, sound(1, RATE))
    for _ in range(RATE // 8):
        lane.pull(8, 5.0)
    lane.pause()
    lane.resume(1)
    lane.hush()
    assert calls == pytest.approx([1 - PROGRESS, 1 - 2 * PROGRESS, 1 - 3 * PROGRESS, 0, 0, 0])


def test_who_is_told_may_use_the_lane() -> None:
    clock = Clock()
    events: list[ReplyStarted | ReplyEnded] = []

    def report(event: ReplyStarted | ReplyEnded) -> None:
        events.append(event)
        if isinstance(event, ReplyStarted):
            lane.hush(event.generation)

    lane = Lane(RATE, report, clock)
    lane.begin_turn(1)
    lane.open(1)
    lane.put(1, sound(1, 100))
    lane.pull(10, clock())
    clock.move(10 * PARTS)
    lane.pull(10, clock())
    assert [type(event) for event in events] == [ReplyStarted, ReplyEnded]


def test_what_fails_when_told_holds_up_nothing() -> None:
    def report(_: object) -> None:
        raise RuntimeError("told")

    lane = Lane(RATE, report, Clock())
    for generation in (1, 2):
        lane.begin_turn(generation)
        assert lane.open(generation)
        with pytest.raises(RuntimeError, match="told"):
            lane.hush()


def test_a_hush_takes_as_long_after_an_hour_as_after_a_second() -> None:
    assert calls_in_a_hush(blocks=20_000) == calls_in_a_hush(blocks=100)


def calls_in_a_hush(blocks: int) -> int:
    stage = Stage(drops=True)
    stage.reply(1, 8 * blocks + 100)
    for _ in range(blocks):
        stage.play(8)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        stage.lane.hush()
    finally:
        sys.setprofile(None)
    assert [end.played for end in stage.ends] == [8 * blocks]
    return calls


@pytest.mark.parametrize("drops", [True, False])
def test_producer_speaker_and_interrupter_may_be_at_it_at_once(drops: bool) -> None:
    """On real threads, nothing but a fade is pulled after the hush, and every reply ends once, after its start."""
    events: list[ReplyStarted | ReplyEnded] = []
    lane = Lane(RATE, events.append, time.monotonic, drops=drops)
    pulls: list[Samples | None] = []
    over = threading.Event()

    def speak() -> None:
        while not over.is_set():
            pulls.append(lane.pull(7, time.monotonic()))

    def produce(generation: int) -> None:
        while lane.put(generation, np.full(10, generation, np.float32)):
            lane.clause(generation, "more")

    def told(generation: int) -> list[type]:
        return [type(event) for event in list(events) if event.generation == generation]

    speaker = threading.Thread(target=speak)
    speaker.start()
    for generation in range(1, 21):
        lane.begin_turn(generation)
        lane.open(generation)
        producer = threading.Thread(target=produce, args=(generation,))
        producer.start()
        while generation % 2 and not told(generation):
            time.sleep(0)
        if generation % 3:
            lane.pause()
            lane.resume(generation)
        assert lane.hush(generation) == generation
        first_after = len(pulls) + 1  # one pull may have been under way
        producer.join()
        while len(pulls) < first_after + 2:
            time.sleep(0)
        after = [samples for samples in pulls[first_after:] if samples is not None]
        assert not any((samples == generation).any() for samples in after)
    over.set()
    speaker.join()
    for generation in range(1, 21):
        assert told(generation) == [ReplyStarted, ReplyEnded] or (
            not generation % 2 and told(generation) == [ReplyEnded]
        )
