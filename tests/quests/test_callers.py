"""Rule 5 at the top of `appliance.quests.manager`: cancelled callers, and quests that deal with themselves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from appliance.quests import ManagerClosed, QuestManager
from tests.quests.jobs import (
    WHOLE_LIFE,
    Job,
    Step,
    at_once,
    for_ever,
    in_virtual_time,
    logged,
    now,
    taking,
    ticks,
)


@in_virtual_time
async def test_a_caller_cancelled_in_remove_is_cancelled_and_the_removal_goes_on() -> None:
    async with QuestManager() as manager:
        job = Job(close=taking(1.0))
        await manager.add(job.quest)
        await ticks()
        callers = [asyncio.create_task(job.quest.remove()), asyncio.create_task(manager.remove("job"))]
        await ticks()
        for caller in callers:
            caller.cancel()
        await asyncio.wait(callers)
        assert all(caller.cancelled() for caller in callers)
        assert now() == 0.0
        await asyncio.sleep(1.0)
        await ticks()
        assert job.events == WHOLE_LIFE
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("waited", range(12))
@pytest.mark.parametrize("call", ["get", "remove", "remove by name", "wait"])
@in_virtual_time
async def test_a_caller_cancelled_at_any_moment_is_cancelled(call: str, waited: int) -> None:
    async with QuestManager() as manager:
        job = Job(run=at_once)
        await manager.add(job.quest)
        calls: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
            "get": job.quest.get,
            "remove": job.quest.remove,
            "remove by name": lambda: manager.remove("job"),
            "wait": manager.wait,
        }
        caller = asyncio.create_task(calls[call]())
        await ticks(waited)
        in_time = caller.cancel()
        await asyncio.wait({caller})
        assert caller.cancelled() == in_time
    assert job.events.count("got") == job.events.count("closed")


@in_virtual_time
async def test_a_caller_cancelled_before_its_add_has_not_added() -> None:
    async with QuestManager() as manager:
        quest = Job().quest
        caller = asyncio.create_task(manager.add(quest))
        caller.cancel()
        await asyncio.wait({caller})
        assert caller.cancelled()
        assert not manager.quests
        assert await manager.add(quest) is quest


@in_virtual_time
async def test_a_caller_cancelled_after_its_add_has_added() -> None:
    async with QuestManager() as manager:
        await manager.add(Job(close=taking(1.0)).quest)
        await ticks()
        successor = Job()

        async def call() -> None:
            await manager.add(successor.quest)
            await successor.quest.get()

        caller = asyncio.create_task(call())
        await ticks()
        caller.cancel()
        await asyncio.wait({caller})
        assert caller.cancelled()
        assert await successor.quest.get() is successor.resource


@in_virtual_time
async def test_a_caller_cancelled_in_get_leaves_the_quest_alone() -> None:
    async with QuestManager() as manager:
        job = Job(init=taking(1.0))
        await manager.add(job.quest)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await job.quest.get()
        assert await job.quest.get() is job.resource


@in_virtual_time
async def test_the_block_of_a_quest_cancelled_while_it_removes() -> None:
    async with QuestManager() as manager:
        job = Job(close=taking(1.0))

        async def call() -> None:
            async with await manager.add(job.quest) as quest:
                await quest.get()
                await for_ever()

        caller = asyncio.create_task(call())
        await ticks()
        caller.cancel()
        await asyncio.sleep(0.5)
        assert job.events[-1] == "close"
        caller.cancel()
        await asyncio.wait({caller})
        assert caller.cancelled()
        assert now() == 0.5
    assert job.events == WHOLE_LIFE


Act = Callable[[QuestManager, Job], Step]


def remove(manager: QuestManager, job: Job) -> Step:
    return lambda: job.quest.remove()


def remove_by_name(manager: QuestManager, job: Job) -> Step:
    return lambda: manager.remove("job")


def leave_block(manager: QuestManager, job: Job) -> Step:
    async def step() -> None:
        async with job.quest:
            pass

    return step


def by_a_child(manager: QuestManager, job: Job) -> Step:
    async def step() -> None:
        await asyncio.create_task(job.quest.remove())

    return step


def in_a_group(manager: QuestManager, job: Job) -> Step:
    async def step() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(job.quest.remove())

    return step


def in_finally(manager: QuestManager, job: Job) -> Step:
    async def step() -> None:
        job.quest.cancel()
        try:
            await for_ever()
        finally:
            await manager.remove("job")

    return step


@pytest.mark.parametrize("act", [remove, remove_by_name, leave_block, by_a_child, in_a_group, in_finally])
@pytest.mark.parametrize("where", ["init", "run"])
@in_virtual_time
async def test_a_quest_may_remove_itself(act: Act, where: str) -> None:
    async with QuestManager() as manager:
        job = Job()

        async def step() -> None:
            await act(manager, job)()
            pytest.fail("a removed quest goes on")

        job = Job(init=step) if where == "init" else Job(run=step)
        await manager.add(job.quest)
        await manager.wait()
        assert not manager.quests
        assert now() == 0.0
    assert job.events == (["init"] if where == "init" else WHOLE_LIFE)


@pytest.mark.parametrize("act", [remove, remove_by_name, leave_block])
@in_virtual_time
async def test_a_quest_may_remove_itself_in_its_close(act: Act, caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        job = Job()
        job = Job(run=at_once, close=lambda: act(manager, job)())
        await manager.add(job.quest)
        await manager.wait()
        assert now() == 0.0
    assert job.events == WHOLE_LIFE
    assert logged(caplog) == []


@pytest.mark.parametrize("where", ["init", "run", "close"])
@in_virtual_time
async def test_a_quest_may_replace_itself(where: str) -> None:
    async with QuestManager() as manager:
        events: list[str] = []
        successor = Job(events=events, label="new ")

        async def step() -> None:
            assert await manager.add(successor.quest) is successor.quest
            if where != "close":
                await for_ever()

        if where == "init":
            job = Job(init=step, events=events)
        elif where == "run":
            job = Job(run=step, events=events)
        else:
            job = Job(run=at_once, close=step, events=events)
        await manager.add(job.quest)
        assert await successor.quest.get() is successor.resource
        assert manager.quests == {"job": successor.quest}
        await ticks()
        assert events == [*(["init"] if where == "init" else WHOLE_LIFE), "new init", "new got", "new run"]


@in_virtual_time
async def test_a_quest_that_replaced_itself_may_take_it_back() -> None:
    """It must not wait for a successor that waits for it."""
    async with QuestManager() as manager:
        successor = Job()

        async def run() -> None:
            async with await manager.add(successor.quest):
                await for_ever()

        job = Job(run=run)
        await manager.add(job.quest)
        await ticks()
        assert job.events == WHOLE_LIFE
        assert successor.events == []
        assert not manager.quests
        assert now() == 0.0


@in_virtual_time
async def test_quests_may_remove_each_other() -> None:
    async with QuestManager() as manager:
        first = Job("first", run=lambda: manager.remove("second"))
        second = Job("second", run=lambda: manager.remove("first"))
        await manager.add(first.quest)
        await manager.add(second.quest)
        await manager.wait()
        assert first.events == WHOLE_LIFE
        assert not manager.quests
        assert now() == 0.0


@in_virtual_time
async def test_a_quest_may_start_itself_anew_when_it_ends() -> None:
    async with QuestManager() as manager:
        lives: list[Job] = []

        async def add() -> None:
            lives.append(Job(run=run))
            await manager.add(lives[-1].quest)

        async def run() -> None:
            try:
                await for_ever()
            finally:
                await add()

        await add()
        await lives[-1].quest.get()
        await ticks()
        await manager.remove("job")
        await lives[-1].quest.get()
        await ticks()
        assert len(lives) == 2
        assert manager.quests == {"job": lives[1].quest}
    with pytest.raises(ManagerClosed):
        await manager.wait()
    assert [job.events for job in lives] == [WHOLE_LIFE, WHOLE_LIFE, []]
