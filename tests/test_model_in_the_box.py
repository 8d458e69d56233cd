"""The whole appliance with a language model that it serves itself."""

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.config.schema import LanguageModel, Settings
from appliance.devices import Devices
from appliance.engines import Engines, load_engines
from appliance.models.directory import data_directory, models_in
from appliance.simulation.room import RoomMicrophone, RoomSpeaker
from appliance.supervisor import Supervisor
from tests.thinking.real_server import NAME, START, missing, model_file

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def engines(models_dir: Path) -> Engines:
    return asyncio.run(load_engines(Settings(), models_dir / "models"))


def served() -> list[int]:
    """The processes of ours that serve a model."""
    pids = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in pids if b"local_server" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def run_with(local_model: str, engines: Engines, directory: Path, until: Callable[[Supervisor], bool]) -> None:
    """Run the appliance until then."""

    async def scene() -> None:
        settings = Settings(llm=LanguageModel(enabled=True, search=False, local_model=local_model))
        clock = asyncio.get_running_loop().time
        devices = Devices(RoomMicrophone(), RoomSpeaker(), None, clock, lambda: NOON)
        supervisor = Supervisor(settings, engines, devices, [], directory)
        ready = asyncio.Event()
        running = asyncio.create_task(supervisor.run(ready.set))
        async with asyncio.timeout(START):
            await ready.wait()
            while not until(supervisor):  # noqa: ASYNC110  of another process
                await asyncio.sleep(0.01)
        supervisor.stop()
        await running

    asyncio.run(scene())


@pytest.mark.skipif(missing() != "", reason=missing())
@pytest.mark.parametrize("by_path", [False, True])
def test_it_serves_one_and_leaves_nothing_behind(engines: Engines, tmp_path: Path, by_path: bool) -> None:
    (tmp_path / "models").symlink_to(models_in(data_directory()))
    seen: list[int] = []

    def is_ready(supervisor: Supervisor) -> bool:
        seen[:] = served()
        return supervisor.status().language_model == "ready"

    run_with(str(model_file()) if by_path else NAME, engines, tmp_path, is_ready)
    assert len(seen) == 1
    assert served() == []


def test_one_that_is_not_there_is_one_error_and_the_appliance_goes_on(
    engines: Engines, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("appliance.thinking.local_model.require_llama_cpp", lambda: None)

    def is_told(supervisor: Supervisor) -> bool:
        return bool(errors()) and supervisor.status().language_model == "none found"

    def errors() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]

    run_with("/nothing.gguf", engines, tmp_path, is_told)
    (error,) = errors()
    assert error == (
        'no language model is served here: llm.local_model "/nothing.gguf": there is no such file. '
        "Allowed: the path of a .gguf file."
    )
    assert served() == []
