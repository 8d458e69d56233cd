"""Rule 2 at the top of `appliance.quests.manager`: removed means over."""

import asyncio
import contextlib

import pytest

from appliance.quests import Quest, QuestManager
from tests.quests.jobs import (
    WHOLE_LIFE,
    Boom,
    Job,
    Step,
    at_once,
    failing,
    for_ever,
    in_virtual_time,
    logged,
    now,
    swallowing,
    taking,
    ticks,
)


@in_virtual_time
async def test_remove_returns_when_the_task_is_over_and_close_has_run() -> None:
    async with QuestManager() as manager:
        cleaning = swallowing(then=taking(3.0))
        by_quest = Job("by quest", run=cleaning, close=taking(1.0))
        by_name = Job("by name", run=cleaning, close=taking(1.0))
        await manager.add(by_quest.quest)
        await manager.add(by_name.quest)
        await ticks()
        await asyncio.gather(by_quest.quest.remove(), manager.remove("by name"))
        assert now() == 4.0
        assert by_quest.events == by_name.events == WHOLE_LIFE
        assert asyncio.all_tasks() == {asyncio.current_task()}


@in_virtual_time
async def test_remove_of_a_quest_that_is_closing_waits_for_it() -> None:
    async with QuestManager() as manager:
        job = Job(run=at_once, close=taking(1.5))
        await manager.add(job.quest)
        await ticks()
        assert "job" not in manager.quests
        await manager.remove("job")
        assert job.events[-1] == "closed"
        assert now() == 1.5


@in_virtual_time
async def test_remove_of_an_unknown_name_returns_at_once() -> None:
    async with QuestManager() as manager:
        await manager.remove("nobody")
        manager.discard("nobody")
        assert now() == 0.0


@in_virtual_time
async def test_discard_and_cancel_remove_without_waiting() -> None:
    async with QuestManager() as manager:
        jobs = [Job("a", close=taking(1.0)), Job("b", close=taking(1.0))]
        for job in jobs:
            manager.start(job.quest)
        await ticks()
        manager.discard("a")
        jobs[1].quest.cancel()
        assert not manager.quests
        assert [job.events[-1] for job in jobs] == ["run", "run"]
    assert [job.events for job in jobs] == [WHOLE_LIFE, WHOLE_LIFE]
    assert now() == 1.0


@pytest.mark.parametrize("limit", [0.5, 2.0])
@in_virtual_time
async def test_a_close_that_hangs_is_ended_at_its_limit(limit: float, caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        job = Job(close=for_ever, close_timeout=limit)
        await manager.add(job.quest)
        await ticks()
        await job.quest.remove()
        assert now() == pytest.approx(limit)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await manager.wait()
    [(name, error)] = logged(caplog)
    assert name == "job"
    assert isinstance(error, TimeoutError)
    assert str(error) == f"close of quest 'job' took longer than {limit:g} s"


@in_virtual_time
async def test_the_limit_of_close_is_two_seconds_by_default() -> None:
    async def init() -> None:
        return None

    async def run(_: None) -> None:
        return None

    async def close(_: None) -> None:
        await for_ever()

    async with QuestManager() as manager:
        quest = await manager.add(Quest("default", init, run, close))
        with pytest.raises(TimeoutError):
            await manager.wait()
        assert quest.close_timeout == 2.0
        assert now() == pytest.approx(2.0)


@in_virtual_time
async def test_a_close_that_takes_its_time_within_the_limit_is_fine(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        job = Job(close=taking(1.9))
        await manager.add(job.quest)
        await ticks()
        await job.quest.remove()
        assert job.events == WHOLE_LIFE
    assert logged(caplog) == []


@in_virtual_time
async def test_a_close_that_fails_does_not_hold_up_the_name(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        error = Boom()
        await manager.add(Job(close=failing(error)).quest)
        await ticks()
        successor = Job()
        await manager.add(successor.quest)
        assert await successor.quest.get() is successor.resource
        assert logged(caplog) == [("job", error)]


@pytest.mark.parametrize("close", [for_ever, swallowing(1, for_ever), swallowing(2, for_ever)])
@in_virtual_time
async def test_a_close_that_hangs_does_not_hold_up_name_siblings_or_exit(close: Step) -> None:
    async with QuestManager() as manager:
        sibling = Job("sibling", run=taking(0.5))
        await manager.add(Job(close=close).quest)
        await manager.add(sibling.quest)
        await ticks()
        successor = Job(close=close)
        await manager.add(successor.quest)
        await successor.quest.get()
        assert now() <= 2.3
        assert sibling.events == WHOLE_LIFE
        leaving = now()
    assert now() - leaving <= 2.3
    assert asyncio.all_tasks() == {asyncio.current_task()}


@in_virtual_time
async def test_a_close_that_cannot_be_ended_is_left_to_itself(caplog: pytest.LogCaptureFixture) -> None:
    end = asyncio.Event()

    async def stubborn() -> None:
        while not end.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await end.wait()
        raise Boom

    async with QuestManager() as manager:
        job = Job(close=stubborn)
        await manager.add(job.quest)
        await ticks()
        await job.quest.remove()
        assert 2.0 <= now() <= 2.4
        await manager.add(Job().quest)
    assert [type(error) for _, error in logged(caplog)] == [TimeoutError]
    end.set()
    await ticks()
    assert [type(error) for _, error in logged(caplog)] == [TimeoutError, Boom]


@in_virtual_time
async def test_a_close_that_fails_when_its_time_is_up_tells_both(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        await manager.add(Job(run=at_once, close=swallowing(then=failing(Boom()))).quest)
        with pytest.raises(ExceptionGroup) as caught:
            await manager.wait()
        assert [type(error) for error in caught.value.exceptions] == [TimeoutError, Boom]
    assert [type(error) for _, error in logged(caplog)] == [TimeoutError, Boom]
