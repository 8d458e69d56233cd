"""How fast a reply that is interrupted falls silent, and how soon the next sound comes."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from appliance.bench.cuts import BLOCKED, Cuts, Loop, measure_cuts
from appliance.bench.figures import Figure, Result, percentile
from appliance.bench.soundserver import CARDS, STEP, running_sound_server
from appliance.bench.spoken import measure_spoken
from appliance.config.schema import Settings
from appliance.errors import BadInputError

INTERRUPTIONS = 200
SPOKEN = 20

PLAYS, HEARS = "APPLIANCE_BENCH_PLAYS", "APPLIANCE_BENCH_HEARS"
"""The environment's names for a card that plays and one that hears it; without them a sound server has both."""


def measure(settings: Settings, models: Path) -> Result:
    """Interrupt replies on a sound card, at moments spread evenly over the card's steps, and listen."""
    with ExitStack() as stack:
        plays_on, hears_with, where = stack.enter_context(_cards())
        idle, asleep, spinning = (measure_cuts(plays_on, hears_with, INTERRUPTIONS, loop) for loop in Loop)
        with _all_cores_busy():
            busy = measure_cuts(plays_on, hears_with, INTERRUPTIONS)
    spoken = measure_spoken(settings, models, SPOKEN)
    measured = (idle, asleep, spinning, busy)
    doubts = [doubt * 1000 for cuts in measured for doubt in cuts.doubts]
    return Result(
        "interruption",
        f"{INTERRUPTIONS} replies, a constant level through lane and PyAudio on {where}, each interrupted by the next "
        "from a thread of its own: from the trigger to the last sample of the old reply, and to the first of the new "
        "one, by a recording's own count of samples; a step in each reply, whose time the playing card tells, makes "
        "times of them. Left out are those in which nothing sounded at the trigger, or the recording lacks a part. "
        f'"Loop asleep" and "loop spinning": the event loop is blocked for {BLOCKED:g} s around the trigger, by '
        f'something that waits or that computes in Python. "Cores busy": a process '
        f"that spins on each. Speech: {SPOKEN} questions spoken by the installed voice into replies of the "
        "whole appliance in a quiet simulated room, in real time, from the first audible sample (above -40 dB of its "
        "peak); a sound card adds what it takes to hear, and the silence of above",
        (
            *_figures("", idle),
            *_figures("loop asleep: ", asleep),
            *_figures("loop spinning: ", spinning),
            *_figures("cores busy: ", busy),
            Figure("times in doubt by, p99", percentile(doubts, 0.99), "ms"),
            Figure("left out", sum(cuts.left_out for cuts in measured), "replies"),
            Figure("speech: onset to silence, p50", percentile(spoken, 0.5), "s", 0.35),
            Figure("speech: onset to silence, p95", percentile(spoken, 0.95), "s"),
        ),
    )


def _figures(condition: str, cuts: Cuts) -> Sequence[Figure]:
    silence = [cut.silence * 1000 for cut in cuts.cuts]
    next_sound = [cut.next_sound * 1000 for cut in cuts.cuts]
    return (
        Figure(f"{condition}silence, p50", percentile(silence, 0.5), "ms"),
        Figure(f"{condition}silence, p99", percentile(silence, 0.99), "ms", 25),
        Figure(f"{condition}next sound, p50", percentile(next_sound, 0.5), "ms"),
        Figure(f"{condition}next sound, p99", percentile(next_sound, 0.99), "ms", 50),
    )


@contextmanager
def _cards() -> Iterator[tuple[str, str, str]]:
    """The card that plays, the one that hears, and what they are."""
    plays_on, hears_with = os.environ.get(PLAYS), os.environ.get(HEARS)
    if plays_on and hears_with:
        yield plays_on, hears_with, f'the card "{plays_on}", heard by the card "{hears_with}"'
        return
    if plays_on or hears_with:
        raise BadInputError("the environment", f"has one of {PLAYS} and {HEARS}", allowed="both, or neither")
    with running_sound_server() as server:
        before = dict(os.environ)
        os.environ.update(server.environment)
        try:
            yield CARDS[0], CARDS[0], f"a null sink of a PulseAudio of its own, which plays in steps of {STEP} ms"
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _all_cores_busy() -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            command = [sys.executable, "-c", "while True: pass"]
            spinning = stack.enter_context(subprocess.Popen(command))  # noqa: S603  ours
            stack.callback(spinning.kill)
        yield
