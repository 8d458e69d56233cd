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
MILLISECOND = 0.001
OFF = 5
"""Milliseconds by which an end event may be wrong: a third of a block."""


@pytest.fixture(scope="module")
def loopback(machine: Machine) -> Machine:
    """A machine with the card, and the checkout."""
    machine.check("modprobe", "snd-aloop")
    machine.copy(ROOT, "appliance", "tests/__init__.py", "tests/system", into="/checkout")
    return machine


def measured(machine: Machine, program: str, *arguments: str) -> Any:
    """What a program prints that runs in the machine."""
    command = ["python3", "-m", f"tests.system.{program}", PLAYS_ON, HEARS_WITH, *arguments]
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


@pytest.mark.parametrize(("loop", "interruptions"), [("free", 200), ("asleep", 30)])
def test_an_interrupted_reply_falls_silent_before_the_next_begins(
    loopback: Machine, loop: str, interruptions: int
) -> None:
    found = measured(loopback, "timed", str(interruptions), loop)
    assert len(found["cuts"]) == interruptions
    for kind, what in (("silence", "last sample"), ("next_sound", "next reply")):
        milliseconds = [cut[kind] / MILLISECOND for cut in found["cuts"]]
        show("interruption", f"call of hush to {what}, event loop {loop}", milliseconds)
    assert all(cut["silence"] < cut["next_sound"] for cut in found["cuts"])


def show(bench: str, method: str, milliseconds: list[float]) -> None:
    shares = {"p50": 0.5, "p99": 0.99, "most": 1.0}
    figures = tuple(Figure(name, percentile(milliseconds, share), "ms") for name, share in shares.items())
    sys.stdout.write("\n".join(Result(bench, f"{method}, {len(milliseconds)} times", figures).lines()) + "\n")
