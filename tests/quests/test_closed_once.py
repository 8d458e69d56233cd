"""Rule 1 at the top of `appliance.quests.manager`: closed once."""

import asyncio
import contextlib

import pytest

from appliance.quests import Quest, QuestManager, QuestRemoved
from tests.quests.jobs import (
    WHOLE_LIFE,
    Boom,
    Job,
    Step,
    at_once,
    failing,
    for_ever,
    in_virtual_time,
    now,
    swallowing,
    taking,
    ticks,
)


@in_virtual_time
async def test_closed_once_after_a_natural_end() -> None:
    async with QuestManager() as manager:
        job = Job(run=taking(1.0))
        await manager.add(job.quest)
        await manager.wait()
        await job.quest.remove()
    assert job.events == WHOLE_LIFE


@in_virtual_time
async def test_closed_once_after_a_failure() -> None:
    async with QuestManager() as manager:
        job = Job(run=failing(Boom()))
        await manager.add(job.quest)
        with pytest.raises(Boom):
            await manager.wait()
        await job.quest.remove()
    assert job.events == WHOLE_LIFE


@in_virtual_time
async def test_nothing_is_closed_when_init_fails() -> None:
    async with QuestManager() as manager:
        job = Job(init=failing(Boom()))
        await manager.add(job.quest)
        with pytest.raises(Boom):
            await manager.wait()
    assert job.events == ["init"]


@pytest.mark.parametrize("waited", range(8))
@in_virtual_time
async def test_closed_once_after_a_removal_at_any_moment(waited: int) -> None:
    async with QuestManager() as manager:
        job = Job(init=lambda: asyncio.sleep(0), close=lambda: asyncio.sleep(0))
        await manager.add(job.quest)
        await ticks(waited)
        begun = list(job.events)
        await job.quest.remove()
        assert ("run" in job.events) == ("run" in begun)
        assert job.events in ([], ["init"], WHOLE_LIFE)


@in_virtual_time
async def test_removal_before_init() -> None:
    async with QuestManager() as manager:
        job = Job()
        await manager.add(job.quest)
        await job.quest.remove()
        await ticks()
    assert job.events == []


@in_virtual_time
async def test_removal_during_init() -> None:
    async with QuestManager() as manager:
        job = Job(init=taking(5.0))
        await manager.add(job.quest)
        await asyncio.sleep(1.0)
        await job.quest.remove()
        assert now() == 1.0
    assert job.events == ["init"]


@in_virtual_time
async def test_removal_in_the_last_moment_of_init() -> None:
    """The removal comes when init will go on in this very turn of the loop: nothing is lost in between."""
    async with QuestManager() as manager:
        door = asyncio.Event()
        opened: list[bool] = []

        async def init() -> bool:
            with contextlib.suppress(asyncio.CancelledError):
                await door.wait()
            opened.append(True)
            return True

        async def run(_: bool) -> None:
            pytest.fail("a removed quest runs")

        async def close(_: bool) -> None:
            opened.pop()

        quest = await manager.add(Quest("door", init, run, close))
        await ticks()
        door.set()
        await quest.remove()
        assert opened == []


@in_virtual_time
async def test_removal_just_after_init() -> None:
    async with QuestManager() as manager:
        job = Job()

        async def init() -> object:
            job.quest.cancel()
            return job.resource

        closed: list[object] = []

        async def run(_: object) -> None:
            pytest.fail("a removed quest runs")

        async def close(resource: object) -> None:
            closed.append(resource)

        job.quest = Quest("job", init, run, close)
        await manager.add(job.quest)
        with pytest.raises(QuestRemoved):
            await job.quest.get()
        await job.quest.remove()
        assert closed == [job.resource]


@pytest.mark.parametrize("then", [at_once, taking(1.0)])
@in_virtual_time
async def test_an_init_that_swallows_its_cancellation(then: Step) -> None:
    async with QuestManager() as manager:
        job = Job(init=swallowing(then=then))
        await manager.add(job.quest)
        await ticks()
        await job.quest.remove()
        assert job.quest.get_nowait() is None
        await ticks()
    assert job.events == ["init", "got", "close", "closed"]


@in_virtual_time
async def test_an_init_that_fails_when_it_is_cancelled() -> None:
    async with QuestManager() as manager:
        error = Boom()
        job = Job(init=swallowing(then=failing(error)))
        await manager.add(job.quest)
        await ticks()
        await job.quest.remove()
        with pytest.raises(QuestRemoved):
            await job.quest.get()
        with pytest.raises(Boom):
            await manager.wait()
    assert job.events == ["init"]


@in_virtual_time
async def test_closed_once_when_the_exit_comes_first() -> None:
    async with QuestManager() as manager:
        jobs = [Job(str(number), init=init) for number, init in enumerate((at_once, for_ever, swallowing()))]
        for job in jobs:
            await manager.add(job.quest)
        await ticks()
    assert [job.events for job in jobs] == [WHOLE_LIFE, ["init"], ["init", "got", "close", "closed"]]


@in_virtual_time
async def test_what_init_got_is_closed_when_the_loop_cancels_every_task() -> None:
    manager = QuestManager()
    working, starting = Job("working"), Job("starting")
    await manager.add(working.quest)
    await ticks()
    await manager.add(starting.quest)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert working.events == WHOLE_LIFE
    assert starting.events == []
    with pytest.raises(QuestRemoved):
        await starting.quest.get()
    assert not manager.quests
