"""What must be true in the midst of a history, and at its end. The numbers are those at the top of `quests.manager`."""

import asyncio
import logging

from tests.quests.histories.plans import NAMES
from tests.quests.histories.world import World


def check_registry(world: World) -> None:
    """At any moment."""
    expected = {name: life.quest for name, life in world.current.items()}
    world.check(dict(world.manager.quests) == expected, 6, "the registry is not what it should be")
    for life in world.lives:
        resource = life.resource if life.got and not life.asked and not life.worked else None
        world.check(life.quest.get_nowait() is resource, 3, "get_nowait is wrong")


def check_settled(world: World) -> None:
    """After a long time nothing is left to happen but what may go on for ever."""
    for life in world.lives:
        if life.asked and life.begun:
            world.check(life.over, 2, "a removal that never ends")
        if life.added and not life.asked:
            world.check(life.begun, 4, "a quest whose turn never comes")


def check_left(world: World) -> None:
    """Right after the exit."""
    left = {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("quest")}
    stubborn = {f"quest {life.plan.name}: close" for life in world.lives if life.overdue and not life.closed}
    world.check(left <= stubborn, 7, f"left after the exit: {left}")


def check_told(world: World) -> None:
    """At the end: what the waits have raised."""
    raised = {id(error): error for waited in world.waits for error in waited.raised}
    overdue = sum(life.overdue and not life.asked for life in world.lives)
    strays = sum(life.strays for life in world.lives)
    known = {id(error) for life in world.lives for error in life.failures}
    unknown = [error for error in raised.values() if id(error) not in known]
    world.check(known <= raised.keys(), 6, "a failure that cannot be retrieved")
    kinds = sorted(type(error).__name__ for error in unknown)
    world.check(kinds == ["RuntimeError"] * strays + ["TimeoutError"] * overdue, 6, f"told by wait: {unknown}")
    for earlier in world.waits:
        for later in world.waits:
            if earlier.done < later.order:
                twice = {id(error) for error in earlier.raised} & {id(error) for error in later.raised}
                world.check(not twice, 6, "a failure is told again")


def check_log(world: World) -> None:
    """At the end: what was logged."""
    errors = [record for record in world.records if record.levelno >= logging.ERROR]
    reported = [id(record.exc_info[1]) for record in errors if record.exc_info]
    known = [error for life in world.lives for error in (*life.failures, *life.logged)]
    world.check(all(reported.count(id(error)) == 1 for error in known), 6, "a failure is not logged once")
    overdue = sum(life.overdue for life in world.lives)
    timeouts = [r for r in errors if r.exc_info and isinstance(r.exc_info[1], TimeoutError)]
    world.check(len(timeouts) == overdue, 2, "an overrun is not reported once")
    world.check(all(vars(record)["quest"] in NAMES for record in world.records), 6, "a record without its quest")


def check_closed(world: World) -> None:
    """When all is over, with what was left to itself too."""
    for life in world.lives:
        closes = life.got and life.plan.close is not None
        world.check(life.closed == closes, 1, "not closed")
    world.check(asyncio.all_tasks() == {asyncio.current_task()}, 7, "orphans")
