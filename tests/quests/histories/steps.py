"""Quests whose init, run and close do what a plan says, and tell the model."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.quests import Quest
from appliance.quests.quest import CLOSE_CANCELLATIONS
from tests.quests.histories import callers, corners
from tests.quests.histories.plans import NAMES, TICK, Act, Ending, Plan, Reaction, Step
from tests.quests.histories.rules import check_registry
from tests.quests.histories.world import Life, World
from tests.quests.jobs import Boom, now, ticks

IGNORED = {Reaction.IGNORE_ONCE: 1, Reaction.IGNORE_TWICE: 2, Reaction.IGNORE: 1000}


def make(world: World, plan: Plan) -> Life:
    life = Life(plan)

    async def init() -> object:
        _check_turn(world, life)
        life.begun = True
        with _work(world, life, in_init=True):
            await _do(world, life, "init", plan.init)
        life.got = True
        life.worked = life.asked
        life.answer()
        return life.resource

    async def run(resource: object) -> None:
        world.check(not life.asked, 1, "a removed quest runs")
        world.check(life.got and not life.ran and resource is life.resource, 1, "run out of turn")
        life.ran = True
        with _work(world, life, in_init=False):
            await _do(world, life, "run", plan.run)
        world.work_over(life)

    async def close(resource: object) -> None:
        assert plan.close is not None
        world.check(life.got and life.worked and resource is life.resource, 1, "close out of turn")
        world.check(life.closing_since is None, 1, "closed twice")
        check_registry(world)
        life.closing_since = now()
        try:
            await _do(world, life, "close", plan.close)
        except asyncio.CancelledError:
            life.strays += not _cancellations() and not life.asked
            raise
        except Exception as error:
            (life.logged if life.asked or life.abandoned else life.failures).append(error)
            raise
        finally:
            cancellations = _cancellations()
            if life.abandoned:
                world.note("close, left to itself")
                world.check(cancellations == CLOSE_CANCELLATIONS, 2, "a close is given up too early")
            life.closed = True
            life.late = cancellations > 0

    life.quest = Quest(plan.name, init, run, None if plan.close is None else close, plan.close_timeout)
    world.lives.append(life)
    return life


def _check_turn(world: World, life: Life) -> None:
    world.check(not life.begun and not life.asked, 1, "init out of turn")
    world.check(world.current.get(life.plan.name) is life, 4, "init of one that was displaced")
    alike = [other for other in world.lives if other.plan.name == life.plan.name and other.begun]
    world.check(all(other.over for other in alike), 4, "init before the predecessor is over")
    check_registry(world)


@contextmanager
def _work(world: World, life: Life, *, in_init: bool) -> Iterator[None]:
    try:
        yield
    except asyncio.CancelledError:
        life.strays += not life.asked
        world.work_over(life)
        raise
    except Exception as error:
        life.failures.append(error)
        if in_init:
            life.init_error = error
        world.work_over(life)
        raise


async def _do(world: World, life: Life, stage: str, step: Step) -> None:
    try:
        if not step.act_last:
            await _act(world, life, stage, step.act)
        if await _take(world, stage, step):
            return
        world.note(corners.ends(stage, step.ending))
        if step.ending is Ending.FAILS:
            raise Boom
        if step.ending is Ending.CANCELS:
            raise asyncio.CancelledError
    finally:
        if step.act_last:
            await _act(world, life, stage, step.act)


async def _take(world: World, stage: str, step: Step) -> bool:
    """Let the time of the step go by. True: it was cancelled and swallowed that."""
    cancellations = 0
    while True:
        try:
            if step.takes is None:
                world.note(f"{stage} has no end")
                await world.released.wait()
            else:
                await pause(step.takes)
        except asyncio.CancelledError:
            world.note(f"{stage}, cancelled again" if cancellations else corners.cancelled(stage, step.reaction))
            cancellations += 1
            if step.reaction is Reaction.FAIL:
                raise Boom from None
            if step.reaction is Reaction.LINGER:
                await asyncio.sleep(0.7)
            if step.reaction in (Reaction.FINISH, Reaction.LINGER):
                return True
            if cancellations > IGNORED.get(step.reaction, 0):
                raise
        else:
            return False


async def _act(world: World, life: Life, stage: str, act: Act | None) -> None:
    if act is None:
        return
    world.note(corners.acts(stage, act))
    match act:
        case Act.CANCEL:
            await callers.cancel(world, life)
        case Act.REMOVE:
            with _removing_itself(world, life):
                await callers.remove(world, life, from_itself=True)
        case Act.REMOVE_NAME:
            with _removing_itself(world, life):
                await callers.remove_name(world, life.plan.name, caller=life)
        case Act.REMOVE_OTHER:
            await callers.remove_name(world, NAMES[(NAMES.index(life.plan.name) + 1) % len(NAMES)], caller=life)
        case Act.REPLACE:
            await callers.add(world, make(world, Plan(life.plan.name, close=Step(0.5))))
        case Act.REPLACE_IN_BLOCK:
            await callers.add_in_block(world, make(world, Plan(life.plan.name, close=Step(0.5))))


@contextmanager
def _removing_itself(world: World, life: Life) -> Iterator[None]:
    started, at_work = now(), not life.worked
    try:
        yield
        world.check(not at_work, 2, "a quest outlives its own removal")
    finally:
        alone = not life.abandoned  # otherwise its name may belong to another one, which may be waited for
        world.check(now() == started or not alone, 2, "a quest waits for its own end")


async def pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)
    else:
        await ticks(round(seconds / TICK))


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
