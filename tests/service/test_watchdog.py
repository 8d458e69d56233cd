"""When the appliance counts as alive, and that systemd is told only then."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.service.watchdog import HEALING, HELD, OFTEN, Pulse, Watchdog


@dataclass(frozen=True)
class Beat:
    moved_at: float = 0.0
    open: bool = True
    missing: bool = False
    hangs: bool = False


@dataclass(frozen=True)
class Beats:
    microphone: Beat = field(default_factory=Beat)
    speaker: Beat = field(default_factory=Beat)


def both(moved_at: float) -> Beats:
    return Beats(Beat(moved_at), Beat(moved_at))


def test_cards_that_move_are_alive() -> None:
    pulse = Pulse(0.0)
    assert not any(pulse.wrong(now, both(now - 0.1)) for now in (0.0, 100.0, 1e6))


@pytest.mark.parametrize(
    ("dead", "role"), [(lambda now: Beats(speaker=Beat(now)), "microphone"), (lambda now: Beats(Beat(now)), "speaker")]
)
def test_a_card_that_is_there_and_moves_nothing_is_a_fault(dead: Callable[[float], Beats], role: str) -> None:
    pulse = Pulse(0.0)
    assert not pulse.wrong(HEALING, dead(HEALING))
    assert pulse.wrong(HEALING + 1, dead(HEALING + 1)) == f"the {role} is there, and has moved no sound for 31 s"
    assert not pulse.wrong(HEALING + 2, both(HEALING + 2)), "it has healed"


def test_missing_cards_are_waited_for() -> None:
    pulse = Pulse(0.0)
    gone = Beats(Beat(open=False, missing=True), Beat(open=False, missing=True))
    assert not any(pulse.wrong(now, gone) for now in (10.0, 1000.0, 1e6))


def test_a_card_that_is_back_has_its_time_to_heal() -> None:
    pulse = Pulse(0.0)
    assert not pulse.wrong(1000.0, Beats(Beat(5.0, open=False, missing=True), Beat(1000.0)))
    assert not pulse.wrong(1000.0 + HEALING, Beats(Beat(5.0), Beat(1000.0 + HEALING)))
    assert pulse.wrong(1001.0 + HEALING, Beats(Beat(5.0), Beat(1001.0 + HEALING)))


def test_a_card_that_somebody_holds_is_waited_for_much_longer() -> None:
    pulse = Pulse(0.0)
    held = Beats(Beat(open=False), Beat(HELD))
    assert not any(pulse.wrong(now, held) for now in (10.0, HEALING + 1, HELD))
    assert pulse.wrong(HELD + 1, held) == "the microphone is there, and has moved no sound for 601 s"


def test_a_card_that_hangs_is_a_fault() -> None:
    pulse = Pulse(0.0)
    hangs = Beats(Beat(open=False, hangs=True), Beat(HEALING + 1))
    assert not pulse.wrong(HEALING, hangs)
    assert pulse.wrong(HEALING + 1, hangs)


def test_a_card_that_opens_now_and_then_and_moves_nothing_is_a_fault() -> None:
    pulse = Pulse(0.0)
    looks = [pulse.wrong(now, Beats(Beat(open=now != 20.0), Beat(now))) for now in (10.0, 20.0, 30.0, 40.0)]
    assert [bool(wrong) for wrong in looks] == [False, False, False, True]


def test_nothing_that_could_move_sound_is_a_fault_after_a_while() -> None:
    pulse = Pulse(0.0)
    assert not pulse.wrong(1000.0, both(999.0))
    assert not pulse.wrong(999.0 + HEALING, None), "it is made anew"
    assert pulse.wrong(1000.0 + HEALING, None)


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What systemd is told, by a watchdog whose time is a moment."""
    said: list[str] = []
    monkeypatch.setattr("appliance.service.notify.watchdog_time", lambda: 0.003)
    monkeypatch.setattr("appliance.service.notify.alive", lambda: said.append("alive"))
    monkeypatch.setattr("appliance.service.notify.status", said.append)
    return said


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0)


def test_systemd_is_told_until_it_is_not_true(told: list[str], caplog: pytest.LogCaptureFixture) -> None:
    beats, time, noted = list[Beats | None]([None]), Time(), list[str]()

    async def main() -> None:
        watchdog = Watchdog(lambda: beats[0], noted.append, time)
        keeping = asyncio.create_task(watchdog.keep())
        time.now = HELD + 1
        await until(lambda: told.count("alive") > OFTEN)
        assert not watchdog.wrong, "it is still starting"
        beats[0] = both(time.now)
        await until(lambda: told.count("alive") > 4 * OFTEN)
        time.now += 2 * HEALING
        await until(lambda: watchdog.wrong != "")
        count = told.count("alive")
        await until(lambda: len(told) > count)
        assert told[count:] == noted == [watchdog.wrong], "once, and never alive"
        beats[0] = both(time.now)
        await until(lambda: told[-1] == "alive")
        assert not watchdog.wrong
        assert noted[1:] == [""]
        keeping.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
        "the microphone is there, and has moved no sound for 60 s: this needs a new start, which systemd will see to"
    ]


def test_a_loop_that_stands_still_for_a_while_is_logged(told: list[str], caplog: pytest.LogCaptureFixture) -> None:
    time = Time()

    async def main() -> None:
        keeping = asyncio.create_task(Watchdog(lambda: both(time.now), clock=time).keep())
        await until(lambda: len(told) > OFTEN)
        assert not caplog.records
        time.now += 2.5
        await until(lambda: bool(caplog.records))
        keeping.cancel()

    asyncio.run(main())
    assert caplog.text.count("the event loop stood still for 2.5 s") == 1


def test_where_nobody_watches_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WATCHDOG_USEC", raising=False)
    asyncio.run(Watchdog(lambda: None).keep())


BLOCKED = """
import asyncio, time
from appliance.service.watchdog import Watchdog

class Beats:
    class microphone: open = False; missing = True; hangs = False; moved_at = 0.0
    speaker = microphone

async def main():
    keeping = asyncio.create_task(Watchdog(lambda: Beats).keep())
    await asyncio.get_running_loop().run_in_executor(None, input)
    print("blocked", flush=True)
    time.sleep(1000)

asyncio.run(main())
"""


def test_a_loop_that_hangs_tells_nothing_more(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(20.0)
        environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
        command = [sys.executable, "-c", BLOCKED]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"blocked\n"
            systemd.setblocking(False)
            while True:
                try:
                    systemd.recv(100)
                except BlockingIOError:
                    break
            systemd.settimeout(1.0)
            with pytest.raises(TimeoutError):
                systemd.recv(100)
            process.send_signal(signal.SIGKILL)
