"""Rule 3 at the top of `appliance.quests.manager`: waiters wake."""

import asyncio
from collections.abc import Callable

import pytest

from appliance.quests import ManagerClosed, Quest, QuestManager, QuestRemoved
from tests.quests.jobs import Boom, Job, Step, failing, for_ever, in_virtual_time, now, swallowing, taking, ticks

Ending = Callable[[QuestManager, Quest[object]], object]


@pytest.mark.parametrize(
    "end",
    [
        lambda manager, quest: quest.cancel(),
        lambda manager, quest: manager.discard("job"),
        lambda manager, quest: asyncio.ensure_future(quest.remove()),
        lambda manager, quest: asyncio.ensure_future(manager.remove("job")),
        lambda manager, quest: manager.start(Job().quest),
        lambda manager, quest: asyncio.ensure_future(manager.__aexit__(None, None, None)),
    ],
    ids=["cancel", "discard", "Quest.remove", "QuestManager.remove", "replaced", "exit"],
)
@pytest.mark.parametrize("init", [for_ever, swallowing(then=taking(5.0))], ids=["obeys", "swallows"])
@in_virtual_time
async def test_waiters_wake_at_once_when_the_quest_is_removed(end: Ending, init: Step) -> None:
    async with QuestManager() as manager:
        quest = await manager.add(Job(init=init).quest)
        waiters = [asyncio.create_task(quest.get()) for _ in range(3)]
        await ticks()
        end(manager, quest)
        await ticks()
        assert [type(waiter.exception()) for waiter in waiters] == [QuestRemoved] * 3


@in_virtual_time
async def test_waiters_wake_when_the_quest_is_removed_before_its_turn() -> None:
    async with QuestManager() as manager:
        await manager.add(Job(close=taking(1.0)).quest)
        await ticks()
        quest = await manager.add(Job().quest)
        waiter = asyncio.create_task(quest.get())
        await ticks()
        await quest.remove()
        with pytest.raises(QuestRemoved):
            await waiter
        assert now() == 0.0


@in_virtual_time
async def test_waiters_wake_with_the_error_of_init() -> None:
    async with QuestManager() as manager:
        error = Boom()

        async def init() -> None:
            await asyncio.sleep(1.0)
            raise error

        quest = await manager.add(Job(init=init).quest)
        waiters = [asyncio.create_task(quest.get()) for _ in range(3)]
        await asyncio.wait(waiters)
        assert [waiter.exception() for waiter in waiters] == [error] * 3


@in_virtual_time
async def test_waiters_wake_when_the_manager_refuses_the_quest() -> None:
    async with QuestManager() as manager:
        pass
    quest = Job().quest
    waiter = asyncio.create_task(quest.get())
    await ticks()
    with pytest.raises(ManagerClosed):
        await manager.add(quest)
    with pytest.raises(QuestRemoved):
        await waiter


@in_virtual_time
async def test_an_init_that_cancels_itself_does_not_look_like_the_waiters_cancellation() -> None:
    async with QuestManager() as manager:
        quest = await manager.add(Job(init=failing(asyncio.CancelledError())).quest)
        with pytest.raises(QuestRemoved):
            await quest.get()
        with pytest.raises(RuntimeError, match="quest job: work was cancelled, but not by a removal"):
            await manager.wait()


@in_virtual_time
async def test_a_cancelled_waiter_disturbs_no_other() -> None:
    async with QuestManager() as manager:
        job = Job(init=taking(1.0))
        await manager.add(job.quest)
        first, second = (asyncio.create_task(job.quest.get()) for _ in range(2))
        await ticks()
        first.cancel()
        assert await second is job.resource
        assert first.cancelled()
