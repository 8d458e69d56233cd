"""The virtual clock jumps over waiting, in order, and stands still while an executor job is busy."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.simulation.clock import VirtualLoop

T = TypeVar("T")

RESOLUTION = 1e-8
"""Seconds within which asyncio takes timers for due together."""


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def now() -> float:
    return asyncio.get_running_loop().time()


async def nothing() -> None:
    pass


def test_the_clock_starts_at_zero_and_jumps_to_the_timer() -> None:
    async def main() -> None:
        assert now() == 0.0
        await asyncio.sleep(0)
        assert now() == 0.0
        await asyncio.sleep(30 * 24 * 3600.0)
        assert now() == pytest.approx(30 * 24 * 3600.0)

    run(main())


@given(delays=st.lists(st.floats(0.0, 1e6)))
def test_timers_come_in_their_order_and_at_their_time(delays: list[float]) -> None:
    async def main() -> list[tuple[float, float]]:
        loop = asyncio.get_running_loop()
        rung: list[tuple[float, float]] = []
        for delay in delays:
            loop.call_at(delay, lambda due: rung.append((due, loop.time())), delay)
        await asyncio.sleep(2e6)
        return rung

    rung = run(main())
    assert [due for due, _ in rung] == sorted(delays)
    assert [at for _, at in rung] == pytest.approx(sorted(delays), abs=RESOLUTION)


def test_a_cancelled_timer_is_not_waited_for() -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_later(1.0, pytest.fail).cancel()
        asyncio.get_running_loop().call_later(3600.0, pytest.fail)
        await asyncio.sleep(2.0)
        assert now() == pytest.approx(2.0)

    run(main())


def test_time_limits_work_in_virtual_time() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5.0):
                await asyncio.Event().wait()
        assert now() == pytest.approx(5.0)

    run(main())


def test_the_clock_stands_still_while_a_job_is_busy_and_moves_on_afterwards() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        rung = loop.create_future()
        loop.call_later(0.001, rung.set_result, None)

        def job() -> float:
            for _ in range(50):  # each answer shows that the loop has been around once more
                asyncio.run_coroutine_threadsafe(nothing(), loop).result()
            return loop.time()

        assert await loop.run_in_executor(None, job) == 0.0
        assert not rung.done()
        await rung
        assert now() == pytest.approx(0.001)

    run(main())


def test_every_one_of_several_jobs_holds_the_clock() -> None:
    async def main() -> None:
        release = threading.Event()
        waiting = asyncio.to_thread(release.wait)
        timer = asyncio.create_task(asyncio.sleep(1.0))
        slow = asyncio.create_task(waiting)
        await asyncio.to_thread(int)
        with ThreadPoolExecutor(1) as own:
            await asyncio.get_running_loop().run_in_executor(own, int)
        assert now() == 0.0
        release.set()
        await slow
        assert now() == 0.0
        await timer

    run(main())


def test_a_job_that_fails_lets_go_of_the_clock() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            await asyncio.to_thread(int, "no number")
        await asyncio.sleep(1.0)

    run(main())


def test_a_job_that_is_no_longer_wanted_lets_go_of_the_clock() -> None:
    async def main() -> None:
        release = threading.Event()
        try:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(unwanted(release), 1.0)
        finally:
            release.set()

    async def unwanted(release: threading.Event) -> None:
        job = asyncio.get_running_loop().run_in_executor(None, release.wait)
        job.cancel()
        await asyncio.Event().wait()

    run(main())


def test_a_job_that_is_refused_does_not_hold_the_clock() -> None:
    async def main() -> None:
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        with pytest.raises(RuntimeError, match="shutdown"):
            asyncio.get_running_loop().run_in_executor(executor, int)
        await asyncio.sleep(1.0)
        assert now() == pytest.approx(1.0)

    run(main())


def test_the_end_of_the_executor_is_waited_for_whatever_the_limit() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        release = threading.Event()
        loop.run_in_executor(None, release.wait).cancel()
        shutdown = asyncio.create_task(loop.shutdown_default_executor(1.0))
        await asyncio.sleep(2.0)
        assert not shutdown.done()
        release.set()
        await shutdown

    run(main())


def test_without_any_timer_the_loop_waits_for_other_threads_for_real() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        word = loop.create_future()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(word.set_result, "now"))
        loop.call_soon(thread.start)
        assert await word == "now"
        assert now() == 0.0
        thread.join()

    run(main())
