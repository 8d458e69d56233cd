"""The control socket: who asks is served, whatever others do, and whatever the event loop does."""

import asyncio
import math
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pytest

from appliance.core.gestures import HOLD
from appliance.errors import ApplianceError, BadInputError, SeveralProblemsError
from appliance.service import address, control
from appliance.service.address import NAME, control_socket
from appliance.service.client import ask
from appliance.service.control import LONG, MOST, PATIENCE, Controls, ControlServer
from appliance.service.request import (
    GESTURES,
    LONGEST,
    Answer,
    Applied,
    Apply,
    Forget,
    ListedServer,
    Request,
    Say,
    Servers,
    Trust,
    Watch,
    encode,
    press,
)

TAP = press("tap")
LONGEST_WAIT = 20.0
"""Seconds after which a test gives up on what it waits for."""


class Button:
    """Remembers when it was pressed."""

    def __init__(self) -> None:
        self.pressed: list[float] = []
        self.released: list[float] = []
        self.thread = ""
        self.fails: Exception | None = None
        self.once = threading.Event()

    def release(self) -> None:
        self.released.append(time.monotonic())

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
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
        yield


@contextmanager
def connected(directory: Path) -> Iterator[socket.socket]:
    with control_socket(directory / NAME) as address, socket.socket(socket.AF_UNIX) as client:
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
    assert len(button.released) == len(button.pressed)
    held = [released - pressed for pressed, released in zip(button.pressed, button.released, strict=True)]
    assert all(seconds >= time for seconds, (_, time) in zip(held, GESTURES[gesture], strict=True))
    assert (held[0] >= HOLD) == (gesture == "hold")


def test_a_hold_may_be_longer_or_shorter(server: None, tmp_path: Path, button: Button) -> None:
    ask(tmp_path, press("hold", seconds=0.5))
    assert 0.5 <= button.released[0] - button.pressed[0] < GESTURES["hold"][0][1]


@pytest.mark.parametrize(
    ("gesture", "seconds"),
    [("tap", 1), ("hold", 0), ("hold", 61), ("hold", "long"), ("hold", True), ("hold", math.nan)],
)
def test_a_time_that_nobody_can_hold_it_for_is_refused(gesture: str, seconds: object) -> None:
    with pytest.raises(BadInputError, match=r'with "hold", a number above 0, up to 60'):
        press(gesture, seconds=seconds)


def test_a_press_needs_nothing_of_the_event_loop(tmp_path: Path, button: Button) -> None:
    async def blocked() -> None:
        with ControlServer(tmp_path, Controls(button.press, release=button.release)):
            ask(tmp_path, TAP)

    asyncio.run(blocked())
    assert len(button.pressed) == 1
    assert button.thread == "control"


def test_only_its_user_can_connect(server: None, tmp_path: Path) -> None:
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_a_path_may_be_longer_than_the_kernel_takes(tmp_path: Path, button: Button) -> None:
    directory = tmp_path / ("long" * 50)
    directory.mkdir()
    with ControlServer(directory, Controls(button.press, release=button.release)):
        ask(directory, TAP)
    assert len(button.pressed) == 1


def test_what_a_killed_process_left_is_replaced(tmp_path: Path, button: Button) -> None:
    with control_socket(tmp_path / NAME) as address, socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(address))
        killed.listen()
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
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
    monkeypatch.setitem(GESTURES, "double", ((0.0, 0.0), (3600.0, 0.0)))
    with ControlServer(tmp_path, Controls(button.press, release=button.release)), connected(tmp_path) as client:
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
    with ControlServer(tmp_path, Controls(button.press, lambda: many)):
        assert ask(tmp_path, Servers()).servers == many
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
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
    with control_socket(tmp_path / NAME) as address, socket.socket(socket.AF_UNIX) as client:
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
        with ControlServer(tmp_path, Controls(button.press, release=button.release)):
            for _ in range(MOST // 2):
                silent.enter_context(connected(tmp_path))
            ending = time.monotonic()
        assert time.monotonic() - ending < PATIENCE, "it waits for no client"
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
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

    with ControlServer(tmp_path, Controls(hang)), connected(tmp_path) as client:
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
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
        assert f"no control socket in {tmp_path}" in caplog.text
    assert (tmp_path / NAME).is_dir()


def test_what_is_to_be_said_is_handed_on(tmp_path: Path, button: Button) -> None:
    said: list[str] = []
    with ControlServer(tmp_path, Controls(button.press, say=said.append)):
        ask(tmp_path, Say("It is noon."))
    assert said == ["It is noon."]


@pytest.mark.parametrize("request_", [Say("It is noon."), Apply(), Watch()])
def test_what_the_appliance_cannot_do_is_refused(server: None, tmp_path: Path, request_: Request) -> None:
    with pytest.raises(ApplianceError, match="was started in a way that cannot do this"):
        ask(tmp_path, request_)


def test_a_configuration_is_applied_in_the_appliances_own_loop_while_others_are_served(
    tmp_path: Path, button: Button
) -> None:
    applied = Applied(7, ("wake.scores.alexa",))

    async def main() -> None:
        begun, done = asyncio.Event(), asyncio.Event()

        async def apply() -> Applied:
            begun.set()
            await done.wait()
            return applied

        with ControlServer(tmp_path, Controls(button.press, apply=apply)):
            answer = asyncio.create_task(asyncio.to_thread(ask, tmp_path, Apply(), LONGEST_WAIT))
            await begun.wait()
            await asyncio.to_thread(ask, tmp_path, TAP)
            assert not answer.done()
            done.set()
            assert (await answer).applied == applied

    asyncio.run(main())
    assert len(button.pressed) == 1


def test_a_configuration_that_is_bad_is_answered_in_its_own_words(tmp_path: Path, button: Button) -> None:
    async def apply() -> Applied:
        raise SeveralProblemsError("appliance.toml", ["line 1: is bad.", "line 2: is worse."])

    with ControlServer(tmp_path, Controls(button.press, apply=apply)), pytest.raises(BadInputError) as caught:
        ask(tmp_path, Apply())
    assert str(caught.value) == "line 1: is bad.\nline 2: is worse."


def test_whoever_waits_for_a_configuration_holds_up_nobody_for_ever(tmp_path: Path, button: Button) -> None:
    begun = threading.Semaphore(0)

    async def apply() -> Applied:
        begun.release()
        await asyncio.Event().wait()
        raise AssertionError

    with ControlServer(tmp_path, Controls(button.press, apply=apply)), ExitStack() as waiting:
        for _ in range(LONG):
            waiting.enter_context(connected(tmp_path)).sendall(encode(Apply()))
            assert begun.acquire(timeout=LONGEST_WAIT)
        with pytest.raises(ApplianceError, match="by too many"):
            ask(tmp_path, Apply())
        ask(tmp_path, TAP)
    assert len(button.pressed) == 1


def test_servers_are_trusted_and_forgotten_by_the_appliance(tmp_path: Path, button: Button) -> None:
    found = (ListedServer("den", "http://10.0.0.1/v1", "mdns", trusted=False, state="untried"),)
    with ControlServer(tmp_path, Controls(button.press, lambda: found)):
        assert ask(tmp_path, Trust("den")).said == "den (http://10.0.0.1/v1) is trusted from now on."
        assert [server.name for server in ask(tmp_path, Servers()).remembered] == ["den"]
        with pytest.raises(BadInputError, match=r'^appliance llm forget: there is no server "dem"; did you mean "den"'):
            ask(tmp_path, Forget("dem"))
        assert "den is forgotten" in ask(tmp_path, Forget("den")).said
        assert ask(tmp_path, Servers()).remembered == ()


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that systemd gives the appliance for its socket."""
    directory = tmp_path / "run"
    directory.mkdir(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(directory))
    monkeypatch.setattr(address, "SERVICE", directory / "control")
    return directory


def test_a_service_has_its_socket_in_its_runtime_directory(tmp_path: Path, runtime: Path, button: Button) -> None:
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
        assert (runtime / "control").stat().st_mode & 0o777 == 0o660
        ask(tmp_path, TAP)
        assert not (tmp_path / NAME).exists()
    assert len(button.pressed) == 1
    assert list(runtime.iterdir()) == []


def test_a_service_is_found_from_elsewhere_unless_another_appliance_is_meant(
    tmp_path: Path, runtime: Path, button: Button, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
        monkeypatch.delenv("APPLIANCE_DATA", raising=False)
        ask(other, TAP)
        monkeypatch.setenv("APPLIANCE_DATA", str(address.SERVICE_DATA))
        ask(other, TAP)
        monkeypatch.setenv("APPLIANCE_DATA", str(other))
        with pytest.raises(ApplianceError, match="no appliance is running here"):
            ask(other, TAP)
    assert len(button.pressed) == 2


AS_SOMEBODY = """
import os, socket, sys
user, group, more, place = sys.argv[1:]
os.setgroups([int(each) for each in more.split(",") if each])
os.setgid(int(group))
os.setuid(int(user))
with socket.socket(socket.AF_UNIX) as client:
    client.settimeout(20)
    try:
        client.connect(place)
    except PermissionError:
        print("no permission")
    else:
        client.sendall(b'{"command": "press"}\\n')
        print(client.makefile().readline())
"""
STRANGER, MEMBERS = 65_533, 65_111


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize(
    ("user", "group", "more", "mode", "answer"),
    [
        (STRANGER, STRANGER, "", 0o660, "no permission"),
        (STRANGER, STRANGER, "", 0o666, "may not control this appliance"),
        (STRANGER, MEMBERS, "", 0o660, '"ok":true'),
        (STRANGER, STRANGER, f"1,{MEMBERS},65222", 0o660, '"ok":true'),
        (STRANGER, STRANGER, ",".join(map(str, range(1, 255))), 0o666, "may not control this appliance"),
    ],
)
def test_root_and_the_group_of_the_socket_are_served_and_nobody_else(
    tmp_path: Path, runtime: Path, button: Button, user: int, group: int, more: str, mode: int, answer: str
) -> None:
    os.chown(runtime, -1, MEMBERS)
    for parent in runtime.parents:
        if parent.stat().st_mode & 0o1 == 0:
            parent.chmod(0o711)
    with ControlServer(tmp_path, Controls(button.press, release=button.release)):
        (runtime / "control").chmod(mode)
        command = [sys.executable, "-c", AS_SOMEBODY, str(user), str(group), more, str(runtime / "control")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        ask(tmp_path, TAP)
    assert answer in done.stdout
    assert len(done.stdout.strip().splitlines()) == 1
    assert len(button.pressed) == (2 if "true" in answer else 1)
