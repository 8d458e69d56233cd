"""Rule 4 at the top of `appliance.quests.manager`: one at a time."""

import asyncio

import pytest

from appliance.quests import QuestManager, QuestRemoved
from tests.quests.jobs import WHOLE_LIFE, Job, at_once, in_virtual_time, now, swallowing, taking, ticks


@in_virtual_time
async def test_a_look_right_after_add_sees_the_new_quest() -> None:
    async with QuestManager() as manager:
        first, second = Job(close=taking(1.0)).quest, Job().quest
        assert await manager.add(first) is first
        assert manager.quests == {"job": first}
        await ticks()
        assert manager.start(second) is second
        assert manager.quests == {"job": second}
        assert now() == 0.0


@in_virtual_time
async def test_init_starts_after_run_and_close_of_the_predecessor() -> None:
    async with QuestManager() as manager:
        events: list[str] = []
        cleaning = swallowing(then=taking(1.0))
        await manager.add(Job(run=cleaning, close=taking(1.0), events=events, label="1 ").quest)
        await ticks()
        second = await manager.add(Job(events=events, label="2 ").quest)
        await second.get()
        assert now() == 2.0
        await ticks()
    assert events == [f"1 {event}" for event in WHOLE_LIFE] + [f"2 {event}" for event in WHOLE_LIFE]


@in_virtual_time
async def test_init_starts_after_a_predecessor_that_ended_by_itself_is_closed() -> None:
    async with QuestManager() as manager:
        first = Job(run=at_once, close=taking(1.0))
        await manager.add(first.quest)
        await ticks()
        assert not manager.quests
        second = await manager.add(Job().quest)
        await second.get()
        assert first.events == WHOLE_LIFE
        assert now() == 1.0


@in_virtual_time
async def test_the_last_add_wins() -> None:
    async with QuestManager() as manager:
        jobs = [Job(close=taking(1.0)) for _ in range(5)]
        await manager.add(jobs[0].quest)
        await ticks()
        await asyncio.gather(*(manager.add(job.quest) for job in jobs[1:]))
        assert manager.quests == {"job": jobs[-1].quest}
        await jobs[-1].quest.get()
        assert now() == 1.0
        assert [job.events for job in jobs[1:-1]] == [[], [], []]
        for job in jobs[1:-1]:
            with pytest.raises(QuestRemoved):
                await job.quest.get()


@in_virtual_time
async def test_operations_take_effect_in_the_order_asked_for() -> None:
    async with QuestManager() as manager:
        first, second, third = (Job(close=taking(1.0)) for _ in range(3))
        await manager.add(first.quest)
        await ticks()
        removing = asyncio.create_task(manager.remove("job"))
        await ticks()
        await manager.add(second.quest)
        await removing
        assert first.events == WHOLE_LIFE
        await second.quest.get()
        assert manager.quests == {"job": second.quest}

        replaced = asyncio.create_task(manager.add(third.quest))
        removed = asyncio.create_task(manager.remove("job"))
        await asyncio.gather(replaced, removed)
        assert third.events == []
        assert second.events == WHOLE_LIFE
        assert not manager.quests


@in_virtual_time
async def test_remove_by_name_waits_for_what_is_still_closing_there() -> None:
    async with QuestManager() as manager:
        first, second = Job(close=taking(1.0)), Job()
        await manager.add(first.quest)
        await ticks()
        await manager.add(second.quest)
        await manager.remove("job")
        assert first.events == WHOLE_LIFE
        assert second.events == []


@in_virtual_time
async def test_removing_one_that_was_replaced_leaves_its_successor_alone() -> None:
    async with QuestManager() as manager:
        first, second = Job(), Job()
        await manager.add(first.quest)
        await ticks()
        await manager.add(second.quest)
        await first.quest.remove()
        assert await second.quest.get() is second.resource
        assert manager.quests == {"job": second.quest}


@in_virtual_time
async def test_other_names_are_not_waited_for() -> None:
    async with QuestManager() as manager:
        await manager.add(Job("slow", close=taking(1.0)).quest)
        await ticks()
        manager.discard("slow")
        other = await manager.add(Job("other").quest)
        await other.get()
        assert now() == 0.0
