"""What systemd is told, over a real socket."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.service import notify


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(10.0)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        yield listener


def told(systemd: socket.socket) -> dict[str, str]:
    return dict(line.split("=", 1) for line in systemd.recv(10_000).decode().splitlines())


@pytest.mark.parametrize(
    ("tell", "fields"),
    [
        (lambda: notify.ready("It hears."), {"READY": "1", "STATUS": "It hears."}),
        (lambda: notify.status("No microphone."), {"STATUS": "No microphone."}),
        (lambda: notify.stopping("Bye."), {"STOPPING": "1", "STATUS": "Bye."}),
        (notify.alive, {"WATCHDOG": "1"}),
        (lambda: notify.status("two\nREADY=1\r lines"), {"STATUS": "two READY=1 lines"}),
    ],
)
def test_systemd_is_told(systemd: socket.socket, tell: Callable[[], None], fields: dict[str, str]) -> None:
    tell()
    assert told(systemd) == fields


def test_a_reload_says_when_it_began(systemd: socket.socket) -> None:
    before = time.monotonic_ns() // 1000
    notify.reloading()
    fields = told(systemd)
    assert fields["RELOADING"] == "1"
    assert before <= int(fields["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000


def test_without_systemd_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify.ready("It hears.")
    notify.alive()
    assert notify.watchdog_time() is None


def test_a_systemd_that_is_gone_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    with caplog.at_level(logging.WARNING):
        notify.ready("It hears.")
    assert "systemd cannot be told" in caplog.text


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_the_time_of_the_watchdog(
    systemd: socket.socket, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], seconds: float | None
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert notify.watchdog_time() == seconds
