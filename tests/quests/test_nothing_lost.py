"""Rule 6 at the top of `appliance.quests.manager`: nothing stale, nothing lost."""

import asyncio
import contextlib

import pytest

from appliance.quests import QuestManager
from tests.quests.jobs import (
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
    ticks_until,
)


@in_virtual_time
async def test_the_view_is_live_and_read_only() -> None:
    async with QuestManager() as manager:
        view = manager.quests
        assert len(view) == 0
        quest = await manager.add(Job().quest)
        assert dict(view) == {"job": quest}
        with pytest.raises(TypeError):
            view["job"] = quest  # type: ignore[index]
        await quest.remove()
        assert len(view) == 0


@pytest.mark.parametrize("run", [at_once, failing(Boom())])
@in_virtual_time
async def test_a_finished_quest_leaves_the_registry_at_once(run: Step) -> None:
    async with QuestManager() as manager:
        job = Job(run=run, close=taking(1.0))
        await manager.add(job.quest)
        await ticks_until(lambda: "ran" in job.events)
        assert not manager.quests
        with contextlib.suppress(Boom):
            await manager.wait()


@in_virtual_time
async def test_a_quest_whose_init_failed_leaves_the_registry_at_once() -> None:
    async with QuestManager() as manager:
        quest = await manager.add(Job(init=failing(Boom())).quest)
        with pytest.raises(Boom):
            await quest.get()
        assert not manager.quests


@in_virtual_time
async def test_wait_returns_when_the_quests_of_now_are_over() -> None:
    async with QuestManager() as manager:
        await manager.wait()
        await manager.add(Job("short", run=taking(1.0)).quest)
        await manager.add(Job("long", run=taking(5.0), close=taking(1.0)).quest)
        waiting = asyncio.create_task(manager.wait())
        await ticks()
        await manager.add(Job("later").quest)
        await waiting
        assert now() == 6.0
        assert list(manager.quests) == ["later"]


@in_virtual_time
async def test_wait_waits_for_a_quest_that_waits_for_its_turn() -> None:
    async with QuestManager() as manager:
        await manager.add(Job(close=taking(1.0)).quest)
        await ticks()
        error = Boom()
        await manager.add(Job(run=failing(error)).quest)
        with pytest.raises(Boom) as caught:
            await manager.wait()
        assert caught.value is error
        assert now() == 1.0


@in_virtual_time
async def test_removal_is_not_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        for name, init in (("a", at_once), ("b", for_ever), ("c", swallowing())):
            await manager.add(Job(name, init=init).quest)
        await ticks()
        await asyncio.gather(*(manager.remove(name) for name in "abc"))
        await manager.wait()
    await manager.wait()
    assert caplog.records == []


@in_virtual_time
async def test_a_single_failure_is_raised_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        error = Boom("one")
        await manager.add(Job(run=failing(error)).quest)
        await manager.add(Job("fine", run=taking(1.0)).quest)
        with pytest.raises(Boom) as caught:
            await manager.wait()
        assert caught.value is error
        await manager.wait()
    assert logged(caplog) == [("job", error)]


@in_virtual_time
async def test_several_failures_are_raised_as_a_group_with_all_of_them(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        errors = [Boom(str(number)) for number in range(5)]
        await manager.add(Job("init", init=failing(errors[0])).quest)
        await manager.add(Job("run and close", run=failing(errors[1]), close=failing(errors[2])).quest)
        await manager.add(Job("close", run=at_once, close=failing(errors[3])).quest)
        removed = await manager.add(Job("removed", run=swallowing(then=failing(errors[4]))).quest)
        await ticks()
        removed.cancel()
        with pytest.raises(ExceptionGroup, match="5 failures of quests") as caught:
            await manager.wait()
        assert set(caught.value.exceptions) == set(errors)
        await manager.wait()
    assert {error for _, error in logged(caplog)} == set(errors)


@in_virtual_time
async def test_failures_are_kept_until_somebody_waits() -> None:
    async with QuestManager() as manager:
        errors = [Boom(), Boom()]
        for error in errors:  # the second under the same name: the first must not be forgotten
            await manager.add(Job(run=failing(error)).quest)
            await asyncio.sleep(1.0)
    with pytest.raises(ExceptionGroup) as caught:
        await manager.wait()
    assert list(caught.value.exceptions) == errors
    await manager.wait()


@in_virtual_time
async def test_waits_may_overlap_and_a_cancelled_one_takes_nothing_with_it() -> None:
    async with QuestManager() as manager:
        early, late = Boom("early"), Boom("late")

        async def fail(after: float, error: Boom) -> None:
            await asyncio.sleep(after)
            raise error

        await manager.add(Job("early", run=lambda: fail(1.0, early)).quest)
        waiters = [asyncio.create_task(manager.wait()) for _ in range(3)]
        await ticks()
        await manager.add(Job("late", run=lambda: fail(2.0, late)).quest)
        longer = asyncio.create_task(manager.wait())
        await ticks()
        waiters[0].cancel()
        await asyncio.wait([*waiters, longer])
        assert waiters[0].cancelled()
        assert [waiter.exception() for waiter in waiters[1:]] == [early, early]
        both = longer.exception()
        assert isinstance(both, ExceptionGroup)
        assert set(both.exceptions) == {early, late}
        await manager.wait()


@in_virtual_time
async def test_a_failing_close_of_a_removed_quest_is_logged_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    async with QuestManager() as manager:
        error = Boom()
        for remove in ("remove", "replace", "exit"):
            await manager.add(Job(remove, close=failing(error)).quest)
        await ticks()
        await manager.remove("remove")
        await manager.add(Job("replace").quest)
        await ticks()
    await manager.wait()
    assert sorted(name for name, _ in logged(caplog)) == ["exit", "remove", "replace"]
    assert {logged_error for _, logged_error in logged(caplog)} == {error}


@in_virtual_time
async def test_a_failing_close_after_a_natural_end_is_a_failure() -> None:
    async with QuestManager() as manager:
        error = Boom()
        job = Job(run=at_once, close=failing(error))
        await manager.add(job.quest)
        await ticks_until(lambda: "ran" in job.events)
        await job.quest.remove()  # too late to be the reason of its end
        with pytest.raises(Boom) as caught:
            await manager.wait()
        assert caught.value is error


@pytest.mark.parametrize("where", ["run", "close"])
@in_virtual_time
async def test_a_cancellation_that_nobody_asked_for_is_a_failure(where: str) -> None:
    async with QuestManager() as manager:
        cancelled = failing(asyncio.CancelledError())
        job = Job(run=cancelled) if where == "run" else Job(run=at_once, close=cancelled)
        await manager.add(job.quest)
        with pytest.raises(RuntimeError, match="was cancelled, but not by a removal"):
            await manager.wait()
