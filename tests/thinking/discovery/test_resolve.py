"""The cache of lookups, on a virtual clock: one at a time for a key, good for so long, and independent of who waits."""

import asyncio
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.simulation.clock import VirtualLoop
from appliance.thinking.discovery.resolve import CEILING, FLOOR, Answer, Cache, Unanswered

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def now() -> float:
    return asyncio.get_running_loop().time()


class Network:
    """What is asked: each lookup takes `takes` seconds, and answers with its number, counted from 1."""

    def __init__(self, takes: float = 0.1, ttl: float = 0.0, *, fails: bool = False) -> None:
        self.takes = takes
        self.ttl = ttl
        self.fails = fails
        self.began: list[tuple[str, float]] = []
        self.under_way: dict[str, int] = {}
        self.most = 0

    async def look_up(self, key: str) -> Answer[int]:
        self.began.append((key, now()))
        number = len(self.began)
        self.under_way[key] = self.under_way.get(key, 0) + 1
        self.most = max(self.most, self.under_way[key])
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.under_way[key] -= 1
        if self.fails:
            raise Unanswered("nobody answers")
        return Answer(number, self.ttl)


def test_who_asks_meanwhile_waits_for_the_same_answer() -> None:
    async def main() -> None:
        network = Network()
        cache = Cache(network.look_up)
        assert list(await asyncio.gather(*(cache.get("a") for _ in range(5)))) == [1] * 5
        assert now() == pytest.approx(0.1)

    run(main())


def test_keys_do_not_wait_for_each_other() -> None:
    async def main() -> None:
        cache = Cache(Network().look_up)
        assert tuple(await asyncio.gather(cache.get("a"), cache.get("b"))) == (1, 2)
        assert now() == pytest.approx(0.1)

    run(main())


@pytest.mark.parametrize(("ttl", "good_for"), [(0.0, FLOOR), (0.2, FLOOR), (30.0, 30.0), (1e9, CEILING)])
def test_an_answer_is_good_for_as_long_as_it_says_and_for_half_a_second_at_least(ttl: float, good_for: float) -> None:
    async def main() -> None:
        cache = Cache(Network(takes=0.0, ttl=ttl).look_up)
        assert await cache.get("a") == 1
        await asyncio.sleep(good_for - 0.01)
        assert await cache.get("a") == 1
        await asyncio.sleep(0.02)
        assert await cache.get("a") == 2

    run(main())


def test_a_failure_is_for_all_who_wait_and_is_not_asked_again_at_once() -> None:
    async def main() -> None:
        network = Network(fails=True)
        cache = Cache(network.look_up)
        failures = await asyncio.gather(*(cache.get("a") for _ in range(3)), return_exceptions=True)
        assert [type(failure) for failure in failures] == [Unanswered] * 3
        with pytest.raises(Unanswered):
            await cache.get("a")
        assert len(network.began) == 1
        network.fails = False
        await asyncio.sleep(FLOOR + 0.01)
        assert await cache.get("a") == 2

    run(main())


def test_one_who_is_cancelled_leaves_the_lookup_to_the_others() -> None:
    async def main() -> None:
        network = Network()
        cache = Cache(network.look_up)
        first = asyncio.create_task(cache.get("a"))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(cache.get("a"))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == 1
        assert first.cancelled()
        assert now() == pytest.approx(0.1)

    run(main())


def test_a_lookup_that_nobody_waits_for_any_longer_still_serves_the_next_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        network = Network()
        cache = Cache(network.look_up)
        only = asyncio.create_task(cache.get("a"))
        await asyncio.sleep(0.05)
        only.cancel()
        await asyncio.sleep(0.1)
        assert await cache.get("a") == 1
        network.fails = True
        lost = asyncio.create_task(cache.get("b"))
        await asyncio.sleep(0.05)
        lost.cancel()
        await asyncio.sleep(10.0)

    run(main())
    assert caplog.records == []


def test_after_forgetting_nobody_gets_an_answer_of_a_lookup_that_began_before() -> None:
    async def main() -> None:
        network = Network(ttl=100.0)
        cache = Cache(network.look_up)
        early = asyncio.create_task(cache.get("a"))
        await asyncio.sleep(0.05)
        cache.forget()
        assert tuple(await asyncio.gather(early, cache.get("a"))) == (2, 2)
        assert network.began == [("a", 0.0), ("a", pytest.approx(0.1))]
        cache.forget()
        assert await cache.get("a") == 3

    run(main())


def test_closing_ends_what_is_under_way_and_who_waits_is_told() -> None:
    async def main() -> None:
        network = Network(takes=1000.0)
        cache = Cache(network.look_up)
        waiting = asyncio.create_task(cache.get("a"))
        await asyncio.sleep(1.0)
        await cache.close()
        with pytest.raises(Unanswered):
            await waiting
        assert network.under_way == {"a": 0}
        assert now() == pytest.approx(1.0)

    run(main())


def seconds(most: int) -> st.SearchStrategy[float]:
    """Not finer than the loop's clock, on which what is closer together has no order."""
    return st.integers(0, most * 100).map(lambda hundredths: hundredths / 100)


calls = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        seconds(5),  # when it asks
        st.none() | seconds(1),  # after how long it is cancelled
    ),
    max_size=12,
)


@settings(max_examples=50)
@given(calls, seconds(1), seconds(2), st.none() | seconds(5))
def test_whoever_asks_and_goes_whenever(
    calls: list[tuple[str, float, float | None]], takes: float, ttl: float, forgets_at: float | None
) -> None:
    async def main() -> None:
        network = Network(takes, ttl)
        cache = Cache(network.look_up)

        async def ask(key: str, at: float, gives_up: float | None) -> None:
            await asyncio.sleep(at)
            try:
                async with asyncio.timeout(gives_up):
                    number = await cache.get(key)
            except TimeoutError:
                return
            asked_for, began = network.began[number - 1]
            assert asked_for == key
            assert now() - (began + takes) <= max(ttl, FLOOR) + 1e-6
            assert gives_up is not None or now() - at <= 2 * takes + 1e-6  # twice if it was forgotten meanwhile
            assert forgets_at is None or now() <= forgets_at + 1e-6 or began >= forgets_at - 1e-6

        async def forget() -> None:
            if forgets_at is not None:
                await asyncio.sleep(forgets_at)
                cache.forget()

        await asyncio.gather(forget(), *(ask(*call) for call in calls))
        assert network.most <= 1
        for key in "ab":
            begins = [began for asked_for, began in network.began if asked_for == key]
            good_for = takes + max(ttl, FLOOR)
            too_soon = [b - a for a, b in pairwise(begins) if b - a < good_for - 1e-6]
            assert len(too_soon) <= (forgets_at is not None)
        await cache.close()

    run(main())
