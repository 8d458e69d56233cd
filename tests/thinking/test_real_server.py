"""The language model as the appliance asks it, against a real llama.cpp server with real weights."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.thinking.history import History
from appliance.thinking.lan import Wishes, lan_model
from appliance.thinking.lan_model import LanModel
from appliance.thinking.llm import LlmClient
from appliance.thinking.phrases import en
from appliance.thinking.prompt import Message
from appliance.thinking.standing import State
from tests.thinking import scripted
from tests.thinking.real_server import START, RealServer, missing
from tests.thinking.scripted import in_real_time

pytestmark = pytest.mark.skipif(missing() != "", reason=missing())

QUESTION = [Message("user", "Tell me a story.")]
NOTICES = (en.ONE_MOMENT, en.BROKE_OFF, en.NO_MODEL, en.MODEL_SLOW, en.MODEL_TOO_LONG, en.UNKNOWN)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real weights take their time on a busy machine."""
    monkeypatch.setattr(scripted, "LONGEST_WAIT", 4 * START)


@pytest.fixture(scope="module")
def server() -> Iterator[RealServer]:
    """One that all tests use which do it no harm."""
    with RealServer(endless=True) as server:
        yield server


def wishes(*servers: RealServer) -> Wishes:
    places = [f"127.0.0.1:{server.port}" for server in servers]
    return Wishes(places, False, "", None, None, "Be kind.", "", 4000, START)


def asked(question: str, *, before: int = 0) -> History:
    """A conversation of so many exchanges, and a question."""
    history = History()
    for number in range(1, before + 1):
        reply = (
            "Because it is so, and because it has always been so, as everybody knows who has ever thought of it. " * 2
        )
        history.ask(number, f"Why is that so, number {number}?")
        history.reply(number, reply)
        history.replied(number, reply, "", interrupted=False)
    history.ask(before + 1, question)
    return history


async def all_of(words: AsyncGenerator[str, None]) -> str:
    async with aclosing(words) as pieces:
        return "".join([piece async for piece in pieces])


def by_the_model(reply: str) -> str:
    """The reply without what the appliance itself may have said."""
    for notice in NOTICES:
        reply = reply.replace(notice, "")
    return reply.strip()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    while not await asyncio.to_thread(condition):  # noqa: ASYNC110  of another process
        await asyncio.sleep(0.01)


def state_of(model: LanModel) -> State:
    return model.sights()[0].state


@in_real_time
async def test_it_says_which_model_it_has_and_answers_piece_by_piece(server: RealServer) -> None:
    async with LlmClient() as client:
        assert len(await client.models(server.server())) == 1
        times: list[float] = []
        said = ""
        async for piece in client.chat(server.server(), QUESTION, {"max_tokens": 40}):
            times.append(time.monotonic())
            said += piece
    assert len(said.split()) > 10
    assert len(times) > 20, "tokens, as they come"
    assert times[-1] > times[0]


@in_real_time
async def test_who_is_interrupted_stops_its_work(server: RealServer) -> None:
    before = server.generated()
    async with LlmClient() as client:
        async with aclosing(client.chat(server.server(), QUESTION, {"max_tokens": 800})) as pieces:
            await anext(pieces)
            assert await asyncio.to_thread(server.busy)
        await until(lambda: not server.busy())
    assert server.generated() - before < 200


@in_real_time
async def test_who_is_interrupted_before_the_first_word_stops_its_work(server: RealServer) -> None:
    before = server.generated()
    async with LlmClient() as client:
        long = [Message("user", "Tell me a story about " + "a dog and a cat and " * 40)]
        asking = asyncio.create_task(all_of(client.chat(server.server(), long, {"max_tokens": 500})))
        await until(server.busy)
        asking.cancel()
        await asyncio.wait({asking})
        await until(lambda: not server.busy())
    assert server.generated() - before < 100


def test_a_conversation_that_its_context_cannot_hold_is_told_shorter(tmp_path: Path) -> None:
    @in_real_time
    async def scene() -> None:
        async with lan_model(wishes(small), en, tmp_path, now) as model:
            for _ in range(2):
                reply = await all_of(model.words(asked("Who was that?", before=12)))
                assert len(by_the_model(reply)) > 20, reply
                assert state_of(model) is State.READY
            too_long = await all_of(model.words(asked("Why is that so, and who says that? " * 200)))
            assert too_long == en.MODEL_TOO_LONG
            assert by_the_model(await all_of(model.words(asked("Who was that?"))))

    with RealServer(context=512) as small:
        scene()


def test_it_dies_in_the_middle_of_its_answer_and_comes_back(tmp_path: Path) -> None:
    @in_real_time
    async def scene() -> None:
        async with lan_model(wishes(real), en, tmp_path, now) as model:
            said: list[str] = []
            async with aclosing(model.words(asked("Tell me a story."))) as pieces:
                async for piece in pieces:
                    if not by_the_model("".join(said)) and by_the_model(piece):
                        real.die()
                    said.append(piece)
            assert "".join(said).endswith(en.BROKE_OFF)
            assert by_the_model("".join(said))
            assert await all_of(model.words(asked("Are you there?"))) == en.NO_MODEL
            await asyncio.to_thread(real.start)
            await until(lambda: state_of(model) is State.READY)
            assert by_the_model(await all_of(model.words(asked("Are you there?"))))

    with RealServer(endless=True) as real:
        scene()


def test_it_dies_before_its_first_word(tmp_path: Path) -> None:
    @in_real_time
    async def scene(servers: Sequence[RealServer]) -> None:
        async with lan_model(wishes(*servers), en, tmp_path, now) as model:
            asking = asyncio.create_task(all_of(model.words(asked("Who was that?", before=8))))
            await until(servers[0].busy)
            servers[0].die()
            reply = await asking
            if len(servers) == 1:
                assert reply.replace(en.ONE_MOMENT, "").strip() == en.NO_MODEL
                await asyncio.to_thread(servers[0].start)
                await until(lambda: state_of(model) is State.READY)
                reply = await all_of(model.words(asked("Who was that?")))
            assert by_the_model(reply), reply
            assert model.answered_by.endswith(str(servers[-1].port))

    with RealServer() as dies:
        scene([dies])
        with RealServer() as stays:
            scene([dies, stays])


def test_where_one_is_full_another_one_answers(server: RealServer, tmp_path: Path) -> None:
    """llama.cpp lets those wait without a word for whom it has no slot."""

    @in_real_time
    async def scene() -> None:
        async with LlmClient() as client, lan_model(wishes(server, other), en, tmp_path, now) as model:
            async with aclosing(client.chat(server.server(), QUESTION, {"max_tokens": 900})) as pieces:
                await anext(pieces)
                reply = await all_of(model.words(asked("Who are you?")))
            assert by_the_model(reply), reply
            assert model.answered_by.endswith(str(other.port))

    with RealServer() as other:
        scene()


def test_it_appears_after_the_boot(tmp_path: Path) -> None:
    @in_real_time
    async def scene() -> None:
        async with lan_model(wishes(real), en, tmp_path, now) as model:
            assert await all_of(model.words(asked("Are you there?"))) == en.NO_MODEL
            await asyncio.to_thread(real.start)
            await until(lambda: state_of(model) is State.READY)
            assert by_the_model(await all_of(model.words(asked("Are you there?"))))

    with RealServer() as real:
        real.die()
        scene()


def now() -> datetime:
    return datetime(2026, 11, 30, 12, tzinfo=UTC)
