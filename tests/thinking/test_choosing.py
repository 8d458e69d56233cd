"""What goes on in the background: who is tried there, how often, and what the owner is told."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from appliance.thinking.choosing import STRANGERS, TRIAL, Chooser
from appliance.thinking.search import NoServerError, Search
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.standing import State
from appliance.thinking.trust import Verdict
from tests.thinking.lan import (
    BUSY,
    HANGS,
    LOADS,
    LOCKED,
    REFUSES,
    WORKS,
    Behaviour,
    Lan,
    a_server,
    a_store,
    clock,
    in_background,
    run,
    until,
)

DEN, ATTIC = a_server("den"), a_server("attic", priority=1)
FOUND_DEN, FOUND_ATTIC = a_server("den", Source.MDNS, host="den.local"), a_server("attic", Source.MDNS)


@pytest.fixture
def lan() -> Lan:
    return Lan()


async def ask(chooser: Chooser) -> Server | None:
    try:
        return await Search(chooser, lambda: None).find_instance()
    except NoServerError:
        return None


def state_of(chooser: Chooser, server: Server) -> State:
    return next(sight.state for sight in chooser.sights() if sight.server == server)


def test_what_is_new_is_tried_at_once_and_then_left_alone(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(DEN, ATTIC)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(86_400)
            assert lan.tried(DEN) == lan.tried(ATTIC) == [0.0]
            late = a_server("late")
            lan.add(late)
            chooser.rouse()
            await asyncio.sleep(1)
            assert lan.tried(late) == [86_400.0]
            assert state_of(chooser, late) is State.READY

    run(main())


@pytest.mark.parametrize("down", [REFUSES, HANGS, BUSY, LOADS], ids=["refuses", "hangs", "busy", "loads"])
@pytest.mark.parametrize("others", [0, 4])
def test_a_server_in_use_that_comes_back_is_there_within_two_seconds(
    lan: Lan, tmp_path: Path, down: Behaviour, others: int
) -> None:
    async def main() -> None:
        lan.add(DEN)
        lan.add(*(a_server(f"other {number}") for number in range(others)), does=HANGS)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            for tenths in range(0, 600, 19):
                lan.tell(down, DEN)
                while await ask(chooser) == DEN:
                    pass
                await asyncio.sleep(tenths / 10)
                lan.tell(WORKS, DEN)
                back = clock()
                await until(lambda: state_of(chooser, DEN) is State.READY)
                assert clock() - back < 1.7
                assert await ask(chooser) == DEN

    run(main())


def test_what_came_back_after_a_night_is_found_by_the_wake_word(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(DEN, does=HANGS)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(8 * 3600)
            lan.tell(WORKS, DEN)
            chooser.rouse()
            await asyncio.sleep(0.1)
            assert state_of(chooser, DEN) is State.READY

    run(main())


@pytest.mark.parametrize("down", [REFUSES, HANGS, BUSY, LOADS, LOCKED])
def test_what_stays_away_is_hardly_ever_tried(lan: Lan, tmp_path: Path, down: Behaviour) -> None:
    async def main() -> None:
        lan.add(DEN, does=down)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(86_400)
        tried = lan.tried(DEN)
        assert all(later - earlier >= 0.999 for earlier, later in pairwise(tried))
        assert all(later - earlier <= 62 for earlier, later in pairwise(tried))
        assert len(tried) < 320 + 60 * 23

    run(main())


def test_a_wake_word_each_second_does_not_make_it_more_than_one_trial_a_second(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(DEN, does=REFUSES)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            for _ in range(600):
                chooser.rouse()
                await asyncio.sleep(0.1)
        assert 55 <= len(lan.trials) <= 61

    run(main())


def test_a_busy_server_is_not_tried_before_the_time_that_it_named(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(DEN, does=replace(BUSY, retry_after=30.0))
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            for _ in range(10):
                assert await ask(chooser) is None
                await asyncio.sleep(2.0)
            assert len(lan.trials) == 1
            await asyncio.sleep(20.0)
            assert len(lan.trials) == 2

    run(main())


def test_another_address_is_another_chance(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(FOUND_DEN)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            assert await ask(chooser) == FOUND_DEN
            lan.tell(REFUSES, FOUND_DEN)
            assert await ask(chooser) is None
            moved = replace(FOUND_DEN, url="http://10.0.0.7:1234/v1")
            lan.servers.clear()
            lan.add(moved)
            assert await ask(chooser) == moved

    run(main())


@pytest.mark.parametrize("after", [0.1, 5.0], ids=["while it is tried", "later"])
def test_what_a_server_was_says_nothing_of_what_it_is_now(
    lan: Lan, tmp_path: Path, after: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Its owner has corrected what it advertises."""

    async def main() -> None:
        a_store(tmp_path).trust("den", None)
        lan.add(FOUND_DEN, does=replace(LOCKED, after=0.2))
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(after)
            lan.servers[0] = corrected = replace(FOUND_DEN, model="llama")
            lan.tell(WORKS, corrected)
            assert await ask(chooser) == corrected
        assert ("misconfigured" in caplog.text) == (after > 1)

    run(main())


def test_what_is_misconfigured_is_reported_once_and_left_alone_until_it_has_changed(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(DEN, does=LOCKED)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            for _ in range(20):
                assert await ask(chooser) is None
                await asyncio.sleep(5.0)
            (record,) = caplog.records
            assert record.getMessage() == f"den ({DEN.url}) misconfigured: it is not used until that changes"
            assert len(lan.trials) == 2, "once, and a minute later in the background"
            lan.tell(WORKS, DEN)
            await asyncio.sleep(61)
            assert await ask(chooser) == DEN
            lan.tell(LOCKED, DEN)
            assert await ask(chooser) is None
            assert len(caplog.records) == 2

    run(main())


def test_a_server_without_the_model_is_asked_as_soon_as_it_has_other_models(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(DEN)
        chooser = lan.chooser(a_store(tmp_path))
        search = Search(chooser, lambda: None)
        await search.find_instance()
        with in_background(chooser):
            await asyncio.sleep(50)
            search.failed(ServerError(Problem.MISCONFIGURED, "there is no model llama"))
            assert await ask(chooser) is None
            lan.tell(Behaviour(models=("a model", "llama")), DEN)
            await asyncio.sleep(11)
            assert await ask(chooser) == DEN
        assert len(caplog.records) == 1

    run(main())


def test_a_key_that_was_put_right_is_tried_after_a_minute_and_a_wrong_one_reported_once(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(DEN)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            for _ in range(10):
                search = Search(chooser, lambda: None)
                assert await search.find_instance() == DEN
                search.failed(ServerError(Problem.MISCONFIGURED, "wants another key"))
                assert await ask(chooser) is None
                await asyncio.sleep(121)
        assert len(caplog.records) == 1
        search = Search(chooser, lambda: None)
        assert await search.find_instance() == DEN
        search.answered()
        search.failed(ServerError(Problem.MISCONFIGURED, "wants another key"))
        assert len(caplog.records) == 2, "it had worked meanwhile"

    run(main())


def test_a_server_without_any_model_is_no_server_yet(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(FOUND_ATTIC, does=Behaviour(models=()))
        lan.add(FOUND_DEN)
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) == FOUND_DEN
        asked_for = replace(DEN, model="llama")
        lan.add(asked_for, does=Behaviour(models=()))
        assert await ask(chooser) == asked_for, "one that the owner named may keep its list to itself"
        assert f"attic ({FOUND_ATTIC.url}) has no model: it is not used until that changes" in caplog.text

    run(main())


def test_discovery_is_told_what_is_broken(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        doubted: list[Server] = []
        for server, does in [(DEN, REFUSES), (ATTIC, HANGS), (a_server("a"), LOADS), (a_server("b"), LOCKED)]:
            lan.add(server, does=does)
        chooser = Chooser(lan, lambda: lan.servers, a_store(tmp_path), Random(1), doubted.append)  # noqa: S311
        with in_background(chooser):
            await asyncio.sleep(0.9)
        assert doubted == [DEN, ATTIC]

    run(main())


def test_one_that_is_trusted_by_another_name_is_no_stranger(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine that advertises two services, say."""

    async def main() -> None:
        lan.add(DEN, replace(FOUND_DEN, name="den (ollama)"))
        a_store(tmp_path).trust("another", None)
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) == DEN
        assert len(lan.trials) == 1

    run(main())
    assert not caplog.records


def test_what_may_be_on_this_machine_and_is_not_is_no_complaint(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        here = a_server("here", Source.LOCAL)
        lan.add(here, does=LOCKED)
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) is None
        assert state_of(chooser, here) is State.MISCONFIGURED

    run(main())
    assert not caplog.records


def test_a_server_that_fails_in_use_again_and_again_is_asked_less_and_less_while_there_is_another(
    lan: Lan, tmp_path: Path
) -> None:
    """A hung graphics card: it lists its models, and never answers."""

    async def main() -> None:
        lan.add(DEN, ATTIC)
        chooser = lan.chooser(a_store(tmp_path))
        asked: list[float] = []
        with in_background(chooser):
            while clock() < 600:
                search = Search(chooser, lambda: None)
                server = await search.find_instance()
                if server == DEN:
                    asked.append(clock())
                    search.failed(ServerError(Problem.BROKEN, "no word within 5 s"))
                    server = await search.find_instance()
                assert server == ATTIC
                search.answered()
                await asyncio.sleep(0.5)
        assert len(asked) < 20
        pauses = [later - earlier for earlier, later in pairwise(asked)]
        assert pauses[:3] == sorted(pauses[:3])
        assert max(pauses) < 65

    run(main())


def test_nobody_on_the_lan_is_asked_but_the_first_one(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(FOUND_DEN)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(1)
            rogue = replace(FOUND_DEN, url="http://10.6.6.6:80/v1", properties={"host": "rogue.local"})
            lan.add(FOUND_ATTIC, rogue)
            lan.tell(REFUSES, FOUND_DEN)
            for _ in range(5):
                chooser.rouse()
                assert await ask(chooser) is None
                await asyncio.sleep(60)
            assert not lan.tried(FOUND_ATTIC, rogue)
            a_store(tmp_path).trust("attic", None)
            assert await ask(chooser) == FOUND_ATTIC
            assert {sight.server: sight.verdict for sight in chooser.sights()} == {
                FOUND_DEN: Verdict.REMEMBERED,
                FOUND_ATTIC: Verdict.REMEMBERED,
                rogue: Verdict.CHANGED,
            }
        messages = [record.getMessage() for record in caplog.records]
        rogue_is_another = 'it has the name of a trusted server, but host "rogue.local" instead of "den.local"'
        attic, den = f"attic ({FOUND_ATTIC.url})", f"den ({FOUND_DEN.url})"
        assert messages == [
            f"{den} was found, and is trusted from now on",
            f"{attic} was found and is not used: it is not trusted. To use it: appliance llm trust attic",
            f"den ({rogue.url}) was found and is not used: {rogue_is_another}. To use it: appliance llm trust den",
            f"{attic} was found, and is trusted from now on",
        ]

    run(main())


def test_another_name_for_the_same_address_hides_no_trusted_one(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        lan.add(FOUND_DEN)
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) == FOUND_DEN
        rogue = replace(FOUND_DEN, name="a rogue", priority=-1)
        lan.add(rogue)
        assert await ask(chooser) == FOUND_DEN
        assert {sight.server: sight.verdict for sight in chooser.sights()} == {
            FOUND_DEN: Verdict.REMEMBERED,
            rogue: Verdict.STRANGER,
        }
        assert not lan.tried(rogue)

    run(main())


def test_one_that_is_known_by_several_names_is_always_asked_by_the_same(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        mine = replace(FOUND_DEN, source=Source.LOCAL, name="on this machine")
        twins = [replace(FOUND_DEN, name=name) for name in ("den (ollama)", "den")]
        for twin in twins:
            a_store(tmp_path).trust(twin.name, None)
        lan.add(mine, *twins)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            assert [await ask(chooser) for _ in range(20)] == [twins[1]] * 20
            await asyncio.sleep(10)
        assert {trial.server for trial in lan.trials} == {twins[1]}
        assert [sight.server for sight in chooser.sights()] == [twins[1]]

    run(main())


def test_the_log_is_not_filled_by_anybody_on_the_lan(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        a_store(tmp_path).trust("den", None)
        lan.add(*(a_server(f"spam {number}", Source.MDNS) for number in range(100)))
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) is None
        assert not lan.trials

    run(main())
    assert len(caplog.records) == STRANGERS


@pytest.mark.parametrize("order", [[FOUND_DEN, FOUND_ATTIC], [FOUND_ATTIC, FOUND_DEN]])
def test_of_two_that_are_found_at_once_the_first_by_name_is_the_first_one(
    lan: Lan, tmp_path: Path, order: list[Server]
) -> None:
    async def main() -> None:
        lan.add(*order)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            assert await asyncio.gather(*(ask(chooser) for _ in range(3))) == [FOUND_ATTIC] * 3
            assert not lan.tried(FOUND_DEN)

    run(main())


@pytest.mark.parametrize("does", [REFUSES, HANGS, LOCKED])
def test_one_that_does_not_prove_itself_is_not_the_first_one(lan: Lan, tmp_path: Path, does: Behaviour) -> None:
    async def main() -> None:
        lan.add(FOUND_ATTIC, does=does)
        lan.add(FOUND_DEN)
        chooser = lan.chooser(a_store(tmp_path))
        assert await ask(chooser) == FOUND_DEN
        lan.tell(WORKS, FOUND_ATTIC)
        lan.tell(REFUSES, FOUND_DEN)
        assert await ask(chooser) is None

    run(main())


def test_each_that_may_become_the_first_one_gets_its_turn(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        stale = [a_server(f"stale {number}", Source.MDNS) for number in range(4)]
        lan.add(*stale, does=HANGS)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(600)
            lan.tell(WORKS, stale[2])
            chooser.rouse()
            await asyncio.sleep(4 * (1 + TRIAL))
            assert state_of(chooser, stale[2]) is State.READY
            assert await ask(chooser) == stale[2]

    run(main())


def test_a_locked_one_does_not_take_the_turns_of_those_that_may_become_the_first_one(lan: Lan, tmp_path: Path) -> None:
    async def main() -> None:
        lan.add(FOUND_ATTIC, does=LOCKED)
        lan.add(FOUND_DEN, does=REFUSES)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            await asyncio.sleep(10)
            lan.tell(WORKS, FOUND_DEN)
            await asyncio.sleep(2)
            assert state_of(chooser, FOUND_DEN) is State.READY

    run(main())


def test_a_configured_server_does_not_keep_the_first_one_found_from_being_remembered(lan: Lan, tmp_path: Path) -> None:
    """So that nobody who comes later, and stops the configured one, is the first one."""

    async def main() -> None:
        lan.add(DEN, FOUND_ATTIC)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            assert await ask(chooser) == DEN
            await asyncio.sleep(1)
        assert [each.name for each in a_store(tmp_path).known() or ()] == ["attic"]

    run(main())


def test_a_trial_that_fails_in_an_unforeseen_way_ends_nothing(
    lan: Lan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        def fail(server: Server) -> None:
            if server == DEN:
                raise LookupError("a fault of ours")

        lan.on_trial = fail
        lan.add(DEN, ATTIC)
        chooser = lan.chooser(a_store(tmp_path))
        with in_background(chooser):
            assert await ask(chooser) == ATTIC
            await asyncio.sleep(3600)
            lan.on_trial = lambda _: None
            chooser.rouse()
            await asyncio.sleep(1)
            assert await ask(chooser) == DEN
        assert len(caplog.records) == 1

    run(main())


@pytest.mark.parametrize(
    ("does", "state", "why", "next_try"),
    [
        (WORKS, State.READY, "", None),
        (REFUSES, State.BENCHED, "broken", 1.0),
        (HANGS, State.BENCHED, "does not answer within 0.5 s", 0.5),
        (LOADS, State.WARMING, "warming", 1.0),
        (replace(BUSY, retry_after=9.0), State.BUSY, "at capacity", 9.0),
        (LOCKED, State.MISCONFIGURED, "misconfigured", 60.0),
    ],
)
def test_how_a_server_stands_can_be_seen(
    lan: Lan, tmp_path: Path, does: Behaviour, state: State, why: str, next_try: float | None
) -> None:
    async def main() -> None:
        lan.add(DEN, does=does)
        chooser = lan.chooser(a_store(tmp_path))
        assert chooser.sights() == []
        background = asyncio.create_task(chooser.run())
        await asyncio.sleep(0)
        (sight,) = chooser.sights()
        assert (sight.state, sight.next_try) == (State.UNTRIED, 0.0)
        await until(lambda: state_of(chooser, DEN) is not State.UNTRIED)
        (sight,) = await asyncio.to_thread(chooser.sights)
        assert (sight.server, sight.verdict, sight.state, sight.why) == (DEN, Verdict.CONFIGURED, state, why)
        assert sight.next_try == (None if next_try is None else pytest.approx(next_try, abs=0.02))
        background.cancel()

    run(main())


def test_in_use_is_never_cut_short(lan: Lan, tmp_path: Path) -> None:
    """A cold load lasts as long as it lasts, whatever trials find out meanwhile."""

    async def main() -> None:
        lan.add(DEN)
        chooser = lan.chooser(a_store(tmp_path))
        search = Search(chooser, lambda: None)

        async def question() -> str:
            await search.find_instance()
            await asyncio.sleep(120)
            search.answered()
            return "an answer"

        with in_background(chooser):
            asking = asyncio.create_task(question())
            await asyncio.sleep(1)
            lan.tell(HANGS, DEN)
            for _ in range(30):
                await ask(chooser)
                await asyncio.sleep(1)
            lan.servers.clear()
            chooser.rouse()
            assert await asking == "an answer"

    run(main())


@pytest.mark.parametrize("act", [lambda task: task.cancel(), lambda _: None])
def test_nothing_is_left_of_the_background(
    lan: Lan, tmp_path: Path, act: Callable[[asyncio.Task[None]], object]
) -> None:
    async def main() -> None:
        lan.add(DEN, ATTIC, does=HANGS)
        chooser = lan.chooser(a_store(tmp_path))
        background = asyncio.create_task(chooser.run())
        asking = asyncio.create_task(ask(chooser))
        await asyncio.sleep(0.3)
        act(background)
        await asking
        background.cancel()
        await asyncio.wait({background})
        assert not lan.open
        assert len(asyncio.all_tasks()) == 1

    run(main())
