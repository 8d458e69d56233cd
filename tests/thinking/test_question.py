"""A question to several servers, of which some let wait without a word."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.core.clauses import ClauseSplitter
from appliance.thinking.history import History
from appliance.thinking.lan_model import MOMENT, VOICE
from appliance.thinking.phrases import en
from appliance.thinking.question import CLAUSE, LEFT_ALONE, OVERTAKE
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.standing import State
from tests.thinking.test_lan_model import GOOD, OTHER, PATIENCE, RESET, TELLINGS, TOO_LONG, Course, play
from tests.thinking.test_lan_model import Scene as Asked

THIRD = Server("c", "http://c.lan/v1", Source.CONFIGURED, 2)


def told(asked: Asked) -> list[str]:
    return [name for name, _ in asked.client.told]


def state_of(asked: Asked, server: Server) -> State:
    return next(sight.state for sight in asked.model.sights() if sight.server == server)


def test_one_that_says_nothing_is_overtaken_and_left_to_its_first_word(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [60.0, "Late. Really", 60.0], OTHER: ["Because."]})
        assert await asked.ask() == f"{en.ONE_MOMENT} Because."
        assert asked.words[-1][0] == pytest.approx(OVERTAKE, abs=0.1)
        assert asked.model.answered_by == OTHER.name
        assert asked.client.open == {GOOD.name}, "it may be loading"
        await asyncio.sleep(60)
        assert not asked.client.open

    play(scene)


def test_others_come_before_one_that_was_overtaken_until_it_has_said_its_word(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [10.0, "Late."], OTHER: ["Because."]})
        await asked.ask()
        assert state_of(asked, GOOD) is State.BUSY
        assert (await asked.ask()).endswith("Because.")
        assert told(asked) == [GOOD.name, OTHER.name, OTHER.name], "this time at once"
        await asyncio.sleep(10)
        assert state_of(asked, GOOD) is State.READY
        await asked.ask()
        assert told(asked)[3] == GOOD.name
        await asyncio.sleep(LEFT_ALONE)

    play(scene)


def test_who_speaks_first_answers_though_the_other_was_asked_before(tmp_path: Path) -> None:
    async def scene() -> None:
        courses: list[Course] = [[4.0, "Ghost."], [RESET], [0.5, RESET], [TOO_LONG]]
        for course in courses:
            asked = Asked(tmp_path, {GOOD: [3.0, "Because."], OTHER: course})
            assert await asked.ask() == f"{en.ONE_MOMENT} Because."
            assert asked.model.answered_by == GOOD.name
            await asyncio.sleep(60)
            assert not asked.client.open

    play(scene)


def test_one_alone_is_asked_once_and_waited_for(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [4.0, "Because."]})
        assert await asked.ask() == f"{en.ONE_MOMENT} Because."
        assert asked.client.told == [(GOOD.name, TELLINGS[0])]
        asked = Asked(tmp_path, {GOOD: [3.0, RESET]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.NO_MODEL}"
        assert told(asked) == [GOOD.name]

    play(scene)


@pytest.mark.parametrize("then", [[60.0], [30.0, RESET]])
def test_a_whole_sentence_is_said_in_time_though_it_is_not_clear_whether_more_follows(
    tmp_path: Path, then: list[float | ServerError]
) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [1.0, "Yes.", *then]})
        broke_off = f" {en.BROKE_OFF}" if RESET in then else ""
        assert await asked.ask() == f"{en.ONE_MOMENT} Yes." + broke_off
        assert asked.words[1][0] == pytest.approx(PATIENCE - VOICE)
        assert asked.model.answered_by == GOOD.name
        assert state_of(asked, GOOD) is (State.BENCHED if broke_off else State.READY)

    play(scene)


def test_a_whole_sentence_is_said_if_the_server_breaks_off_after_it_and_no_other_one_answers(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: ["Yes.", 0.5, RESET]})
        assert await asked.ask() == f"Yes. {en.BROKE_OFF}"
        asked = Asked(tmp_path, {GOOD: ["Yes.", 0.5, RESET], OTHER: ["No, never."]})
        assert await asked.ask() == "No, never."
        asked = Asked(tmp_path, {GOOD: ["Yes and", 0.5, RESET]})
        assert await asked.ask() == en.NO_MODEL

    play(scene)


def test_one_that_trickles_is_not_read_to_its_end_when_nobody_waits(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [part for _ in range(100) for part in (1.0, "word ")]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        await asyncio.sleep(CLAUSE + 0.5)
        assert not asked.client.open, "it speaks, so it does not load"
        assert state_of(asked, GOOD) is State.BENCHED

    play(scene)


def test_the_first_clause_is_spoken_at_once_also_after_one_moment(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [2.0, "Well, that is a good question, and", 1.0, " a long one."]})
        spoken = []
        splitter = ClauseSplitter()
        async with aclosing(asked.model.words(History())) as pieces:
            async for piece in pieces:
                spoken += [(asked.loop.time(), clause) for clause in splitter.feed(piece)]
        assert [clause for _, clause in spoken] == [en.ONE_MOMENT, "Well, that is a good question,"]
        assert spoken[1][0] == pytest.approx(2.0, abs=0.1)
        assert splitter.finish() == ["and a long one."]

    play(scene)


def test_a_whole_sentence_is_said_though_another_server_hangs(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: ["Yes.", 0.5, RESET], OTHER: [60.0, "Late."]})
        assert await asked.ask() == f"{en.ONE_MOMENT} Yes. {en.BROKE_OFF}"
        assert asked.words[1][0] == pytest.approx(PATIENCE - VOICE)
        await asked.model.close()

    play(scene)


@pytest.mark.parametrize("nothing", ["…", "...", "? ", "🙂 \n"])
def test_what_cannot_be_spoken_is_no_answer(tmp_path: Path, nothing: str) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [nothing], OTHER: ["Because."]})
        assert await asked.ask() == "Because."
        asked = Asked(tmp_path, {GOOD: [nothing, 60.0]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        await asked.model.close()

    play(scene)


def test_a_server_that_loads_is_left_to_it_however_many_others_hang(tmp_path: Path) -> None:
    async def scene() -> None:
        loads = Asked(tmp_path, {GOOD: [600.0], OTHER: [600.0], THIRD: [20.0, "Loaded. Now"]})
        for _ in range(3):
            await loads.ask()
        await asyncio.sleep(20)
        assert state_of(loads, THIRD) is State.READY
        assert told(loads).count(THIRD.name) == 1
        await loads.model.close()

    play(scene)


def test_servers_that_hang_are_not_waited_for_by_ever_more_questions(tmp_path: Path) -> None:
    async def scene() -> None:
        possible: list[dict[Server, Course]] = [{}, {OTHER: ["Because."]}, {OTHER: [600.0, "Late."]}]
        for others in possible:
            asked = Asked(tmp_path, {GOOD: [600.0, "Late."], **others})
            before = len(asyncio.all_tasks())
            waiting = []
            for _ in range(8):
                await asked.ask()
                waiting.append(len(asyncio.all_tasks()) - before)
                await asyncio.sleep(LEFT_ALONE + 2)
            assert max(waiting) <= 2 * (1 + len(others)), "each of them once"
            await asked.model.close()

    play(scene)


def test_all_are_silent(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {server: [60.0, "Late."] for server in (GOOD, OTHER, THIRD)})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        assert asked.words[-1][0] == pytest.approx(PATIENCE - VOICE)
        assert asked.client.open == {GOOD.name, OTHER.name, THIRD.name}
        await asyncio.sleep(70)
        assert not asked.client.open
        assert len(asked.client.told) == 3

    play(scene)


def test_who_interrupts_ends_all_that_was_asked(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {server: [60.0, "Late."] for server in (GOOD, OTHER, THIRD)})
        asking = asyncio.create_task(asked.ask())
        await asyncio.sleep(3)
        assert asked.client.open == {GOOD.name, OTHER.name}
        asking.cancel()
        await asyncio.wait({asking})
        assert not asked.client.open
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(scene)


def test_at_the_end_of_the_appliance_nobody_is_left(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: [60.0, "Late."], OTHER: ["Because."]})
        await asked.ask()
        await asked.model.close()
        assert not asked.client.open
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(scene)


@pytest.mark.parametrize(("said", "reply"), [([], en.NO_MODEL), (["It is. So"], f"It is. So {en.BROKE_OFF}")])
def test_what_breaks_of_ours_is_no_silence(
    tmp_path: Path, said: list[str], reply: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def chat(*_: object) -> AsyncGenerator[str, None]:
        for piece in said:
            yield piece
        raise ZeroDivisionError

    async def scene() -> None:
        asked = Asked(tmp_path, {GOOD: []})
        monkeypatch.setattr(asked.client, "chat", chat)
        assert await asked.ask() == reply
        assert asked.words[-1][0] < MOMENT
        assert "asking the language model failed" in caplog.text

    play(scene)


problems = st.sampled_from(Problem).map(lambda problem: ServerError(problem, "as it is"))
courses = st.lists(st.one_of(st.floats(0, 12), st.sampled_from([1, 3, 5]), st.just("Because."), problems), max_size=4)


@given(st.lists(courses, min_size=1, max_size=3))
def test_whatever_they_do_there_are_words_in_time_and_nothing_is_left(found: Sequence[Course]) -> None:
    async def scene() -> None:
        with tempfile.TemporaryDirectory() as folder:
            asked = Asked(Path(folder), dict(zip((GOOD, OTHER, THIRD), found, strict=False)))
            reply = await asked.ask()
            times = [0.0, *(at for at, _ in asked.words)]
            assert reply
            assert times[1] <= MOMENT + 0.01 or asked.words[0][1] == "Because."
            last = next((n for n, (_, piece) in enumerate(asked.words) if piece != en.ONE_MOMENT), 0)
            assert all(later >= earlier for earlier, later in pairwise(times))
            assert asked.words[last][0] <= PATIENCE - VOICE + 0.01
            assert len(asked.client.told) <= 3 * 5 * len(TELLINGS)
            await asyncio.sleep(1000)
            assert not asked.client.open
            assert asyncio.all_tasks() == {asyncio.current_task()}

    play(scene)
