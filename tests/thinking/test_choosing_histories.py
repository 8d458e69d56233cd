"""Whatever servers do, whoever advertises, whatever the owner decides and however many ask, the rules hold."""

import asyncio
import math
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from appliance.simulation.clock import VirtualLoop
from appliance.thinking.choosing import TRIAL, Chooser
from appliance.thinking.search import ROUNDS, TRIALS, NoServerError, Search
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.standing import State
from appliance.thinking.trust import verdict
from tests.thinking.lan import (
    BUSY,
    CLOSING,
    HANGS,
    LOADS,
    LOCKED,
    REFUSES,
    WORKS,
    Behaviour,
    Lan,
    a_server,
    a_store,
)

FOUND = a_server("found", Source.MDNS, host="found.local")
SERVERS = [
    a_server("den"),
    a_server("attic", priority=1),
    FOUND,
    replace(FOUND, url="http://10.0.0.9:8080/v1"),
    replace(FOUND, url="http://10.6.6.6:8080/v1", properties={"host": "rogue.local"}),
    a_server("other", Source.MDNS),
    a_server("third", Source.DNS),
    a_server("here", Source.LOCAL),
]
SLOW, PATIENT = replace(WORKS, after=0.4), replace(BUSY, retry_after=0.3)
BEHAVIOURS = [WORKS, WORKS, SLOW, REFUSES, HANGS, BUSY, PATIENT, LOADS, LOCKED]
LONGEST_SEARCH = ROUNDS * TRIALS * (TRIAL + CLOSING) + (ROUNDS - 1) * 1.0

servers = st.sampled_from(SERVERS)
names = st.sampled_from(sorted({server.name for server in SERVERS if server.source in (Source.MDNS, Source.DNS)}))


@dataclass
class Question:
    """Somebody who asks, and what came of it so far."""

    search: Search
    began: float
    good: set[Server]
    """What has worked all the while, so that it should have been found."""
    finding: asyncio.Task[None] | None = None
    found: Server | None = None
    waits: int = 0


class Histories(RuleBasedStateMachine):
    """A LAN, an owner and several who ask."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        self.directory = Path(tempfile.mkdtemp())
        self.owner, self.store = a_store(self.directory), a_store(self.directory)
        self.lan = Lan(on_trial=self.check_trial)
        self.questions: list[Question] = []
        self.failed_in_use: set[Server] = set()
        self.first: set[str] = set()
        self.changed = 0.0
        self.allowed_before: set[Server] = set()
        self.wrong: list[str] = []
        self.chooser = self.do(self.begin())
        self.background = self.loop.create_task(self.chooser.run())

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    async def begin(self) -> Chooser:
        return self.lan.chooser(self.store)

    def works(self, server: Server) -> bool:
        """Whether anybody who asks has a right to be given it."""
        sights = {sight.server: sight for sight in self.chooser.sights()}
        under_way = [trial.does for trial in self.lan.trials if trial.server == server and math.isnan(trial.ended)]
        return (
            server in self.lan.servers
            and all(does.works for does in [self.lan.behaviours[server.url], *under_way])
            and verdict(server, self.owner.known()).trusted
            and (server not in sights or sights[server].state in (State.READY, State.UNTRIED))
        )

    def may_be_tried(self, server: Server) -> bool:
        return server in self.lan.servers and verdict(server, self.owner.known()).allowed

    def check_trial(self, server: Server) -> None:
        just_now = self.loop.time() == self.changed and server in self.allowed_before
        if not self.may_be_tried(server) and not just_now:
            self.wrong.append(f"{server} was tried")

    def before_a_change(self) -> None:
        """What was decided in this very instant may begin after it."""
        if self.loop.time() != self.changed:
            self.allowed_before.clear()
        self.allowed_before |= {server for server in SERVERS if self.may_be_tried(server)}
        self.changed = self.loop.time()

    def still_good(self) -> None:
        for question in self.questions:
            question.good = {server for server in question.good if self.works(server)}

    @initialize(present=st.lists(servers, min_size=3, unique=True), does=st.sampled_from([WORKS, SLOW]))
    def begin_with(self, present: list[Server], does: Behaviour) -> None:
        self.lan.add(*present, does=does)

    @rule(server=servers, does=st.sampled_from(BEHAVIOURS))
    def tell(self, server: Server, does: Behaviour) -> None:
        self.lan.tell(does, server)
        self.still_good()

    @rule(server=servers, does=st.sampled_from(BEHAVIOURS))
    def appear(self, server: Server, does: Behaviour) -> None:
        if server not in self.lan.servers:
            self.lan.add(server, does=does)
            self.chooser.rouse()

    @rule(server=servers)
    def vanish(self, server: Server) -> None:
        if server in self.lan.servers:
            self.before_a_change()
            self.lan.servers.remove(server)
            self.failed_in_use.discard(server)
            self.chooser.rouse()
            self.still_good()

    @rule(name=names)
    def trust(self, name: str) -> None:
        self.before_a_change()
        self.owner.trust(name, None)
        self.still_good()

    @rule(name=names)
    def forget(self, name: str) -> None:
        self.before_a_change()
        self.owner.forget(name)
        self.still_good()

    @rule()
    def rouse(self) -> None:
        self.chooser.rouse()

    @rule(count=st.integers(1, 3), then=st.sampled_from([0.001, 0.1, 1.0]))
    def ask(self, count: int, then: float) -> None:
        for _ in range(count):
            self.do(self.start())
        self.do(asyncio.sleep(then))

    async def start(self) -> None:
        question = Question(Search(self.chooser, lambda: None), self.loop.time(), set())
        question.search = Search(self.chooser, lambda: self.wait(question))
        self.questions.append(question)
        self.go_on(question)

    def wait(self, question: Question) -> None:
        question.waits += 1

    def go_on(self, question: Question) -> None:
        question.good = {server for server in SERVERS if self.works(server)}
        question.found = None
        question.finding = self.loop.create_task(self.find(question))

    async def find(self, question: Question) -> None:
        began = self.loop.time()
        try:
            found = await question.search.find_instance()
        except NoServerError as error:
            self.questions.remove(question)
            if question.good:
                self.wrong.append(f"{question.good} would have worked, but: {error}")
        else:
            question.found = found
            last = [trial for trial in self.lan.trials if trial.server == found][-1]
            if not last.does.works or last.ended != self.loop.time():
                self.wrong.append(f"{found} did not prove itself")
            if found not in self.lan.servers or not verdict(found, self.owner.known()).trusted:
                self.wrong.append(f"{found} may not be asked")
        if self.loop.time() - began > LONGEST_SEARCH:
            self.wrong.append("the search took too long")

    def pick(self, data: st.DataObject, *, found: bool) -> Question:
        fit = [question for question in self.questions if (question.found is not None) == found]
        return data.draw(st.sampled_from(range(len(fit))).map(lambda number: fit[number]))

    @precondition(lambda self: any(question.found for question in self.questions))
    @rule(data=st.data(), problem=st.sampled_from(Problem))
    def fail_in_use(self, data: st.DataObject, problem: Problem) -> None:
        question = self.pick(data, found=True)
        assert question.found is not None
        self.failed_in_use.add(question.found)
        question.search.failed(ServerError(problem, "in use"))
        self.still_good()
        self.go_on(question)
        question.good = set()  # its rounds may be used up

    @precondition(lambda self: any(question.found for question in self.questions))
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        question = self.pick(data, found=True)
        question.search.answered()
        self.failed_in_use.discard(question.found or SERVERS[0])
        self.questions.remove(question)

    @precondition(lambda self: any(not question.found for question in self.questions))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        question = self.pick(data, found=False)
        assert question.finding is not None
        question.finding.cancel()
        self.do(asyncio.wait({question.finding}))
        if question in self.questions:
            self.questions.remove(question)

    @rule(seconds=st.sampled_from([0.001, 0.01, 0.1, 0.45, 0.5, 1.0, 3.0, 30.0, 3000.0]))
    def pass_time(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))

    @rule()
    def heal(self) -> None:
        """All servers come back, while somebody is likely to ask."""
        self.chooser.rouse()
        self.do(asyncio.sleep(2 * TRIAL))  # the trials that are under way may still fail
        away = {sight.server for sight in self.chooser.sights() if sight.state is State.MISCONFIGURED}
        self.lan.tell(WORKS, *SERVERS)
        self.do(asyncio.sleep(2.0))
        for sight in self.chooser.sights():
            back = sight.state is State.READY or sight.server in self.failed_in_use | away
            if sight.verdict.trusted and not back:
                self.wrong.append(f"{sight} is not back")

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert self.wrong == []
        assert not self.background.done()
        assert max(self.lan.most_at_once.values(), default=0) <= 1
        for trial in self.lan.trials:
            assert not trial.ended - trial.began > TRIAL + CLOSING + 1e-6
        self.first |= {each.name for each in self.owner.known() or () if each.by == "first found"}
        assert len(self.first) <= 1
        assert all(question.waits <= 1 for question in self.questions)

    def teardown(self) -> None:
        tasks = [self.background, *(question.finding for question in self.questions if question.finding)]
        for task in tasks:
            task.cancel()
        self.do(asyncio.wait(tasks))
        left = asyncio.all_tasks(self.loop)
        self.do(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.directory)
        assert not left
        assert not self.lan.open


Histories.TestCase.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
test_histories = Histories.TestCase
