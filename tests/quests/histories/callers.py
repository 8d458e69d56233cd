"""What callers do. Each tells the model first, in the same step as the call."""

import asyncio

from appliance.quests import ManagerClosed, QuestRemoved
from tests.quests.histories.plans import Plan, Reaction
from tests.quests.histories.rules import check_registry
from tests.quests.histories.world import Life, Waited, World
from tests.quests.jobs import Boom, now


async def add(world: World, life: Life) -> None:
    """Raises the refusal, if there is one."""
    before = world.current.get(life.plan.name)
    refusal = _refusal(world, life)
    if refusal is None:
        if before is not None:
            world.note(f"replaced: {before.stage}")
        world.ask(before)
        life.added = True
        world.current[life.plan.name] = life
    elif refusal is ManagerClosed:
        world.ask(life)
    try:
        quest = await world.manager.add(life.quest)
    except (ManagerClosed, QuestRemoved, ValueError) as error:
        world.check(type(error) is refusal, 7, f"{error!r} is no reason to refuse")
        world.note(f"refused: {type(error).__name__}")
        raise
    else:
        world.check(refusal is None, 7, "a quest is taken that should be refused")
        world.check(quest is life.quest, 4, "add returns something else")
    finally:
        check_registry(world)


def _refusal(world: World, life: Life) -> type[Exception] | None:
    if life.asked:
        return QuestRemoved
    if life.added:
        return ValueError
    return ManagerClosed if world.closed else None


async def add_in_block(world: World, life: Life) -> None:
    await add(world, life)
    async with life.quest:
        try:
            await asyncio.sleep(0.3)
        finally:
            world.ask(life)
    world.check(life.over, 2, "the block of a quest is left before the quest is over")


async def remove(world: World, life: Life, *, from_itself: bool = False) -> None:
    world.ask(life)
    await life.quest.remove()
    world.check(from_itself or life.over, 2, "remove returns before the quest is over")


async def remove_name(world: World, name: str, caller: Life | None = None) -> None:
    concerned = [life for life in world.lives if life.plan.name == name and life.begun and not life.over]
    world.ask(world.current.get(name))
    await world.manager.remove(name)
    world.check(all(life.over for life in concerned if life is not caller), 2, "something under the name is left")


async def cancel(world: World, life: Life) -> None:
    world.ask(life)
    life.quest.cancel()
    check_registry(world)


async def discard(world: World, name: str) -> None:
    world.ask(world.current.get(name))
    world.manager.discard(name)
    check_registry(world)


async def get(world: World, life: Life) -> None:
    early, late = not life.added, life.worked
    try:
        resource = await life.quest.get()
    except QuestRemoved:
        ended_well = life.worked and life.init_error is None
        world.check(life.asked or ended_well, 3, "QuestRemoved, but it is neither removed nor over")
        world.note("get: QuestRemoved")
    except (Boom, ManagerClosed) as error:
        world.check(error is life.init_error and not life.asked, 3, "get raises what init did not")
        world.note("get: what init raised")
    else:
        world.check(life.got and resource is life.resource, 3, "a resource from nowhere")
        world.check(not life.asked and not late, 3, "a resource that is gone")
        world.note("get: the resource")
        if early:
            world.note("get: the resource, early")


async def wait(world: World) -> None:
    waited = Waited(world.moment(), [life for life in world.lives if life.added and not life.over])
    try:
        await world.manager.wait()
    except asyncio.CancelledError:
        raise
    except BaseExceptionGroup as group:
        waited.raised = list(group.exceptions)
        world.note("wait: several failures")
    except Exception as error:  # noqa: BLE001  whatever it was, it is looked at below
        waited.raised = [error]
        world.note("wait: one failure")
    else:
        world.note("wait: no failure")
    waited.done = world.moment()
    world.waits.append(waited)
    world.check(all(life.over for life in waited.quests), 6, "wait returns before a quest is over")
    told = {id(error) for error in waited.raised}
    mine = {id(error) for life in waited.quests for error in life.failures}
    world.check(mine <= told, 6, "wait does not tell all")


async def leave(world: World) -> None:
    """The end of the manager's block."""
    world.closed = True
    leaving = now()
    orderly = [life for life in world.current.values() if life.ran and _is_orderly(life.plan)]
    for life in list(world.current.values()):
        world.ask(life)
    try:
        await world.manager.__aexit__(None, None, None)
    finally:
        world.check(all(life.closing_since == leaving for life in orderly), 7, "not closed side by side")
        world.check(all(life.over for life in world.lives if life.added), 7, "exit before all is over")


def _is_orderly(plan: Plan) -> bool:
    return plan.close is not None and plan.run.reaction is Reaction.OBEY and not plan.run.act_last
