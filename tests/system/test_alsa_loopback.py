"""Interruption on a real kernel's sound card: what is played on one side of snd-aloop is recorded on the other."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from appliance.bench.figures import Figure, Result, percentile
from tests.system.machine import Machine

pytestmark = pytest.mark.timeout(1800)  # the first time a system has to be made

ROOT = Path(__file__).parents[2]
PLAYS_ON, HEARS_WITH = "Loopback: PCM (hw:0,0)", "Loopback: PCM (hw:0,1)"
ANOTHER = "Loopback: PCM (hw:1,1)"
MILLISECOND = 0.001
RECOVERY = 3.0
"""Seconds in which a card that is back has to work: what the appliance promises."""

NOTICED = 1.0
"""Seconds in which it has to be noticed that one is unplugged."""

OFF = 5
"""Milliseconds by which an end event may be wrong: a third of a block."""


@pytest.fixture(scope="module")
def loopback(machine: Machine) -> Machine:
    """A machine with two such cards, and the checkout."""
    machine.check("modprobe", "snd-aloop", "enable=1,1", "index=0,1")
    machine.copy(ROOT, "appliance", "tests/__init__.py", "tests/system", into="/checkout")
    return machine


def measured(machine: Machine, program: str, *arguments: str, hears_with: str = HEARS_WITH) -> Any:
    """What a program prints that runs in the machine."""
    command = ["python3", "-m", f"tests.system.{program}", PLAYS_ON, hears_with, *arguments]
    return json.loads(machine.check("env", "--chdir=/checkout", *command))


def test_an_interrupted_reply_is_one_stretch_of_sound_and_the_next_one_is_complete(loopback: Machine) -> None:
    interruptions = 200
    found = measured(loopback, "numbered", str(interruptions))
    assert len(found["replies"]) == len(found["stretches"]) == 2 * interruptions
    off = []
    for (reply, played, cut), (heard, first, count) in zip(found["replies"], found["stretches"], strict=True):
        assert (heard, first) == (reply, 0)
        assert cut or played == count == found["short"]
        off.append(abs(played - count) / found["rate"] / MILLISECOND)
    show("replies", "what was heard of a reply by its end event, and by the recording", off)
    assert max(off) < OFF


@pytest.mark.parametrize(("loop", "interruptions"), [("free", 120), ("asleep", 30), ("spinning", 10)])
def test_an_interrupted_reply_falls_silent_before_the_next_begins(
    loopback: Machine, loop: str, interruptions: int
) -> None:
    found = measured(loopback, "timed", str(interruptions), loop)
    assert len(found["cuts"]) == interruptions
    for kind, what in (("silence", "last sample"), ("next_sound", "next reply")):
        milliseconds = [cut[kind] / MILLISECOND for cut in found["cuts"]]
        show("interruption", f"call of hush to {what}, event loop {loop}", milliseconds)
    assert all(cut["silence"] < cut["next_sound"] for cut in found["cuts"])


def test_cards_that_are_unplugged_work_again_soon_and_leave_nothing_behind(loopback: Machine) -> None:
    count = 10
    rounds = measured(loopback, "unplugged", str(count), hears_with=ANOTHER)
    assert len(rounds) == count
    for what, method in (("noticed", "unplugged to noticed"), ("back", "plugged in again to the first sound")):
        show("healing", method, [each[what] / MILLISECOND for each in rounds])
    assert max(each["noticed"] for each in rounds) < NOTICED
    assert max(each["back"] for each in rounds) < RECOVERY
    assert all(each["whole"] for each in rounds), rounds
    assert max(each["backwards"] for each in rounds) < OFF * MILLISECOND
    first, last = ((each["files"], each["threads"]) for each in (rounds[0], rounds[-1]))
    assert last <= first, rounds


def show(bench: str, method: str, milliseconds: list[float]) -> None:
    shares = {"p50": 0.5, "p99": 0.99, "most": 1.0}
    figures = tuple(Figure(name, percentile(milliseconds, share), "ms") for name, share in shares.items())
    sys.stdout.write("\n".join(Result(bench, f"{method}, {len(milliseconds)} times", figures).lines()) + "\n")
