"""Timers ring until somebody comes, and survive restarts, jumps of the clock and power cuts."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from appliance.core.effects import Report
from appliance.core.timers import AGAIN, RINGING
from appliance.simulation.clock import VirtualLoop
from appliance.thinking.phrases import PHRASES
from appliance.timekeeping import Timekeeper

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
DONE = "The pasta timer is done."


class Machine:
    """Two clocks on the loop's own, and what was said when."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.wall = NOON
        self.said: list[tuple[int, str]] = []

    def clock(self) -> float:
        return self.loop.time() - self.began

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.wall + self.loop.time(), UTC)

    def say(self, text: str) -> None:
        self.said.append((round(self.clock()), text))

    def keeper(self, file: Path | None = None, boot: str = "first") -> Timekeeper:
        return Timekeeper(self.clock, self.now, self.say, PHRASES["en"], file, boot)

    def restart(self) -> None:
        """The steady clock begins anew, and nothing was heard yet."""
        self.began = self.loop.time()
        self.said.clear()


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())


async def kept(keeper: Timekeeper, seconds: float) -> None:
    keeping = asyncio.create_task(keeper.keep())
    await asyncio.sleep(seconds)
    keeping.cancel()
    await asyncio.wait({keeping})


def test_it_rings_on_time_and_again_until_somebody_comes() -> None:
    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper()
        keeper.start("pasta", 600)
        await kept(keeper, 600 + 2 * AGAIN + 1)
        assert machine.said == [(600, DONE), (600 + round(AGAIN), DONE), (600 + 2 * round(AGAIN), DONE)]
        keeper.report(Report("wake", machine.clock(), 1, {}))
        await kept(keeper, 100)
        assert len(machine.said) == 3
        assert keeper.running == ()
        assert keeper.rang == pytest.approx(600 + 2 * AGAIN + 1)

    play(scene)


def test_it_gives_up_when_nobody_comes() -> None:
    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper()
        keeper.start("pasta", 10)
        await kept(keeper, 10 + RINGING + 100)
        assert machine.said[-1][0] <= 10 + RINGING
        assert keeper.running == ()
        assert keeper.rang is None

    play(scene)


def test_who_asks_something_before_it_rings_does_not_stop_it() -> None:
    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper()
        keeper.start("pasta", 600)
        keeper.report(Report("wake", machine.clock(), 1, {}))
        keeper.start("", 5)
        (first, second) = keeper.running
        assert (first.seconds, second.name) == (5, "pasta")
        keeper.cancel([first.number])
        await kept(keeper, 601)
        assert machine.said == [(600, DONE)]

    play(scene)


@pytest.mark.parametrize("jump", [-5000.0, 5000.0])
def test_a_jump_of_the_wall_clock_moves_nothing(jump: float, tmp_path: Path) -> None:
    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper(tmp_path / "timers.json")
        keeper.start("pasta", 600)
        await kept(keeper, 100)
        machine.wall += jump
        await kept(keeper, 100)
        await kept(machine.keeper(tmp_path / "timers.json"), 401)  # the service has begun anew
        assert machine.said == [(600, DONE)]

    play(scene)


def test_after_a_power_cut_it_goes_by_the_wall_clock_even_if_that_is_put_right_later(tmp_path: Path) -> None:
    async def scene() -> None:
        machine = Machine()
        machine.keeper(tmp_path / "timers.json").start("pasta", 600)
        await asyncio.sleep(100)
        machine.restart()
        machine.wall -= 3000  # the board has no clock of its own
        keeper = machine.keeper(tmp_path / "timers.json", "second")
        await kept(keeper, 40)
        machine.wall += 3000
        await kept(keeper, 470)
        assert machine.said[0] == (500, DONE)

    play(scene)


def test_what_was_missed_is_told_once(tmp_path: Path) -> None:
    async def scene() -> None:
        machine = Machine()
        machine.keeper(tmp_path / "timers.json").start("pasta", 60)
        await asyncio.sleep(1000)
        machine.restart()
        keeper = machine.keeper(tmp_path / "timers.json", "second")
        await kept(keeper, 100)
        assert machine.said == [(0, "While I was off, the pasta timer ended.")]
        assert machine.keeper(tmp_path / "timers.json", "second").running == ()

    play(scene)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"last": 1, "timers": [{}]}', b'{"last": 1, "timers": 3}', b"\xff"]
)
def test_a_damaged_file_loses_its_timers_and_nothing_else(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(content)

    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper(file)
        assert keeper.running == ()
        keeper.start("pasta", 60)
        assert [timer.name for timer in machine.keeper(file).running] == ["pasta"]

    play(scene)


def test_a_full_disk_stops_no_timer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        machine = Machine()
        keeper = machine.keeper(tmp_path / "missing/timers.json")
        keeper.start("pasta", 60)
        await kept(keeper, 61)
        assert machine.said == [(60, DONE)]

    play(scene)
    assert "timers are lost with the next start" in caplog.text
