"""The control socket: who asks is served, whatever others do, and whatever the event loop does."""

import asyncio
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pytest

from appliance.errors import ApplianceError
from appliance.service import control
from appliance.service.address import NAME, control_socket
from appliance.service.client import ask
from appliance.service.control import MOST, PATIENCE, ControlServer
from appliance.service.request import GESTURES, LONGEST, Answer, ListedServer, Servers, encode, press

TAP = press("tap")
LONGEST_WAIT = 20.0
"""Seconds after which a test gives up on what it waits for."""


class Button:
    """Remembers when it was pressed."""

    def __init__(self) -> None:
        self.pressed: list[float] = []
        self.thread = ""
        self.fails: Exception | None = None
        self.once = threading.Event()

    def press(self) -> None:
        if self.fails:
            raise self.fails
        self.pressed.append(time.monotonic())
        self.thread = threading.current_thread().name
        self.once.set()


@pytest.fixture
def button() -> Button:
    return Button()


@pytest.fixture
def server(tmp_path: Path, button: Button) -> Iterator[None]:
    with ControlServer(tmp_path, button.press):
        yield


@contextmanager
def connected(directory: Path) -> Iterator[socket.socket]:
    with control_socket(directory) as address, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(LONGEST_WAIT)
        client.connect(str(address))
        yield client


def answered(client: socket.socket) -> Answer:
    with client.makefile("rb") as answers:
        return msgspec.json.decode(answers.readline(), type=Answer)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail("what was waited for did not come")
        time.sleep(0.005)


@pytest.mark.parametrize("gesture", GESTURES)
def test_a_gesture_presses_the_button_as_often_as_a_finger_would(
    server: None, tmp_path: Path, button: Button, gesture: str
) -> None:
    ask(tmp_path, press(gesture))
    assert len(button.pressed) == (2 if gesture == "double" else 1)
    assert button.pressed[-1] - button.pressed[0] >= GESTURES[gesture][-1]


def test_a_press_needs_nothing_of_the_event_loop(tmp_path: Path, button: Button) -> None:
    async def blocked() -> None:
        with ControlServer(tmp_path, button.press):
            ask(tmp_path, TAP)

    asyncio.run(blocked())
    assert len(button.pressed) == 1
    assert button.thread == "control"


def test_only_its_user_can_connect(server: None, tmp_path: Path) -> None:
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_a_path_may_be_longer_than_the_kernel_takes(tmp_path: Path, button: Button) -> None:
    directory = tmp_path / ("long" * 50)
    directory.mkdir()
    with ControlServer(directory, button.press):
        ask(directory, TAP)
    assert len(button.pressed) == 1


def test_what_a_killed_process_left_is_replaced(tmp_path: Path, button: Button) -> None:
    with control_socket(tmp_path) as address, socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(address))
        killed.listen()
    with ControlServer(tmp_path, button.press):
        ask(tmp_path, TAP)
    assert len(button.pressed) == 1


def test_those_who_say_nothing_hold_up_nobody_for_long(server: None, tmp_path: Path, button: Button) -> None:
    with ExitStack() as silent:
        clients = [silent.enter_context(connected(tmp_path)) for _ in range(MOST)]
        ask(tmp_path, TAP)
        assert clients[0].recv(1) == b"", "it was given up"
    assert len(button.pressed) == 1


def test_half_a_request_holds_up_nobody(server: None, tmp_path: Path, button: Button) -> None:
    with connected(tmp_path) as client:
        client.sendall(b'{"command": ')
        ask(tmp_path, TAP)
        client.sendall(b'"press"}\n')
        assert answered(client).ok


def test_a_wait_between_two_presses_holds_up_nobody(
    tmp_path: Path, button: Button, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GESTURES, "double", (0.0, 3600.0))
    with ControlServer(tmp_path, button.press), connected(tmp_path) as client:
        client.sendall(encode(press("double")))
        assert button.once.wait(LONGEST_WAIT)
        ask(tmp_path, TAP)
    assert len(button.pressed) == 2


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"\n", "cannot be understood"),
        (b"\x00\xff\n", "cannot be understood"),
        (b'{"command": "sing"}\n', 'Allowed: "press"'),
        (b"x" * (LONGEST + 1), "too long"),
        (b"x" * 5 * LONGEST, "too long"),
    ],
)
def test_who_talks_nonsense_is_told_so(server: None, tmp_path: Path, button: Button, said: bytes, answer: str) -> None:
    with connected(tmp_path) as client:
        client.sendall(said)
        assert answer in answered(client).error
    ask(tmp_path, TAP)
    assert len(button.pressed) == 1


def test_who_never_stops_talking_is_cut_off(server: None, tmp_path: Path, button: Button) -> None:
    with connected(tmp_path) as client, pytest.raises(ConnectionError):
        client.sendall(b"x" * 10_000_000)
    ask(tmp_path, TAP)
    assert len(button.pressed) == 1


@pytest.mark.parametrize("said", [b"", b'{"comm', encode(TAP)])
def test_who_vanishes_is_forgotten(server: None, tmp_path: Path, button: Button, said: bytes) -> None:
    for _ in range(2 * MOST):
        with connected(tmp_path) as client:
            client.sendall(said)
    ask(tmp_path, TAP)
    wait_until(lambda: len(button.pressed) == (1 if said != encode(TAP) else 2 * MOST + 1))


def test_it_tells_which_servers_there_are(tmp_path: Path, button: Button) -> None:
    many = tuple(
        ListedServer("ü" * 128, f"http://10.0.0.{n}:80/v1", "mdns", trusted=False, state="benched", why="x" * 500)
        for n in range(100)
    )
    with ControlServer(tmp_path, button.press, lambda: many):
        assert ask(tmp_path, Servers()).servers == many
    with ControlServer(tmp_path, button.press):
        assert ask(tmp_path, Servers()) == Answer(ok=True)
    assert not button.pressed


def test_a_request_that_fails_is_the_only_one(
    server: None, tmp_path: Path, button: Button, caplog: pytest.LogCaptureFixture
) -> None:
    button.fails = ApplianceError("the button", "is stuck")
    with pytest.raises(ApplianceError, match="is stuck"):
        ask(tmp_path, TAP)
    assert not caplog.records
    button.fails = OSError(5, "Input/output error")
    with pytest.raises(ApplianceError, match="Input/output error"):
        ask(tmp_path, TAP)
    assert "a request failed" in caplog.text
    button.fails = None
    ask(tmp_path, TAP)


def test_it_goes_on_once_there_are_descriptors_again(
    server: None, tmp_path: Path, button: Button, caplog: pytest.LogCaptureFixture
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with control_socket(tmp_path) as address, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(LONGEST_WAIT)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            client.connect(str(address))
            client.sendall(encode(TAP))
            wait_until(lambda: "Too many open files" in caplog.text)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert answered(client).ok


def test_nothing_is_left_of_it(tmp_path: Path, button: Button) -> None:
    descriptors = set(Path("/proc/self/fd").iterdir())
    with ExitStack() as silent:
        with ControlServer(tmp_path, button.press):
            for _ in range(MOST // 2):
                silent.enter_context(connected(tmp_path))
            ending = time.monotonic()
        assert time.monotonic() - ending < PATIENCE, "it waits for no client"
    with ControlServer(tmp_path, button.press):
        """Nobody ever comes."""
    assert not (tmp_path / NAME).exists()
    assert "control" not in [thread.name for thread in threading.enumerate()]
    assert set(Path("/proc/self/fd").iterdir()) <= descriptors


def test_a_request_that_hangs_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(control, "CLOSE_TIMEOUT", 0.05)
    began, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        began.set()
        go_on.wait(LONGEST_WAIT)

    with ControlServer(tmp_path, hang), connected(tmp_path) as client:
        client.sendall(encode(TAP))
        assert began.wait(LONGEST_WAIT)
    assert "hangs" in caplog.text
    assert not (tmp_path / NAME).exists()
    go_on.set()
    wait_until(lambda: "control" not in [thread.name for thread in threading.enumerate()])


def test_where_there_can_be_no_socket_the_log_says_so(
    tmp_path: Path, button: Button, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / NAME).mkdir()
    with ControlServer(tmp_path, button.press):
        assert f"no control socket in {tmp_path}" in caplog.text
    assert (tmp_path / NAME).is_dir()
