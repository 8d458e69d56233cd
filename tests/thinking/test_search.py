"""How a question finds its server: the rules of `appliance.thinking.search`, one by one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from appliance.thinking.choosing import TRIAL, Chooser
from appliance.thinking.search import ROUNDS, TRIALS, NoServerError, Search
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.truststore import TrustStore
from tests.thinking.lan import (
    BUSY,
    CLOSING,
    HANGS,
    LOADS,
    LOCKED,
    NEAR,
    REFUSES,
    WORKS,
    Behaviour,
    Lan,
    a_server,
    a_store,
    clock,
    run,
)

DEN, ATTIC, CELLAR, SHED = (
    a_server(name, priority=priority) for priority, name in enumerate(["den", "attic", "cellar", "shed"])
)
BROKEN = ServerError(Problem.BROKEN, "breaks off")


@dataclass
class House:
    """A LAN, and the one who asks."""

    lan: Lan
    directory: Path
    waits: int = 0

    def chooser(self) -> Chooser:
        return self.lan.chooser(a_store(self.directory))

    def search(self, chooser: Chooser) -> Search:
        return Search(chooser, self.wait)

    def wait(self) -> None:
        self.waits += 1

    async def find(self, chooser: Chooser) -> Server | NoServerError:
        """What one search finds first."""
        try:
            return await self.search(chooser).find_instance()
        except NoServerError as error:
            return error


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(Lan(), tmp_path)


def problem_of(found: Server | NoServerError) -> Problem | None:
    assert isinstance(found, NoServerError)
    return found.problem


def test_the_one_that_works_is_found_at_once(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC)
        assert await house.find(house.chooser()) == DEN
        assert clock() == pytest.approx(NEAR + CLOSING)
        assert [trial.server for trial in house.lan.trials] == [DEN]
        assert not house.waits

    run(main())


@pytest.mark.parametrize(
    ("does", "takes"),
    [(REFUSES, NEAR), (HANGS, TRIAL), (LOCKED, NEAR), (BUSY, NEAR), (LOADS, NEAR)],
    ids=["refuses", "hangs", "locked", "busy", "loads"],
)
def test_where_one_does_not_answer_the_next_one_is_asked(house: House, does: Behaviour, takes: float) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=does)
        house.lan.add(ATTIC)
        assert await house.find(house.chooser()) == ATTIC
        assert clock() == pytest.approx(takes + CLOSING + NEAR + CLOSING)
        assert not house.waits

    run(main())


def test_a_trial_is_over_before_the_next_one_begins(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC, CELLAR, does=HANGS)
        assert problem_of(await house.find(house.chooser())) is Problem.BROKEN
        assert [trial.ended for trial in house.lan.trials[:2]] == house.lan.tried(ATTIC, CELLAR)
        assert not house.lan.open
        assert len(asyncio.all_tasks()) == 1

    run(main())


def test_at_most_three_are_tried_in_a_round(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC, CELLAR, does=REFUSES)
        house.lan.add(SHED)
        assert await house.find(house.chooser()) == SHED
        pause = house.lan.trials[3].began - house.lan.trials[2].ended
        assert pause == pytest.approx(0.05)
        assert house.waits == 1, "the fourth is of the second round, and the user was told to wait"
        assert TRIALS == 3

    run(main())


def test_three_busy_ones_do_not_hide_a_fourth(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC, CELLAR, does=BUSY)
        house.lan.add(SHED)
        assert await house.find(house.chooser()) == SHED
        assert len(house.lan.trials) == 4

    run(main())


@pytest.mark.parametrize(("does", "problem"), [(BUSY, Problem.AT_CAPACITY), (LOADS, Problem.WARMING)])
def test_what_may_pass_is_asked_five_times_with_growing_pauses(house: House, does: Behaviour, problem: Problem) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=does)
        assert problem_of(await house.find(house.chooser())) is problem
        trials = house.lan.trials
        pauses = [later.began - earlier.ended for earlier, later in pairwise(trials)]
        assert pauses == pytest.approx([0.05, 0.075, 0.1125, 0.16875])
        assert len(trials) == ROUNDS
        assert house.waits == 1

    run(main())


def test_it_is_found_as_soon_as_it_has_warmed_up(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=LOADS)
        asyncio.get_running_loop().call_later(0.1, house.lan.tell, WORKS, DEN)
        assert await house.find(house.chooser()) == DEN
        assert 0.1 < clock() < 0.3

    run(main())


def test_the_time_that_a_busy_one_names_is_kept(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=replace(BUSY, retry_after=0.7))
        asyncio.get_running_loop().call_later(0.1, house.lan.tell, WORKS, DEN)
        assert await house.find(house.chooser()) == DEN
        first, second = house.lan.tried(DEN)
        assert second - first >= 0.7
        assert second - first < 0.8

    run(main())


def test_nobody_is_kept_waiting_for_long(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=replace(BUSY, retry_after=20.0))
        chooser = house.chooser()
        error = await house.find(chooser)
        assert problem_of(error) is Problem.AT_CAPACITY
        assert isinstance(error, NoServerError)
        assert error.retry_after == pytest.approx(20, abs=0.1)
        assert not house.waits
        assert clock() < 0.1
        house.lan.tell(WORKS, DEN)
        assert problem_of(await house.find(chooser)) is Problem.AT_CAPACITY
        assert len(house.lan.trials) == 1, "it is not asked before that"
        await asyncio.sleep(20.0)
        assert await house.find(chooser) == DEN

    run(main())


def test_while_one_wants_to_be_left_alone_others_are_asked(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=replace(BUSY, retry_after=20.0))
        house.lan.add(ATTIC, does=LOADS)
        asyncio.get_running_loop().call_later(0.2, house.lan.tell, WORKS, ATTIC)
        assert await house.find(house.chooser()) == ATTIC
        assert len(house.lan.tried(DEN)) == 1

    run(main())


def test_what_is_benched_is_not_asked_as_long_as_something_else_might_work(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=REFUSES)
        house.lan.add(ATTIC)
        chooser = house.chooser()
        for _ in range(3):
            assert await house.find(chooser) == ATTIC
            await asyncio.sleep(3600)
        assert len(house.lan.tried(DEN)) == 1

    run(main())


def test_what_is_benched_is_the_last_resort(house: House) -> None:
    """Without the trials in the background, too, what has come back is found."""

    async def main() -> None:
        house.lan.add(DEN, does=HANGS)
        chooser = house.chooser()
        assert problem_of(await house.find(chooser)) is Problem.BROKEN
        house.lan.tell(WORKS, DEN)
        at = clock()
        assert problem_of(await house.find(chooser)) is Problem.BROKEN
        assert clock() == at, "it has just been tried"
        await asyncio.sleep(1.5)
        assert await house.find(chooser) == DEN

    run(main())


def test_what_fails_in_use_is_followed_by_another(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC)
        search = house.search(house.chooser())
        assert await search.find_instance() == DEN
        await asyncio.sleep(5.0)
        search.failed(BROKEN)
        assert await search.find_instance() == ATTIC
        search.failed(BROKEN)
        with pytest.raises(NoServerError, match="den breaks off; attic breaks off"):
            await search.find_instance()
        assert len(house.lan.trials) == 2, "what failed this question gets no second chance with it"

    run(main())


def test_one_that_cannot_take_the_question_is_asked_no_more_and_stands_as_before(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC)
        chooser = house.chooser()
        search = house.search(chooser)
        for server in (DEN, ATTIC):
            assert await search.find_instance() == server
            search.failed(ServerError(Problem.TOO_LONG, "exceeds the context"))
        at = clock()
        with pytest.raises(NoServerError):
            await search.find_instance()
        assert clock() == at
        assert not house.waits
        assert await house.find(chooser) == DEN

    run(main())


def test_one_that_lists_its_models_while_it_loads_is_asked_again_in_each_round(house: House) -> None:
    """llama.cpp does."""

    async def main() -> None:
        house.lan.add(DEN)
        search = house.search(house.chooser())
        for _ in range(ROUNDS):
            assert await search.find_instance() == DEN
            search.failed(ServerError(Problem.WARMING, "Loading model"))
        with pytest.raises(NoServerError, match="Loading model") as caught:
            await search.find_instance()
        assert caught.value.problem is Problem.WARMING
        assert house.waits == 1

    run(main())


def test_the_most_hopeful_problem_is_told_of(house: House) -> None:
    async def main() -> None:
        chooser = house.chooser()
        seen = []
        for server, does in [(DEN, LOCKED), (ATTIC, REFUSES), (CELLAR, BUSY), (SHED, LOADS)]:
            house.lan.add(server, does=does)
            seen.append(problem_of(await house.find(chooser)))
        assert seen == [Problem.MISCONFIGURED, Problem.BROKEN, Problem.AT_CAPACITY, Problem.WARMING]

    run(main())


def test_where_no_server_is_known_none_is_missed(house: House) -> None:
    async def main() -> None:
        chooser = house.chooser()
        assert problem_of(await house.find(chooser)) is None
        house.lan.add(a_server("here", Source.LOCAL), does=REFUSES)
        assert problem_of(await house.find(chooser)) is None
        house.lan.add(a_server("stranger", Source.MDNS))
        a_store(house.directory).trust("another", None)
        assert problem_of(await house.find(chooser)) is None
        assert [trial.server.name for trial in house.lan.trials] == ["here"]
        house.lan.add(DEN, does=REFUSES)
        assert problem_of(await house.find(chooser)) is Problem.BROKEN

    run(main())


def test_what_the_owner_named_comes_before_what_is_found(house: House) -> None:
    async def main() -> None:
        house.lan.add(*(a_server(source.name, source) for source in reversed(Source)))
        chooser = house.chooser()
        found = []
        while isinstance(server := await house.find(chooser), Server):
            found.append(server.source)
            house.lan.tell(REFUSES, server)
        assert found == [Source.CONFIGURED, Source.MDNS, Source.LOCAL], "of MDNS and DNS only one is the first"

    run(main())


def test_the_same_address_under_two_names_is_tried_once(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, replace(DEN, name="the den", source=Source.MDNS), does=REFUSES)
        assert problem_of(await house.find(house.chooser())) is Problem.BROKEN
        assert [trial.server for trial in house.lan.trials] == [DEN]

    run(main())


def test_an_address_is_tried_once_though_its_name_changes_meanwhile(house: House) -> None:
    async def main() -> None:
        renamed = replace(DEN, name="the den")
        house.lan.add(DEN, does=REFUSES)
        house.lan.add(ATTIC)
        house.lan.on_trial = lambda _: setattr(house.lan, "servers", [renamed, ATTIC])
        assert await house.find(house.chooser()) == ATTIC
        assert [trial.server for trial in house.lan.trials] == [DEN, ATTIC]

    run(main())


def test_equals_take_turns_by_their_weight(house: House) -> None:
    async def main() -> None:
        heavy, light = (replace(a_server(name), weight=weight) for name, weight in [("heavy", 9), ("light", 1)])
        house.lan.add(heavy, light)
        chooser = house.chooser()
        found = [await house.find(chooser) for _ in range(500)]
        assert 20 < found.count(light) < 80

    run(main())


def test_several_who_ask_at_once_share_a_trial(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=HANGS)
        house.lan.add(ATTIC)
        chooser = house.chooser()
        assert await asyncio.gather(*(house.find(chooser) for _ in range(5))) == [ATTIC] * 5
        assert len(house.lan.trials) == 2

    run(main())


@pytest.mark.parametrize("after", [0.0, 0.2, TRIAL + CLOSING / 2, TRIAL + 3 * CLOSING])
def test_who_is_cancelled_leaves_nothing_behind(house: House, after: float) -> None:
    async def main() -> None:
        house.lan.add(DEN, ATTIC, does=HANGS)
        asking = asyncio.create_task(house.find(house.chooser()))
        await asyncio.sleep(after)
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()
        assert not house.lan.open
        assert len(asyncio.all_tasks()) == 1

    run(main())


def test_a_trial_that_was_broken_off_says_nothing(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=HANGS)
        chooser = house.chooser()
        asking = asyncio.create_task(house.find(chooser))
        await asyncio.sleep(0.2)
        asking.cancel()
        await asyncio.wait({asking})
        house.lan.tell(WORKS, DEN)
        assert await house.find(chooser) == DEN

    run(main())


def test_a_server_that_vanishes_while_it_is_tried_is_not_found(house: House) -> None:
    async def main() -> None:
        house.lan.add(DEN, does=replace(WORKS, after=0.3))
        asyncio.get_running_loop().call_later(0.1, house.lan.servers.clear)
        assert problem_of(await house.find(house.chooser())) is None

    run(main())


@pytest.mark.parametrize("change", [lambda store: store.forget("den"), lambda store: store.trust("den", {"host": "x"})])
def test_a_server_that_is_forgotten_while_it_is_tried_is_not_found(
    house: House, change: Callable[[TrustStore], object]
) -> None:
    async def main() -> None:
        den = a_server("den", Source.MDNS)
        house.lan.add(den)
        chooser = house.chooser()
        assert await house.find(chooser) == den
        house.lan.on_trial = lambda _: change(a_store(house.directory))
        assert problem_of(await house.find(chooser)) is None

    run(main())


def test_a_reply_before_anything_was_found_is_nobodys(house: House) -> None:
    async def main() -> None:
        search = house.search(house.chooser())
        search.answered()
        search.failed(BROKEN)

    run(main())
