"""Whatever the servers do, there are words within the patience: of a model, or honest ones."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from appliance.simulation.clock import VirtualLoop
from appliance.thinking.choosing import Chooser
from appliance.thinking.history import History
from appliance.thinking.lan_model import MOMENT, VOICE, LanModel
from appliance.thinking.phrases import en
from appliance.thinking.prompt import Message
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.standing import State
from appliance.thinking.truststore import TrustStore

PATIENCE = 6.0
GOOD, OTHER = (Server(name, f"http://{name}.lan/v1", Source.CONFIGURED, priority) for priority, name in enumerate("ab"))
Course = Sequence[float | int | str | ServerError]
"""What a server does when it is asked: waits for so many seconds, takes so many messages, says a piece, or fails."""

RESET = ServerError(Problem.BROKEN, "reset")
TOO_LONG = ServerError(Problem.TOO_LONG, "exceeds the available context size")
TELLINGS = [[Message("user", "why")] * number for number in (5, 3, 1)]
DATE = datetime(2026, 11, 30, tzinfo=UTC)


class Client:
    """Servers that do what is written."""

    def __init__(self, courses: dict[Server, Course], trials: dict[Server, ServerError]) -> None:
        self._courses = courses
        self._trials = trials
        self.open: set[str] = set()
        self.told: list[tuple[str, Sequence[Message]]] = []

    async def models(self, server: Server) -> list[str]:
        if server in self._trials:
            raise self._trials[server]
        return ["a model"]

    async def chat(
        self, server: Server, messages: Sequence[Message], options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[str, None]:
        self.told.append((server.name, messages))
        self.open.add(server.name)
        try:
            for each in self._courses[server]:
                match each:
                    case int() if len(messages) <= each:
                        pass
                    case int():
                        raise TOO_LONG
                    case str():
                        yield each
                    case ServerError():
                        raise each
                    case _:
                        await asyncio.sleep(each)
        finally:
            self.open.discard(server.name)


class Scene:
    """A question to servers that do what is written."""

    def __init__(
        self,
        folder: Path,
        courses: dict[Server, Course],
        trials: dict[Server, ServerError] | None = None,
        later: Sequence[Server] = (),
    ) -> None:
        self.client = Client(courses, trials or {})
        self.servers = [each for each in {**courses, **(trials or {})} if each not in later]
        self.later = list(later)
        store = TrustStore(folder, lambda: DATE)
        chooser = Chooser(self.client, lambda: self.servers, store, Random(1))  # noqa: S311
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.model = LanModel(self.client, chooser, en, lambda _: TELLINGS, PATIENCE, self.refresh)
        self.words: list[tuple[float, str]] = []

    async def refresh(self) -> None:
        """What the network says when it is asked again comes to be known."""
        await asyncio.sleep(0.3)
        self.servers += self.later

    async def ask(self) -> str:
        """All that is said."""
        async with aclosing(self.model.words(History())) as pieces:
            async for piece in pieces:
                self.words.append((self.loop.time() - self.began, piece.strip()))
        return " ".join(piece for _, piece in self.words)


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())


def test_the_model_answers(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: ["Because", 0.1, " it is."]})
        assert await asked.ask() == "Because it is."
        assert asked.model.answered_by == GOOD.name
        assert asked.client.told == [(GOOD.name, TELLINGS[0])]

    play(scene)


@pytest.mark.parametrize("trials", [{}, {GOOD: RESET}])
def test_what_is_known_of_the_network_is_asked_again_before_it_is_given_up(
    tmp_path: Path, trials: dict[Server, ServerError]
) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {OTHER: ["Because."]}, trials, later=[OTHER])
        assert await asked.ask() == "Because."
        assert asked.words[0][0] < MOMENT

    play(scene)


def test_who_has_to_wait_is_told_so_once(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [4.0, "Because it is. So", 9.0, "it is."]})
        assert await asked.ask() == f"{en.ONE_MOMENT} Because it is. So it is."
        assert asked.words[0][0] == pytest.approx(MOMENT)

    play(scene)


def test_who_waits_for_a_place_is_told_so_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {}, {GOOD: ServerError(Problem.AT_CAPACITY, "full")})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_BUSY}"
        assert asked.words[0][0] < 0.1

    play(scene)


def test_nobody_waits_for_longer_than_the_patience_and_a_model_that_loads_is_left_to_it(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [60.0, "Because"]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        assert asked.words[-1][0] == pytest.approx(PATIENCE - VOICE)
        await asyncio.sleep(50)
        assert asked.client.open == {GOOD.name}, "it may be loading"
        await asyncio.sleep(10)
        assert not asked.client.open, "its first word has come, and nobody wants it any more"

    play(scene)


def test_as_long_as_nothing_was_said_another_server_is_asked(tmp_path: Path) -> None:
    async def scene() -> None:
        courses: list[Course] = [[RESET], [0.5, RESET], []]
        for course in courses:
            asked = Scene(tmp_path, {GOOD: course, OTHER: ["Because."]})
            assert await asked.ask() == "Because."
            assert asked.model.answered_by == OTHER.name

    play(scene)


def test_a_model_that_cannot_take_it_all_is_told_less(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [3, "Because."], OTHER: ["Ghost."]})
        assert await asked.ask() == "Because."
        assert asked.client.told == [(GOOD.name, TELLINGS[0]), (GOOD.name, TELLINGS[1])]
        assert {sight.state for sight in asked.model.sights() if sight.server == GOOD} == {State.READY}

    play(scene)


def test_what_one_model_cannot_take_at_all_another_one_may(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [0], OTHER: ["Because."]})
        assert await asked.ask() == "Because."
        assert asked.client.told == [*((GOOD.name, told) for told in TELLINGS), (OTHER.name, TELLINGS[0])]

    play(scene)


@pytest.mark.parametrize("other", [[0], [RESET]])
def test_a_question_that_is_too_long_is_said_to_be_so_at_once_and_the_next_one_is_answered(
    tmp_path: Path, other: Course
) -> None:
    async def scene() -> None:
        courses: dict[Server, Course] = {GOOD: [0], OTHER: other}
        asked = Scene(tmp_path, courses)
        assert await asked.ask() == en.MODEL_TOO_LONG
        assert asked.words[0][0] < MOMENT
        assert [name for name, _ in asked.client.told].count(GOOD.name) == len(TELLINGS)
        courses[GOOD] = ["Because."]
        assert await asked.ask() == f"{en.MODEL_TOO_LONG} Because."

    play(scene)


def test_a_model_whose_context_is_full_has_come_to_the_end_of_its_reply(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: ["Because it", TOO_LONG], OTHER: ["Ghost."]})
        assert await asked.ask() == "Because it"
        assert len(asked.client.told) == 1

    play(scene)


def test_nobody_waits_for_longer_than_the_patience_while_it_is_told_less(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [2.0, 1, "Because."]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        assert asked.words[-1][0] == pytest.approx(PATIENCE - VOICE)

    play(scene)


def test_a_reply_that_breaks_off_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: ["Because it is. So", 0.5, RESET], OTHER: ["Ghost."]})
        assert await asked.ask() == f"Because it is. So {en.BROKE_OFF}"

    play(scene)


@pytest.mark.parametrize(("course", "moment"), [(["Because", 0.5, RESET], ""), (["Because", 60.0], en.ONE_MOMENT)])
def test_what_could_not_be_spoken_yet_is_asked_of_another(tmp_path: Path, course: Course, moment: str) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: course, OTHER: ["Why not."]})
        assert await asked.ask() == f"{moment} Why not.".strip()
        assert asked.model.answered_by == OTHER.name

    play(scene)


def test_a_word_now_and_then_is_no_answer_within_the_patience(tmp_path: Path) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: [each for word in "Because the sky is blue" for each in (4.0, word)]})
        assert await asked.ask() == f"{en.ONE_MOMENT} {en.MODEL_SLOW}"
        assert asked.words[-1][0] == pytest.approx(PATIENCE - VOICE)
        await asked.model.close()

    play(scene)


@pytest.mark.parametrize(
    ("problem", "excuse"),
    [
        (Problem.BROKEN, en.NO_MODEL),
        (Problem.MISCONFIGURED, en.NO_MODEL),
        (Problem.WARMING, en.MODEL_WARMING),
        (Problem.AT_CAPACITY, en.MODEL_BUSY),
    ],
)
def test_what_stands_in_its_way_is_said(tmp_path: Path, problem: Problem, excuse: str) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {}, {GOOD: ServerError(problem, "as it is")})
        assert (await asked.ask()).endswith(excuse)
        assert asked.words[-1][0] <= PATIENCE - VOICE

    play(scene)


def test_without_any_server_there_is_the_sentence_of_the_skills(tmp_path: Path) -> None:
    async def scene() -> None:
        assert await Scene(tmp_path, {}).ask() == en.UNKNOWN

    play(scene)


@pytest.mark.parametrize("course", [[60.0, "Late."], ["Because", 60.0, "it is."]])
def test_who_is_interrupted_stops_asking_at_once(tmp_path: Path, course: Course) -> None:
    async def scene() -> None:
        asked = Scene(tmp_path, {GOOD: course})
        asking = asyncio.create_task(asked.ask())
        await asyncio.sleep(1)
        assert asked.client.open
        asking.cancel()
        await asyncio.wait({asking})
        assert not asked.client.open
        assert asking.cancelled()

    play(scene)
