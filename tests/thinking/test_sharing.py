"""Work is done once for all who want it at once, and never outlives them."""

import asyncio
import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.sharing import Shared
from tests.thinking.lan import clock, run


class Job:
    """Takes a second, and a tenth of one to clear up."""

    def __init__(self) -> None:
        self.begun = self.under_way = self.most = self.done = 0
        self.fails: Exception | None = None

    async def __call__(self) -> int:
        self.begun += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(1.0)
            if self.fails:
                raise self.fails
        finally:
            try:
                await asyncio.sleep(0.1)
            finally:
                self.under_way -= 1
        self.done += 1
        return self.begun


def test_who_asks_at_once_gets_the_same() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        assert await asyncio.gather(*(shared.get("a", job) for _ in range(3))) == [1, 1, 1]
        assert await shared.get("a", job) == 2
        assert job.most == 1
        await asyncio.gather(*(shared.get(on, job) for on in "ab"))
        assert job.most == 2, "on different things they are different work"

    run(main())


def test_a_failure_is_everybodys() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        job.fails = OSError("no")
        results = await asyncio.gather(*(shared.get("a", job) for _ in range(2)), return_exceptions=True)
        assert results == [job.fails, job.fails]
        assert job.begun == 1

    run(main())


def test_one_who_leaves_disturbs_no_other() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        leaver, other = (asyncio.create_task(shared.get("a", job)) for _ in range(2))
        await asyncio.sleep(0.5)
        leaver.cancel()
        await asyncio.wait({leaver})
        assert leaver.cancelled()
        assert clock() == 0.5
        assert await other == 1

    run(main())


def test_the_last_who_leaves_waits_until_nothing_is_left() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        leavers = [asyncio.create_task(shared.get("a", job)) for _ in range(2)]
        await asyncio.sleep(0.5)
        for leaver in leavers:
            leaver.cancel()
        await asyncio.wait(leavers)
        assert all(leaver.cancelled() for leaver in leavers)
        assert job.under_way == 0
        assert clock() == pytest.approx(0.6)

    run(main())


def test_who_comes_while_it_is_abandoned_gets_new_work_after_that() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        leaver = asyncio.create_task(shared.get("a", job))
        await asyncio.sleep(0.5)
        leaver.cancel()
        await asyncio.sleep(0.05)
        assert await asyncio.gather(*(shared.get("a", job) for _ in range(2))) == [2, 2]
        assert job.most == 1

    run(main())


def test_a_second_cancellation_does_not_leave_it_behind() -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()
        leaver = asyncio.create_task(shared.get("a", job))
        await asyncio.sleep(0.5)
        leaver.cancel()
        await asyncio.sleep(0.05)
        leaver.cancel()
        await asyncio.wait({leaver})
        assert leaver.cancelled()
        assert job.under_way == 0

    run(main())


def test_a_failure_that_nobody_waits_for_is_no_complaint(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        job, shared = Job(), Shared[str, int]()

        async def fails() -> int:
            try:
                return await job()
            except asyncio.CancelledError:
                raise OSError("while it ended") from None

        leaver = asyncio.create_task(shared.get("a", fails))
        await asyncio.sleep(0.5)
        leaver.cancel()
        await asyncio.wait({leaver})

    run(main())
    gc.collect()
    assert not caplog.records


arrivals = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 3), st.sampled_from("ab")), max_size=8)


@given(arrivals)
def test_it_never_overlaps_and_nothing_is_left(arrivals: list[tuple[float, float, str]]) -> None:
    async def main() -> None:
        jobs, shared = {"a": Job(), "b": Job()}, Shared[str, int]()

        async def come(at: float, stay: float, on: str) -> bool:
            await asyncio.sleep(at)
            try:
                async with asyncio.timeout(stay):
                    await shared.get(on, jobs[on])
            except TimeoutError:
                return False
            return True

        async with asyncio.TaskGroup() as callers:
            served = [callers.create_task(come(*arrival)) for arrival in arrivals]
        assert len(asyncio.all_tasks()) == 1
        for on, job in jobs.items():
            lucky = [task.result() for task, arrival in zip(served, arrivals, strict=True) if arrival[2] == on]
            assert job.most <= 1
            assert job.under_way == 0
            assert job.begun <= len(lucky)
            assert job.done or not any(lucky)

    run(main())
