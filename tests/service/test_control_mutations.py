"""Mutated requests at a real socket: each gets one line of answer, or none if it was none, and the server goes on.

The environment may say: CONTROL_MUTATIONS, how many (2,000), and CONTROL_SEED, the first seed (0).
"""

import logging
import os
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.service.address import NAME, control_socket
from appliance.service.client import ask
from appliance.service.condition import CardStatus, Condition
from appliance.service.control import Controls, ControlServer
from appliance.service.request import (
    COMMANDS,
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
    Status,
    Trust,
    Watch,
    encode,
    press,
)
from appliance.service.watching import Watchers

COUNT = int(os.environ.get("CONTROL_MUTATIONS", "2000"))
SEED = int(os.environ.get("CONTROL_SEED", "0"))
LONGEST_WAIT = 20.0

VALID: tuple[Request, ...] = (
    *map(press, GESTURES),
    Say("It is noon, 你好."),
    Servers(),
    Trust("den"),
    Forget("den"),
    Status(),
    Apply(),
    Watch(),
)
PIECES = (
    *(f'"{name}"'.encode() for name in (*COMMANDS, *GESTURES, "command", "gesture", "text", "name")),
    *(b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\n", b"\0", b"\xff", b"null", b"true", b"-0", b"1e999"),
    *(
        b"9" * 400,
        b"[" * 2000,
        b'{"a":' * 400,
        b'"\\ud800"',
        b'"\\u0000"',
        b"\x1b[2J",
        "é你😀".encode(),
        b" " * LONGEST,
    ),
)
CONDITION = Condition("idle", 1.0, CardStatus("a", True), CardStatus("b", True), "en", "c", "d", "off")
SERVER = ListedServer("den", "http://10.0.0.1/v1", "mdns", False, "untried")


def mutated(chance: random.Random) -> bytes:
    """A request that somebody got wrong, in one to five ways."""
    line = bytearray(encode(chance.choice(VALID)))
    for _ in range(chance.randint(1, 5)):
        at, until = sorted((chance.randint(0, len(line)), chance.randint(0, len(line))))
        match chance.randrange(7):
            case 0 if line:
                line[min(at, len(line) - 1)] ^= 1 << chance.randrange(8)
            case 1:
                del line[at:until]
            case 2:
                line[at:at] = chance.choice(PIECES)
            case 3:
                line[at:until] = chance.choice(PIECES)
            case 4:
                line[at:at] = line[at:until]
            case 5:
                line[at:at] = chance.randbytes(chance.randint(1, 20))
            case _:
                line = line[: chance.randint(0, len(line))] + bytearray(encode(chance.choice(VALID)))
    return bytes(line)


class Appliance:
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        self.presses = 0
        self.said: list[str] = []
        self.applied = 0

    def press(self) -> None:
        self.presses += 1

    async def apply(self) -> Applied:
        self.applied += 1
        return Applied(1)


@pytest.fixture
def appliance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Appliance]:
    monkeypatch.setitem(GESTURES, "double", ((0.0, 0.0), (0.0, 0.0)))
    # What is trusted is written to the disk each time, which is not what is tried here.
    monkeypatch.setattr("os.fsync", lambda _: None)
    found = Appliance()
    controls = Controls(found.press, lambda: [SERVER], lambda: CONDITION, found.said.append, found.apply, Watchers())
    with ControlServer(tmp_path, controls):
        yield found


def answer(address: Path, sent: bytes, chance: random.Random) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(LONGEST_WAIT)
        client.connect(str(address))
        try:
            if chance.random() < 0.1 and sent:
                client.sendall(sent[: len(sent) // 2])
                client.sendall(sent[len(sent) // 2 :])
            else:
                client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            """It has heard enough, and has answered."""
        with client.makefile("rb") as lines:
            return lines.readline()


@pytest.mark.timeout(300 + COUNT // 100)
def test_whatever_comes_gets_one_line_and_the_server_goes_on(
    tmp_path: Path, appliance: Appliance, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    chance = random.Random(SEED)  # noqa: S311
    done = 0
    with control_socket(tmp_path / NAME) as address:
        for number in range(COUNT):
            sent = mutated(chance)
            line = answer(address, sent, chance)
            told = msgspec.json.decode(line, type=Answer)
            where = f"CONTROL_SEED={SEED}, number {number}: {sent!r} -> {line!r}"
            assert told.ok != bool(told.error), where
            assert "Traceback" not in told.error, where
            assert "failed" not in told.error, where
            assert len(told.error.splitlines()) <= 1, where
            assert len(told.error) < 600, where
            done += told.ok
    assert not caplog.records
    assert 0 < done < COUNT, "some of them are still requests, and some are not"
    assert all(text.isprintable() and 0 < len(text) <= 500 for text in appliance.said)
    before, began = appliance.presses, time.monotonic()
    ask(tmp_path, press("tap"))
    assert appliance.presses == before + 1
    assert time.monotonic() - began < 1.0
