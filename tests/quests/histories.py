"""Plays a generated history against a QuestManager in virtual time, and holds it against the rules.

The rules are those at the top of `appliance.quests.manager`; the model knows only who asked for what and in which
order, and what the quests' own steps saw.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from appliance.quests import ManagerClosed, Quest, QuestManager, QuestRemoved
from appliance.quests.quest import CLOSE_CANCELLATIONS, CLOSE_GRACE
from tests.quests.jobs import Boom, now, ticks
from tests.quests.plans import LONG, NAMES, TICK, Act, Call, Ending, History, Op, Plan, Reaction, Step


@dataclass(eq=False)
class Life:
    """What is known of one quest."""

    plan: Plan
    resource: object = field(default_factory=object)
    added: bool = False
    asked: bool = False  # for its removal, before its run was over
    begun: bool = False
    got: bool = False
    ran: bool = False
    worked: bool = False  # init and run are over
    answered_at: float = math.inf  # who waits for the resource has what to wake with
    closing_since: float | None = None
    closed: bool = False
    late: bool = False  # its close was cancelled
    init_error: BaseException | None = None
    failures: list[BaseException] = field(default_factory=list)
    logged: list[BaseException] = field(default_factory=list)
    strays: int = 0  # cancellations that nobody asked for
    quest: Quest[object] = field(init=False)

    @property
    def over(self) -> bool:
        if not self.begun:
            return self.asked
        if not self.got or self.plan.close is None:
            return self.worked
        if self.closing_since is None:
            return False
        return self.closed or now() - self.closing_since >= self.plan.close_timeout

    @property
    def abandoned(self) -> bool:
        """Its close is still not over after all that may be done about it."""
        limit = self.plan.close_timeout + CLOSE_CANCELLATIONS * CLOSE_GRACE
        return self.closing_since is not None and now() - self.closing_since > limit

    @property
    def overdue(self) -> bool:
        """Its close took too long, and was ended, or left to itself."""
        return self.closing_since is not None and (self.late or not self.closed)


@dataclass(eq=False)
class Waited:
    """What a `wait` was about, and what came of it."""

    order: int
    quests: list[Life]
    done: int = -1
    raised: list[BaseException] = field(default_factory=list)


class World(logging.Handler):
    """A manager, the quests that were made for it, and what must be true of them."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = QuestManager()
        self.lives: list[Life] = []
        self.current: dict[str, Life] = {}
        self.closed = False
        self.wrong: list[str] = []
        self.records: list[logging.LogRecord] = []
        self.waits: list[Waited] = []
        self.callers: list[asyncio.Task[None]] = []
        self.cancelled: list[asyncio.Task[None]] = []
        self.getters: list[tuple[asyncio.Task[None], Life]] = []
        self.released = asyncio.Event()
        self._order = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def check(self, right: bool, rule: int, what: str) -> None:
        """Collected, since an error in a quest or a caller would only be a failure more."""
        if not right:
            self.wrong.append(f"rule {rule}: {what}, at {now():g} s")

    def make(self, plan: Plan) -> Life:
        life = Life(plan)

        async def init() -> object:
            self._may_begin(life)
            life.begun = True
            with self._work(life, in_init=True):
                await self._do(life, plan.init)
            life.got = True
            life.worked = life.asked
            life.answered_at = min(life.answered_at, now())
            return life.resource

        async def run(resource: object) -> None:
            self.check(not life.asked, 1, "a removed quest runs")
            self.check(life.got and not life.ran and resource is life.resource, 1, "run out of turn")
            life.ran = True
            with self._work(life, in_init=False):
                await self._do(life, plan.run)
            self._worked(life)

        async def close(resource: object) -> None:
            assert plan.close is not None
            self.check(life.got and life.worked and resource is life.resource, 1, "close out of turn")
            self.check(life.closing_since is None, 1, "closed twice")
            self.check_registry()
            life.closing_since = now()
            try:
                await self._do(life, plan.close)
            except asyncio.CancelledError:
                life.strays += not _cancelled() and not life.asked
                raise
            except Exception as error:
                (life.logged if life.asked or life.abandoned else life.failures).append(error)
                raise
            finally:
                life.closed = True
                life.late = _cancelled()

        life.quest = Quest(plan.name, init, run, None if plan.close is None else close, plan.close_timeout)
        self.lives.append(life)
        return life

    def _may_begin(self, life: Life) -> None:
        self.check(not life.begun and not life.asked, 1, "init out of turn")
        self.check(self.current.get(life.plan.name) is life, 4, "init of one that was displaced")
        alike = [other for other in self.lives if other.plan.name == life.plan.name and other.begun]
        self.check(all(other.over for other in alike), 4, "init before the predecessor is over")
        self.check_registry()

    @contextmanager
    def _work(self, life: Life, *, in_init: bool) -> Iterator[None]:
        try:
            yield
        except asyncio.CancelledError:
            life.strays += not life.asked
            self._worked(life)
            raise
        except Exception as error:
            life.failures.append(error)
            if in_init:
                life.init_error = error
            self._worked(life)
            raise

    def _worked(self, life: Life) -> None:
        life.worked = True
        life.answered_at = min(life.answered_at, now())
        if self.current.get(life.plan.name) is life:
            del self.current[life.plan.name]

    async def _do(self, life: Life, step: Step) -> None:
        try:
            if not step.act_last:
                await self._act(life, step.act)
            if await self._take(step):
                return
            if step.ending is Ending.FAILS:
                raise Boom
            if step.ending is Ending.CANCELS:
                raise asyncio.CancelledError
        finally:
            if step.act_last:
                await self._act(life, step.act)

    async def _take(self, step: Step) -> bool:
        """Let the time of the step go by. True: it was cancelled and swallowed that."""
        ignoring = {Reaction.IGNORE_ONCE: 1, Reaction.IGNORE_TWICE: 2, Reaction.IGNORE: 1000}.get(step.reaction, 0)
        while True:
            try:
                if step.takes is None:
                    await self.released.wait()
                else:
                    await _pause(step.takes)
            except asyncio.CancelledError:
                if step.reaction is Reaction.FAIL:
                    raise Boom from None
                if step.reaction is Reaction.LINGER:
                    await asyncio.sleep(0.7)
                if step.reaction in (Reaction.FINISH, Reaction.LINGER):
                    return True
                if ignoring == 0:
                    raise
                ignoring -= 1
            else:
                return False

    async def _act(self, life: Life, act: Act | None) -> None:
        match act:
            case Act.CANCEL:
                self.ask(life)
                life.quest.cancel()
            case Act.REMOVE:
                at_work = not life.worked
                await self.remove(life, from_itself=True)
                self.check(not at_work, 2, "a quest outlives its own removal")
            case Act.REMOVE_NAME:
                await self.remove_name(life.plan.name, caller=life)
            case Act.REMOVE_OTHER:
                await self.remove_name(NAMES[(NAMES.index(life.plan.name) + 1) % len(NAMES)], caller=life)
            case Act.REPLACE:
                await self.add(self.make(Plan(life.plan.name, close=Step(0.5))), refusal_is_mine=False)
            case Act.REPLACE_IN_BLOCK:
                await self.add_in_block(self.make(Plan(life.plan.name, close=Step(0.5))), refusal_is_mine=False)

    # What callers do. Each tells the model first, in the same step as the call.

    def ask(self, life: Life | None) -> None:
        if life is None or life.worked or life.asked:
            return
        life.asked = True
        life.answered_at = min(life.answered_at, now())
        if self.current.get(life.plan.name) is life:
            del self.current[life.plan.name]

    async def add(self, life: Life, *, refusal_is_mine: bool = True) -> None:
        refusal = QuestRemoved if life.asked else ManagerClosed if self.closed else None
        life.added = True
        if refusal is None:
            self.ask(self.current.get(life.plan.name))
            self.current[life.plan.name] = life
        else:
            self.ask(life)
        try:
            quest = await self.manager.add(life.quest)
        except (ManagerClosed, QuestRemoved) as error:
            self.check(type(error) is refusal, 7, f"{error!r} is no reason to refuse")
            if not refusal_is_mine:
                raise
        else:
            self.check(refusal is None, 7, "a quest is taken that should be refused")
            self.check(quest is life.quest, 4, "add returns something else")
        self.check_registry()

    async def add_in_block(self, life: Life, *, refusal_is_mine: bool = True) -> None:
        await self.add(life, refusal_is_mine=refusal_is_mine)
        async with life.quest:
            try:
                await asyncio.sleep(0.3)
            finally:
                self.ask(life)
        self.check(life.over, 2, "the block of a quest is left before the quest is over")

    async def remove(self, life: Life, *, from_itself: bool = False) -> None:
        self.ask(life)
        await life.quest.remove()
        self.check(from_itself or life.over, 2, "remove returns before the quest is over")

    async def remove_name(self, name: str, caller: Life | None = None) -> None:
        concerned = [life for life in self.lives if life.plan.name == name and life.begun and not life.over]
        self.ask(self.current.get(name))
        await self.manager.remove(name)
        self.check(all(life.over for life in concerned if life is not caller), 2, "something under the name is left")

    async def get(self, life: Life) -> None:
        late = life.worked
        try:
            resource = await life.quest.get()
        except QuestRemoved:
            ended_well = life.worked and life.init_error is None
            self.check(life.asked or ended_well, 3, "QuestRemoved, but it is neither removed nor over")
        except (Boom, ManagerClosed) as error:
            self.check(error is life.init_error and not life.asked, 3, "get raises what init did not")
        else:
            self.check(life.got and resource is life.resource, 3, "a resource from nowhere")
            self.check(not life.asked and not late, 3, "a resource that is gone")

    async def wait(self) -> None:
        self._order += 1
        waited = Waited(self._order, [life for life in self.lives if life.added and not life.over])
        try:
            await self.manager.wait()
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            waited.raised = list(group.exceptions)
        except Exception as error:  # noqa: BLE001  whatever it was, it is looked at below
            waited.raised = [error]
        self._order += 1
        waited.done = self._order
        self.waits.append(waited)
        self.check(all(life.over for life in waited.quests), 6, "wait returns before a quest is over")
        told = {id(error) for error in waited.raised}
        mine = {id(error) for life in waited.quests for error in life.failures}
        self.check(mine <= told, 6, "wait does not tell all")

    async def exit(self) -> None:
        self.closed = True
        leaving = now()
        orderly = [life for life in self.current.values() if life.ran and _is_orderly(life.plan)]
        for life in list(self.current.values()):
            self.ask(life)
        try:
            await self.manager.__aexit__(None, None, None)
        finally:
            self.check(all(life.closing_since == leaving for life in orderly), 7, "not closed side by side")
            self.check(all(life.over for life in self.lives if life.added), 7, "exit before all is over")

    # What must be true

    def check_registry(self) -> None:
        expected = {name: life.quest for name, life in self.current.items()}
        self.check(dict(self.manager.quests) == expected, 6, "the registry is not what it should be")
        for life in self.lives:
            resource = life.resource if life.got and not life.asked and not life.worked else None
            self.check(life.quest.get_nowait() is resource, 3, "get_nowait is wrong")

    def check_settled(self) -> None:
        """After a long time nothing is left to happen but what may go on for ever."""
        for life in self.lives:
            if life.asked and life.begun:
                self.check(life.over, 2, "a removal that never ends")
            if life.added and not life.asked:
                self.check(life.begun, 4, "a quest whose turn never comes")

    def check_waiters(self) -> None:
        """When time has gone by since the answer was there, nobody waits for it any longer."""
        waiting = [life for caller, life in self.getters if not caller.done()]
        self.check(all(now() <= life.answered_at for life in waiting), 3, "a waiter that does not wake")

    def check_failures(self) -> None:
        raised = {id(error): error for waited in self.waits for error in waited.raised}
        overdue = sum(life.overdue and not life.asked for life in self.lives)
        strays = sum(life.strays for life in self.lives)
        known = {id(error) for life in self.lives for error in life.failures}
        unknown = [error for error in raised.values() if id(error) not in known]
        self.check(known <= raised.keys(), 6, "a failure that cannot be retrieved")
        kinds = sorted(type(error).__name__ for error in unknown)
        self.check(kinds == ["RuntimeError"] * strays + ["TimeoutError"] * overdue, 6, f"told by wait: {unknown}")
        for earlier in self.waits:
            for later in self.waits:
                if earlier.done < later.order:
                    twice = {id(error) for error in earlier.raised} & {id(error) for error in later.raised}
                    self.check(not twice, 6, "a failure is told again")

    def check_log(self) -> None:
        errors = [record for record in self.records if record.levelno >= logging.ERROR]
        reported = sorted(id(record.exc_info[1]) for record in errors if record.exc_info)
        known = [error for life in self.lives for error in (*life.failures, *life.logged)]
        times = [reported.count(id(error)) for error in known]
        self.check(all(count == 1 for count in times), 6, "a failure is not logged once")
        overdue = sum(life.overdue for life in self.lives)
        timeouts = [r for r in errors if r.exc_info and isinstance(r.exc_info[1], TimeoutError)]
        self.check(len(timeouts) == overdue, 2, "an overrun is not reported once")
        self.check(all(vars(record)["quest"] in NAMES for record in self.records), 6, "a record without its quest")

    # The course of it

    def call(self, op: Op) -> None:
        earlier = self.lives[op.which % len(self.lives)] if self.lives else None
        life = self.make(op.plan) if earlier is None or op.call in (Call.ADD, Call.ADD_IN_BLOCK) else earlier
        calls: dict[Call, Callable[[], Awaitable[None]]] = {
            Call.ADD: lambda: self.add(life),
            Call.ADD_IN_BLOCK: lambda: self.add_in_block(life),
            Call.REMOVE: lambda: self.remove(life),
            Call.REMOVE_NAME: lambda: self.remove_name(life.plan.name),
            Call.CANCEL: lambda: self._at_once(life, life.quest.cancel),
            Call.DISCARD: lambda: self._at_once(
                self.current.get(life.plan.name), lambda: self.manager.discard(life.plan.name)
            ),
            Call.GET: lambda: self.get(life),
            Call.WAIT: self.wait,
        }
        caller = self.spawn(calls[op.call])
        if op.call is Call.GET:
            self.getters.append((caller, life))
        if (after := op.cancelled_after) is not None:
            self.spawn(lambda: self._cancel(caller, after))

    async def _at_once(self, life: Life | None, call: Callable[[], None]) -> None:
        self.ask(life)
        call()
        self.check_registry()

    def spawn(self, call: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        async def caller() -> None:
            await call()

        self.callers.append(asyncio.create_task(caller(), name="caller"))
        return self.callers[-1]

    async def _cancel(self, caller: asyncio.Task[None], after: float) -> None:
        await _pause(after)
        if caller.cancel():
            self.cancelled.append(caller)

    async def play(self, history: History) -> None:
        for op in history.ops:
            self.call(op)
            await _pause(op.pause)
            self.check_registry()
            if op.pause > 0:
                self.check_waiters()
            if op.pause == LONG:
                self.check_settled()
        exiting = self.spawn(self.exit)
        if history.exit_cancelled_after is not None:
            after = history.exit_cancelled_after
            self.spawn(lambda: self._cancel(exiting, after))
        if (plan := history.add_during_exit) is not None:
            await ticks(2)
            refused = self.make(plan)
            self.spawn(lambda: self.get(refused))
            self.spawn(lambda: self.add(refused))
        await asyncio.wait({exiting})
        left = {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("quest")}
        stubborn = {f"quest {life.plan.name}: close" for life in self.lives if life.overdue and not life.closed}
        self.check(left <= stubborn, 7, f"left after the exit: {left}")
        await self._finish()

    async def _finish(self) -> None:
        await ticks()
        self.check_registry()
        for _ in range(2):
            await self.wait()
        self.check(not self.waits[-1].raised, 6, "what was told is told again")
        self.check_failures()
        self.check_log()
        for life in self.lives:
            if not life.added:
                await self.remove(life)  # for those who still wait for it
        self.released.set()
        await asyncio.sleep(2 * LONG)  # callers may be cancelled that late
        for caller in self.callers:
            self.check(caller.done(), 5, "a caller that never returns")
            if caller.done() and not caller.cancelled():
                self.check(caller.exception() is None, 5, f"a caller fails: {caller.exception()!r}")
        self.check(all(caller.cancelled() for caller in self.cancelled), 5, "a caller's cancellation is swallowed")
        for life in self.lives:
            closes = life.got and life.plan.close is not None
            self.check(life.closed == closes, 1, "not closed")
        self.check(asyncio.all_tasks() == {asyncio.current_task()}, 7, "orphans")


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_orderly(plan: Plan) -> bool:
    return plan.close is not None and plan.run.reaction is Reaction.OBEY and not plan.run.act_last


async def _pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)
    else:
        await ticks(round(seconds / TICK))
