"""Stamps under late threads, drifting quartz and lost samples."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.sampleclock import LOST, SETTLING_SLEW, SLEW, SampleClock

RATE = 48_000
BLOCK = 960
SECONDS = BLOCK / RATE


def test_late_threads_do_not_shake_the_stamps() -> None:
    clock = SampleClock(RATE)
    late = np.random.default_rng(1).exponential(0.005, 2000).tolist()
    stamps = [clock.stamp(n * BLOCK, 7 + n * SECONDS + late[n]) for n in range(2000)]
    steps = [after - before for before, after in pairwise(stamps[100:])]
    assert max(abs(step - SECONDS) for step in steps) <= SLEW * SECONDS * 1.01
    assert stamps[-1] == pytest.approx(7 + 1999 * SECONDS, abs=0.01)


def test_a_quartz_that_runs_wrong_is_followed_for_hours() -> None:
    clock = SampleClock(RATE)
    for n in range(500_000):
        true = 7 + n * SECONDS * (1 + 200e-6)
        assert abs(clock.stamp(n * BLOCK, true) - true) < 0.001


def test_a_card_that_starts_late_is_settled_soon() -> None:
    clock = SampleClock(RATE)
    stamps = [clock.stamp(n * BLOCK, 7 + n * SECONDS + (0.04 if n < 3 else 0)) for n in range(50)]
    assert stamps[-1] == pytest.approx(7 + 49 * SECONDS, abs=0.001)


def test_lost_samples_are_a_jump() -> None:
    clock = SampleClock(RATE)
    stamps = [clock.stamp(n * BLOCK, 7 + n * SECONDS + (0.5 if n >= 100 else 0)) for n in range(200)]
    jumps = [after - before for before, after in pairwise(stamps) if after - before > SECONDS * 1.1]
    assert jumps == [pytest.approx(SECONDS + 0.5, abs=0.03)]
    assert stamps[-1] == pytest.approx(7 + 199 * SECONDS + 0.5, abs=0.03)


def test_a_thread_that_was_held_up_and_catches_up_is_no_loss() -> None:
    clock, now, stamps = SampleClock(RATE), 7.0, []
    for n in range(300):
        now = max(now + SECONDS / 10, 7 + n * SECONDS)
        if n == 100:
            now += 0.3
        stamps.append(clock.stamp(n * BLOCK, now))
    assert max(after - before for before, after in pairwise(stamps)) < SECONDS * 1.1


def test_samples_that_a_card_swallowed_are_made_up_for_without_running_backwards() -> None:
    clock, now, stamps = SampleClock(RATE), 7.0, []
    for n in range(600):
        now += SECONDS / 10 if 200 <= n < 240 else SECONDS
        stamps.append(clock.stamp(n * BLOCK, now))
    assert min(after - before for before, after in pairwise(stamps)) > SECONDS * 0.7
    assert stamps[-1] == pytest.approx(now, abs=LOST)


@given(st.lists(st.tuples(st.integers(1, 5000), st.floats(-3, 3)), max_size=100))
def test_stamps_never_run_backwards(blocks: list[tuple[int, float]]) -> None:
    clock, index = SampleClock(RATE), 0
    before = clock.stamp(0, 100.0)
    for count, off in blocks:
        index += count
        at = clock.stamp(index, 100 + index / RATE + off)
        assert at - before >= count / RATE * (1 - SETTLING_SLEW) - 1e-9
        before = at
