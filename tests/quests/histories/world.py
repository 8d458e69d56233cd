"""The model of a history: who asked for what in which order, what the quests' own steps saw, and what went wrong."""

import asyncio
import logging
import math
from collections import Counter
from dataclasses import dataclass, field

from appliance.quests import Quest, QuestManager
from appliance.quests.quest import CLOSE_CANCELLATIONS, CLOSE_GRACE
from tests.quests.histories.plans import Plan
from tests.quests.jobs import now


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

    @property
    def stage(self) -> str:
        if not self.begun:
            return "waiting" if self.added else "not added"
        return "in run" if self.ran else "in init"

    def answer(self) -> None:
        self.answered_at = min(self.answered_at, now())


@dataclass(eq=False)
class Waited:
    """What a `wait` was about, and what came of it."""

    order: int
    quests: list[Life]
    done: int = -1
    raised: list[BaseException] = field(default_factory=list)


@dataclass(eq=False)
class World:
    """A manager, the quests that were made for it, and the account of them."""

    manager: QuestManager = field(default_factory=QuestManager)
    lives: list[Life] = field(default_factory=list)
    current: dict[str, Life] = field(default_factory=dict)
    closed: bool = False
    waits: list[Waited] = field(default_factory=list)
    records: list[logging.LogRecord] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)  # what has no end may end
    seen: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    moments: int = 0

    def moment(self) -> int:
        """A number for this moment, higher than for all before."""
        self.moments += 1
        return self.moments

    def note(self, corner: str) -> None:
        self.seen[corner] += 1

    def check(self, right: bool, rule: int, what: str) -> None:
        """Collected, since an error in a quest or a caller would only be a failure more."""
        if not right:
            self.wrong.append(f"rule {rule}: {what}, at {now():g} s")

    def ask(self, life: Life | None) -> None:
        """Somebody is about to ask for the removal of `life`."""
        if life is None or life.worked or life.asked:
            return
        self.note(f"removed: {life.stage}")
        life.asked = True
        life.answer()
        self._leave(life)

    def work_over(self, life: Life) -> None:
        """Its init or its run has ended, and nothing more is to run."""
        life.worked = True
        life.answer()
        self._leave(life)

    def _leave(self, life: Life) -> None:
        if self.current.get(life.plan.name) is life:
            del self.current[life.plan.name]
