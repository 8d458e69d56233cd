"""What the speaker plays, by the time at which it sounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.reference import KEPT, Reference

BEGIN = 100.0


def tone(rate: int, seconds: float) -> Samples:
    """440 Hz."""
    times = np.arange(round(rate * seconds)) / rate
    return (0.5 * np.sin(2 * np.pi * 440 * times)).astype(np.float32)


def played(reference: Reference, sound: Samples, rate: int, at: float = BEGIN, step: int = 317) -> None:
    for first in range(0, len(sound), step):
        reference.add(Frame(sound[first : first + step], at + first / rate))


operations = st.lists(
    st.tuples(
        st.integers(1, 700),
        st.sampled_from((0, 0, 0, 0, -400, -90, 200, 5000)),
        st.booleans(),
    ),
    max_size=40,
)


@given(operations, st.integers(-500, 20_000), st.integers(1, 4000))
def test_it_is_what_sounded_at_that_time(todo: list[tuple[int, int, bool]], since: int, count: int) -> None:
    """Frames that follow one another, or come early, since some were dropped, or late."""
    reference = Reference(HEARING_RATE)
    sounds = np.zeros(400_000, np.float32)
    at = 0
    for value, (length, jump, audible) in enumerate(todo, 1):
        at += jump if at + jump >= 0 else 0
        sounds[at:] = 0  # what was to sound from here on was dropped
        frame = np.full(length, value / 1000 + 0.01 if audible else 0.0, np.float32)
        sounds[at : at + length] = frame
        reference.add(Frame(frame, BEGIN + at / HEARING_RATE))
        at += length
    since = max(since, at - round(KEPT * HEARING_RATE) + 5000)
    taken = reference.take(BEGIN + since / HEARING_RATE, count)
    expected = np.zeros(count, np.float32)
    inside = sounds[max(0, since) : max(0, since + count)]
    expected[max(0, -since) : max(0, -since) + len(inside)] = inside
    assert taken.tolist() == expected.tolist()
    begin, end = BEGIN + since / HEARING_RATE, BEGIN + (since + count) / HEARING_RATE
    if expected.any():
        assert reference.sounds(begin, end)
    if reference.sounds(begin, end):  # a frame sounds as a whole, if anything does in it
        assert sounds[max(0, since - 80) : since + count + 80].any()


def test_another_rate_is_brought_to_that_of_hearing_at_the_same_times() -> None:
    reference = Reference(48_000)
    played(reference, np.concatenate([tone(48_000, 1.0), np.zeros(48_000, np.float32)]), 48_000)
    expected = tone(HEARING_RATE, 1.0)
    taken = reference.take(BEGIN, HEARING_RATE)
    assert np.abs(taken - expected)[200:-200].max() < 0.01
    assert not reference.take(BEGIN + 1.2, 1000).any()
    assert reference.sounds(BEGIN + 0.9, BEGIN + 0.91)
    assert not reference.sounds(BEGIN + 1.1, BEGIN + 2)


def test_what_was_dropped_never_sounds() -> None:
    reference = Reference(48_000)
    played(reference, tone(48_000, 1.0), 48_000)
    assert reference.sounds(BEGIN + 0.6, BEGIN + 0.7)
    played(reference, np.zeros(24_000, np.float32), 48_000, BEGIN + 0.5)
    assert not reference.sounds(BEGIN + 0.51, BEGIN + 2)
    assert not reference.take(BEGIN + 0.5, 8000).any()
    assert reference.take(BEGIN + 0.3, 1000).any()
    assert reference.until == pytest.approx(BEGIN + 1)


def test_two_clocks_leave_no_holes() -> None:
    """Stamps bend by 300 ppm at most: a sample in 0.2 s."""
    reference = Reference(HEARING_RATE)
    sound = np.full(2 * HEARING_RATE, 0.5, np.float32)
    for first in range(0, len(sound), 320):
        reference.add(Frame(sound[first : first + 320], BEGIN + first / HEARING_RATE * 1.0003))
    taken = np.concatenate([reference.take(BEGIN + at / HEARING_RATE, 160) for at in range(0, HEARING_RATE, 160)])
    assert (taken == 0.5).all()


def test_it_forgets() -> None:
    reference = Reference(HEARING_RATE)
    played(reference, tone(HEARING_RATE, 3 * KEPT), HEARING_RATE)
    assert not reference.take(BEGIN, HEARING_RATE).any()
    assert reference.take(BEGIN + 3 * KEPT - 1, HEARING_RATE).any()
    assert len(reference._pieces) < 1.1 * KEPT * HEARING_RATE / 317
