"""The whole appliance as systemd starts it: what it tells systemd, writes to the log, shows, and leaves behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from appliance.service import address
from appliance.service.client import ask, asked
from appliance.service.condition import Condition
from appliance.service.request import Say, Status, Watch
from tests.sound_server import SoundServer

APPLIANCE = Path(sys.executable).with_name("appliance")
WATCHDOG = 3.0
LONGEST = 60.0


class Systemd:
    """As much of it as an appliance sees."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.run = folder / "run"
        self.run.mkdir()
        self._told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._told.settimeout(LONGEST)
        self._told.bind(str(folder / "notify"))
        self._environment = {
            **environment,
            "NOTIFY_SOCKET": str(folder / "notify"),
            "WATCHDOG_USEC": str(round(WATCHDOG * 1e6)),
            "RUNTIME_DIRECTORY": str(self.run),
        }
        self.log = folder / "log"

    def close(self) -> None:
        self._told.close()

    @contextmanager
    def started(self, config: Path) -> Iterator["subprocess.Popen[bytes]"]:
        with (
            self.log.open("ab") as log,
            subprocess.Popen(
                [APPLIANCE, "run", "--config", config], env=self._environment, stdout=log, stderr=log
            ) as process,
        ):
            try:
                self.wait("READY=1")
                yield process
            finally:
                process.kill()

    def wait(self, field: str) -> str:
        """The next message with it."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            message = self._told.recv(10_000).decode()
            if field in message.splitlines():
                return message
        raise AssertionError(f"systemd was never told {field}")

    def is_quiet(self, seconds: float) -> bool:
        """Whether, after what was told before, nothing more comes for so long."""
        self._told.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                self._told.recv(10_000)
        self._told.settimeout(seconds)
        try:
            self._told.recv(10_000)
        except TimeoutError:
            return True
        finally:
            self._told.settimeout(LONGEST)
        return False


@pytest.fixture
def data(copied_models: Path) -> Path:
    """The data directory of the appliance."""
    return copied_models.parent


@pytest.fixture
def systemd(
    tmp_path: Path, data: Path, sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Systemd]:
    found = Systemd(tmp_path, {**os.environ, **sound_server.environment})
    monkeypatch.setattr(address, "SERVICE", found.run / "control")
    monkeypatch.setattr(address, "SERVICE_DATA", data)
    yield found
    found.close()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "appliance.toml"
    path.write_text('[llm]\nenabled = false\n[button]\npin = "none"\n')
    return path


def condition(directory: Path) -> Condition:
    status = ask(directory, Status()).status
    assert status is not None
    return status


def test_its_life_as_a_service(systemd: Systemd, config: Path, data: Path) -> None:
    with systemd.started(config) as process:
        for _ in range(4):
            before = time.monotonic()
            systemd.wait("WATCHDOG=1")
            assert time.monotonic() - before < WATCHDOG

        assert (systemd.run / "control").stat().st_mode & 0o777 == 0o660
        assert not (data / address.NAME).exists()
        assert condition(data).last_end is None

        kinds = set[str]()
        with asked(data, Watch()) as (_, lines):
            ask(data, Say("It is noon."))
            while not kinds >= {"level", "phase", "reply_start", "reply_end"}:
                line = json.loads(lines.readline())
                kinds.add(line["kind"])
                if line["kind"] == "level":
                    assert line["scores"].keys() == {"alexa"}
        assert condition(data).problems == ()
        process.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in systemd.wait("RELOADING=1")
        systemd.wait("READY=1")
        process.send_signal(signal.SIGTERM)
        systemd.wait("STOPPING=1")
        assert process.wait(LONGEST) == 0
    assert not (systemd.run / "control").exists()

    with systemd.started(config) as process:
        end = condition(data).last_end
        assert end is not None
        assert end.how == "stopped"
        process.kill()
        process.wait()
    with systemd.started(config):
        end = condition(data).last_end
        assert end is not None
        assert end.how == "crashed"
    log = systemd.log.read_text()
    assert "turn 1: the reply begins" in log
    assert "noon" not in log
    assert "Traceback" not in log


def test_a_process_that_hangs_tells_nothing_more(systemd: Systemd, config: Path) -> None:
    with systemd.started(config) as process:
        systemd.wait("WATCHDOG=1")
        process.send_signal(signal.SIGSTOP)
        assert systemd.is_quiet(WATCHDOG)
        process.send_signal(signal.SIGCONT)
        systemd.wait("WATCHDOG=1")
