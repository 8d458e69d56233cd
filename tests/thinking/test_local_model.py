"""The process that serves a model in the box, with real weights, and all that may befall it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from appliance.errors import ApplianceError
from appliance.simulation.clock import VirtualLoop
from appliance.thinking import local_model as module
from appliance.thinking.lan import Wishes, lan_model, together
from appliance.thinking.lan_model import LanModel
from appliance.thinking.llm import LlmClient
from appliance.thinking.local_model import GRACE, LocalModel, require_llama_cpp
from appliance.thinking.local_server import NICENESS
from appliance.thinking.phrases import en
from appliance.thinking.server import Problem, Server, ServerError, Source
from appliance.thinking.standing import State
from tests.thinking import scripted
from tests.thinking.real_server import START, missing, model_file
from tests.thinking.scripted import in_real_time
from tests.thinking.test_real_server import all_of, asked, by_the_model, now, until

real = pytest.mark.skipif(missing() != "", reason=missing())

PARENT = """
import asyncio, sys
from pathlib import Path
from appliance.thinking.local_model import LocalModel

async def main():
    model = LocalModel(Path(sys.argv[1]))
    await model.start()
    print(model.pid, model.servers()[0].url, model.key, flush=True)
    await model.keep()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is begun anew at once; real weights take their time on a busy machine."""
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(scripted, "LONGEST_WAIT", 4 * START)


def lives(pid: int | None) -> bool:
    """Whether there is such a process, and it is no mere entry in a table."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    return False


def listening(pid: int) -> list[str]:
    """At which addresses a process does."""
    found = subprocess.run(["ss", "-tlnpH"], capture_output=True, text=True, check=True).stdout
    return [line.split()[3] for line in found.splitlines() if f"pid={pid}," in line]


def serves(url: str, key: str) -> bool:
    """Whether it has loaded its model."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=START)
    connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})
    with closing(connection):
        return connection.getresponse().status == 200


def waited_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


@asynccontextmanager
async def kept(weights: Path) -> AsyncIterator[LocalModel]:
    """One that runs, as its quest has it."""
    model = LocalModel(weights)
    await model.start()
    keeping = asyncio.create_task(model.keep())
    try:
        yield model
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})
        await model.close()


@asynccontextmanager
async def asking(own: LocalModel, directory: Path) -> AsyncIterator[LanModel]:
    """As the appliance asks, where there is nobody else to ask."""
    wishes = Wishes([], False, "another model", None, None, "Be kind.", "", 1000, START)
    async with lan_model(wishes, en, directory, now, own) as model:
        yield model


def ready(model: LanModel) -> list[Server]:
    return [sight.server for sight in model.sights() if sight.state is State.READY]


async def first_words(model: LanModel) -> str:
    """What it begins its answer with."""
    said = ""
    async with aclosing(model.words(asked("Who are you?"))) as pieces:
        async for piece in pieces:
            said += piece
            if len(by_the_model(said)) > 5:
                break
    return by_the_model(said)


@real
@in_real_time
async def test_it_is_said_to_be_warming_up_while_it_loads() -> None:
    async with kept(model_file()) as own, LlmClient() as client:
        (server,) = own.servers()
        with pytest.raises(ServerError) as caught:
            await client.models(server)
        assert caught.value.problem is Problem.WARMING


@real
def test_it_answers_and_does_so_again_after_it_was_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    @in_real_time
    async def scene() -> None:
        async with kept(model_file()) as own, asking(own, tmp_path) as model:
            for version in (1, 2):
                await own.changed(version - 1)
                await until(lambda: ready(model) == own.servers())
                assert await first_words(model)
                assert model.answered_by == module.NAME
                killed = own.pid
                assert killed is not None
                os.kill(killed, signal.SIGKILL)
                assert await own.changed(version) == version + 1
                assert not lives(killed)

    scene()
    errors = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert errors == [f"{module.NAME} ended, by SIGKILL. It is tried again until it works."]


@real
def test_who_asks_between_two_processes_hears_that_it_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", START)

    @in_real_time
    async def scene() -> None:
        async with kept(model_file()) as own, asking(own, tmp_path) as model:
            await until(lambda: ready(model) == own.servers())
            assert own.pid is not None
            os.kill(own.pid, signal.SIGKILL)
            await until(lambda: own.pid is None)
            assert await all_of(model.words(asked("Are you there?"))) == en.NO_MODEL

    scene()


@real
@in_real_time
async def test_it_is_humble() -> None:
    async with kept(model_file()) as own:
        assert own.pid is not None
        assert os.getpriority(os.PRIO_PROCESS, own.pid) >= NICENESS
        assert os.getsid(own.pid) == own.pid, "Ctrl-C is not for it"
        assert [f"http://{each}/v1" for each in listening(own.pid)] == [server.url for server in own.servers()]


@real
@pytest.mark.parametrize("stopped", [False, True])
def test_none_is_left_when_it_is_closed(stopped: bool) -> None:
    @in_real_time
    async def scene() -> None:
        async with kept(model_file()) as own:
            pid = own.pid
            assert pid is not None
            if stopped:
                os.kill(pid, signal.SIGSTOP)  # and it does not end when it is told to
            began = time.monotonic()
        assert not lives(pid)
        assert time.monotonic() - began < GRACE + 1
        await own.close()

    scene()


@real
@in_real_time
async def test_none_is_left_when_its_start_is_cancelled() -> None:
    own = LocalModel(model_file())
    starting = asyncio.create_task(own.start())
    await until(lambda: own.pid is not None)
    pid = own.pid
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert not lives(pid)


@real
@pytest.mark.parametrize("loaded", [False, True])
def test_none_is_left_when_the_appliance_is_killed(loaded: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(model_file())], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number, url, key = parent.stdout.readline().decode().split()
        pid = int(number)
        if loaded:
            waited_for(lambda: serves(url, key))
        assert lives(pid)
        parent.kill()
        waited_for(lambda: not lives(pid))


@real
def test_what_cannot_be_loaded_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    weights = tmp_path / "garbage.gguf"
    weights.write_bytes(b"no weights at all")

    @in_real_time
    async def scene() -> None:
        pids: set[int | None] = {None}
        async with kept(weights) as own:
            while len(pids) < 4:
                await until(lambda: own.pid not in pids)
                pids.add(own.pid)
        assert not any(lives(pid) for pid in pids)

    scene()
    told = f"could not be started: llama.cpp cannot load {weights}. It is tried again until it works."
    assert [record.message for record in caplog.records] == [f"{module.NAME} {told}"]


@real
def test_what_cannot_even_be_begun_is_begun_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @in_real_time
    async def scene() -> None:
        with monkeypatch.context() as without:
            without.setattr(sys, "executable", "/nothing")
            own = LocalModel(model_file())
            await own.start()
            await own.start()
            assert own.servers() == []
        keeping = asyncio.create_task(own.keep())
        version = await own.changed(0)
        assert own.version == version
        assert lives(own.pid)
        keeping.cancel()
        await asyncio.wait({keeping})
        await own.close()

    scene()
    told = "could not be started: No such file or directory. It is tried again until it works."
    assert [record.message for record in caplog.records] == [f"{module.NAME} {told}"]


def test_the_pauses_grow_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 1.0)
    times: list[float] = []

    class Failing(LocalModel):
        async def start(self) -> None:
            times.append(asyncio.get_running_loop().time())

    async def scene() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(200):
                await Failing(Path("nothing.gguf")).keep()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())
    assert times == [1, 3, 7, 15, 31, 63, 123, 183]


def test_without_llama_cpp_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(ApplianceError, match=r"there is no llama.cpp here.*-r config/local-llm\.lock"):
        require_llama_cpp()


def test_it_comes_before_what_is_guessed_and_is_not_guessed_besides() -> None:
    own = Server(module.NAME, "http://127.0.0.1:8080/v1", Source.LOCAL, module.BEFORE_OTHERS)
    guesses = [Server("a guess", f"http://localhost:{port}/v1", Source.LOCAL) for port in (8080, 11434)]
    named = Server("named", "http://localhost:8080/v1", Source.CONFIGURED)
    assert together([named, *guesses], [own]) == [named, guesses[1], own]
