"""A quest by itself: its resource, and what may be said to it before a manager has it."""

import asyncio
import gc
from typing import assert_type
from weakref import WeakSet

import pytest

from appliance.quests import Quest, QuestManager, QuestRemoved
from tests.quests.jobs import (
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
async def test_get_waits_for_the_resource_and_get_nowait_does_not() -> None:
    async with QuestManager() as manager:
        job = Job(init=taking(3.0))
        quest = await manager.add(job.quest)
        assert quest is job.quest
        assert quest.get_nowait() is None
        assert await quest.get() is job.resource
        assert now() == 3.0
        assert quest.get_nowait() is job.resource


@in_virtual_time
async def test_none_is_a_resource_like_any_other() -> None:
    async def init() -> None:
        return None

    closed: list[None] = []

    async def close(resource: None) -> None:
        closed.append(resource)

    async def run(_: None) -> None:
        await for_ever()

    async with QuestManager() as manager:
        quest = await manager.add(Quest("none", init, run, close))
        await quest.get()
    assert closed == [None]


@in_virtual_time
async def test_from_run_step_runs_without_a_resource() -> None:
    ran: list[bool] = []

    async def run() -> None:
        ran.append(True)
        await for_ever()

    async with QuestManager() as manager:
        quest = Quest.from_run_step("step", run)
        assert_type(quest, Quest[None])
        await manager.add(quest)
        await quest.get()
        assert quest.get_nowait() is None
        await ticks()
    assert ran == [True]


@in_virtual_time
async def test_types_go_through_the_manager() -> None:
    async def init() -> int:
        return 3

    async def run(number: int) -> None:
        assert number == 3
        await for_ever()

    async with QuestManager() as manager:
        quest = await manager.add(Quest("number", init, run))
        assert_type(quest, Quest[int])
        assert_type(await quest.get(), int)
        assert_type(quest.get_nowait(), int | None)


@in_virtual_time
async def test_get_may_be_asked_before_the_quest_is_added() -> None:
    job = Job()
    early = asyncio.create_task(job.quest.get())
    await ticks()
    assert not early.done()
    async with QuestManager() as manager:
        await manager.add(job.quest)
        assert await early is job.resource


@in_virtual_time
async def test_who_waited_gets_the_resource_even_if_run_is_over_in_the_same_instant() -> None:
    async with QuestManager() as manager:
        job = Job(run=at_once)
        quest = await manager.add(job.quest)
        assert await quest.get() is job.resource


@in_virtual_time
async def test_a_quest_whose_run_is_over_has_no_resource_to_give() -> None:
    async with QuestManager() as manager:
        quest = await manager.add(Job(run=at_once, close=taking(1.0)).quest)
        await ticks()
        assert quest.get_nowait() is None
        with pytest.raises(QuestRemoved):
            await quest.get()
        await manager.wait()
        with pytest.raises(QuestRemoved, match="quest 'job' was removed or is over"):
            await quest.get()


@in_virtual_time
async def test_the_error_of_init_can_be_had_late_too() -> None:
    async with QuestManager() as manager:
        error = Boom()
        quest = await manager.add(Job(init=failing(error)).quest)
        await ticks()
        assert quest.get_nowait() is None
        with pytest.raises(Boom) as caught:
            await quest.get()
        assert caught.value is error


@in_virtual_time
async def test_leaving_the_block_of_a_quest_removes_it() -> None:
    async with QuestManager() as manager:
        job = Job(close=taking(1.0))
        async with await manager.add(job.quest) as quest:
            assert await quest.get() is job.resource
        assert now() == 1.0
        assert job.events == ["init", "got", "run", "ran", "close", "closed"]
        assert not manager.quests


@in_virtual_time
async def test_an_error_in_the_block_of_a_quest_goes_on_outward() -> None:
    async with QuestManager() as manager:
        job = Job()

        async def body() -> None:
            async with await manager.add(job.quest) as quest:
                await quest.get()
                raise Boom

        with pytest.raises(Boom):
            await body()
        assert job.events[-1] == "closed"


@in_virtual_time
async def test_a_quest_that_was_removed_before_it_was_added_is_refused() -> None:
    async with QuestManager() as manager:
        other = await manager.add(Job().quest)
        job = Job()
        early = asyncio.create_task(job.quest.get())
        await ticks()
        await job.quest.remove()
        with pytest.raises(QuestRemoved):
            await early
        with pytest.raises(QuestRemoved):
            await manager.add(job.quest)
        await ticks()
        assert job.events == []
        assert manager.quests == {"job": other}


@in_virtual_time
async def test_a_quest_lives_once() -> None:
    async with QuestManager() as manager, QuestManager() as another:
        quest = await manager.add(Job().quest)
        for other in (manager, another):
            with pytest.raises(ValueError, match="'job' was added before"):
                await other.add(quest)
        assert manager.quests == {"job": quest}
        assert not another.quests


@in_virtual_time
async def test_a_quest_can_be_made_without_a_loop_and_removed_twice() -> None:
    job = await asyncio.to_thread(Job)
    async with QuestManager() as manager:
        await manager.add(job.quest)
        await job.quest.get()
        await asyncio.gather(job.quest.remove(), job.quest.remove())
        await job.quest.remove()
        job.quest.cancel()
    assert job.events == ["init", "got", "run", "ran", "close", "closed"]


@in_virtual_time
async def test_work_that_swallows_cancellations_is_cancelled_again(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        job = Job(run=swallowing(2))
        await manager.add(job.quest)
        await job.quest.get()
        await ticks()
        await job.quest.remove()
        assert now() == pytest.approx(10.0)
        assert job.events[-1] == "closed"
        warning = caplog.records[0]
        assert warning.getMessage() == "quest job goes on after its removal"
        assert vars(warning)["quest"] == "job"
        await asyncio.sleep(100.0)
        assert len(caplog.records) == 1


@pytest.mark.parametrize("run", [at_once, for_ever])
@in_virtual_time
async def test_nothing_keeps_a_quest_that_is_over(run: Step) -> None:
    async with QuestManager() as manager:
        quests: WeakSet[Quest[object]] = WeakSet()
        resources: WeakSet[Job] = WeakSet()
        for _ in range(3):
            job = Job(run=run)
            resources.add(job)
            quests.add(await manager.add(job.quest))
            await ticks()
            await job.quest.remove()
            del job
            await manager.wait()
        gc.collect()
        assert not quests
        assert not resources
