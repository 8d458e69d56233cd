"""Rule 7 at the top of `appliance.quests.manager`: exit."""

import asyncio

import pytest

from appliance.quests import ManagerClosed, QuestManager
from tests.quests.jobs import (
    WHOLE_LIFE,
    Boom,
    Job,
    at_once,
    failing,
    for_ever,
    in_virtual_time,
    logged,
    now,
    taking,
    ticks,
)


@in_virtual_time
async def test_exit_closes_all_side_by_side() -> None:
    async with QuestManager() as manager:
        jobs = [Job(str(number), close=taking(1.5)) for number in range(10)]
        for job in jobs:
            await manager.add(job.quest)
        await ticks()
    assert now() == 1.5
    assert all(job.events == WHOLE_LIFE for job in jobs)
    assert not manager.quests
    assert asyncio.all_tasks() == {asyncio.current_task()}


@in_virtual_time
async def test_exit_waits_for_what_was_discarded_or_ended_before() -> None:
    async with QuestManager() as manager:
        discarded, ended = Job("discarded", close=taking(1.0)), Job("ended", run=at_once, close=taking(1.0))
        await manager.add(discarded.quest)
        await manager.add(ended.quest)
        await ticks()
        manager.discard("discarded")
    assert discarded.events == ended.events == WHOLE_LIFE


@in_virtual_time
async def test_exit_drops_what_waits_for_its_turn() -> None:
    async with QuestManager() as manager:
        await manager.add(Job(close=taking(1.0)).quest)
        await ticks()
        successor = Job()
        await manager.add(successor.quest)
    assert successor.events == []
    assert now() == 1.0


@in_virtual_time
async def test_new_quests_are_refused_during_and_after_the_exit() -> None:
    refused: list[str] = []

    async def close() -> None:
        for name in ("job", "other"):
            with pytest.raises(ManagerClosed, match=f"quest '{name}' was refused"):
                await manager.add(Job(name).quest)
            refused.append(name)

    async with QuestManager() as manager:
        await manager.add(Job(close=close).quest)
        await ticks()
    assert refused == ["job", "other"]
    with pytest.raises(ManagerClosed):
        manager.start(Job().quest)
    assert not manager.quests


@in_virtual_time
async def test_a_cancellation_of_the_exit_goes_on_outward_when_all_is_closed() -> None:
    jobs = [Job("obeys", close=taking(1.0)), Job("hangs", close=for_ever)]

    async def body() -> None:
        async with QuestManager() as manager:
            for job in jobs:
                await manager.add(job.quest)
            await ticks()

    task = asyncio.create_task(body())
    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.sleep(0.25)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert now() == pytest.approx(2.0)
    assert jobs[0].events == WHOLE_LIFE
    assert asyncio.all_tasks() == {asyncio.current_task()}


@in_virtual_time
async def test_a_time_limit_around_the_manager_is_honoured() -> None:
    job = Job(close=taking(1.0))

    async def body() -> None:
        async with asyncio.timeout(0.5), QuestManager() as manager:
            await manager.add(job.quest)
            await ticks()

    with pytest.raises(TimeoutError):
        await body()
    assert job.events == WHOLE_LIFE


@in_virtual_time
async def test_a_cancellation_of_the_body_goes_on_outward() -> None:
    job = Job(close=taking(1.0))

    async def body() -> None:
        async with QuestManager() as manager:
            await manager.add(job.quest)
            await for_ever()

    task = asyncio.create_task(body())
    await ticks()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert job.events == WHOLE_LIFE


@in_virtual_time
async def test_an_error_of_the_body_is_not_hidden_by_failures_of_quests(caplog: pytest.LogCaptureFixture) -> None:
    failure = Boom("quest")
    manager = QuestManager()

    async def body() -> None:
        async with manager:
            await manager.add(Job(run=failing(failure)).quest)
            await ticks()
            raise Boom("body")

    with pytest.raises(Boom, match="body"):
        await body()
    assert logged(caplog) == [("job", failure)]
    with pytest.raises(Boom, match="quest"):
        await manager.wait()


@in_virtual_time
async def test_wait_wakes_at_the_exit() -> None:
    async with QuestManager() as manager:
        await manager.add(Job().quest)
        waiting = asyncio.create_task(manager.wait())
        await ticks()
        assert not waiting.done()
    await waiting
