"""What somebody is told who asks an appliance that does not do it."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.service import client
from appliance.service.address import NAME, control_socket
from appliance.service.client import ask
from appliance.service.request import Answer, encode, press

TAP = press("tap")
NOBODY = 65534


@contextmanager
def listening(directory: Path) -> Iterator[socket.socket]:
    with control_socket(directory / NAME) as address, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        yield listener


@contextmanager
def another_user() -> Iterator[None]:
    """Root may do everything, so a test that is root has to be somebody else."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)


def test_no_appliance(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"no appliance is running here.* Start it with: appliance run"):
        ask(tmp_path, TAP)
    with pytest.raises(ApplianceError, match="no appliance is running here") as caught:
        ask(tmp_path / "missing", TAP)
    assert str(tmp_path / "missing") in str(caught.value)
    assert caught.value.status == 1


def test_an_appliance_that_was_killed(tmp_path: Path) -> None:
    with listening(tmp_path):
        """It leaves its socket behind."""
    with pytest.raises(ApplianceError, match="no appliance is running here"):
        ask(tmp_path, TAP)


def test_an_appliance_of_another_user(tmp_path: Path) -> None:
    with listening(tmp_path):
        tmp_path.chmod(0)
        try:
            with pytest.raises(ApplianceError, match=r"another user.* Use sudo"), another_user():
                ask(tmp_path, TAP)
        finally:
            tmp_path.chmod(0o700)


def test_an_appliance_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT", 0.05)
    with listening(tmp_path), pytest.raises(ApplianceError, match="does not answer"):
        ask(tmp_path, TAP)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (b"", "gave no answer"),
        (b'{"ok"', "gave no answer"),
        (b"\xff\n", "gave no answer"),
        (b'{"ok": "maybe"}\n', "gave no answer"),
        (encode(Answer(error="the button: is stuck.")), "the button: is stuck"),
    ],
)
def test_an_answer_that_is_none(tmp_path: Path, answer: bytes, found: str) -> None:
    def give(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(answer)

    with listening(tmp_path) as listener:
        giver = threading.Thread(target=give, args=(listener,))
        giver.start()
        with pytest.raises(ApplianceError, match=found):
            ask(tmp_path, TAP)
        giver.join()
