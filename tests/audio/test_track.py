from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.devices import Samples
from appliance.audio.track import Track
from appliance.core.interruption import SpokenClause

RATE = 1024
MONTHS = 1e7
"""Seconds that a machine has been running, which leave a time little room behind the point."""


def sound(first: int, count: int) -> Samples:
    return np.arange(first, first + count, dtype=np.float32)


def take(track: Track, count: int, at: float) -> list[float]:
    into = np.zeros(count, np.float32)
    return [float(each) for each in into[: track.take(into, at)]]


def test_what_is_put_is_taken_in_order_whatever_the_pieces() -> None:
    track = Track(RATE)
    for first, count in ((1, 5), (6, 0), (6, 1), (7, 14)):
        track.put(sound(first, count))
    assert (track.made, track.queued) == (20, 20)
    assert [take(track, count, 0.0) for count in (3, 0, 4, 13, 2)] == [
        [1, 2, 3],
        [],
        [4, 5, 6, 7],
        sound(8, 13).tolist(),
        [],
    ]
    assert (track.made, track.queued) == (20, 0)


def test_who_peeks_takes_nothing() -> None:
    track = Track(RATE)
    track.put(sound(1, 4))
    assert track.peek(3).tolist() == [1, 2, 3]
    assert track.peek(9).tolist() == [1, 2, 3, 4]
    assert take(track, 9, 0.0) == [1, 2, 3, 4]


def test_what_is_put_is_never_written_to() -> None:
    track, samples = Track(RATE), sound(1, 8)
    samples.flags.writeable = False
    track.put(samples)
    into = np.zeros(8, np.float32)
    track.take(into, 0.0)
    into *= 2
    track.rewind(-1.0)
    assert take(track, 8, 0.0) == samples.tolist(), "the listener gets it as it was, and not as it was faded"


def test_a_sample_counts_when_it_has_sounded_to_its_end() -> None:
    track = Track(RATE)
    track.put(sound(1, 8))
    take(track, 4, 1.0)
    take(track, 4, 2.0)
    counts = {0.0: 0, 1.0: 0, 1 + 0.9 / RATE: 0, 1 + 1 / RATE: 1, 1 + 3.5 / RATE: 3, 1.5: 4, 2.0: 4, 3.0: 8}
    assert {now: track.played(now) for now in counts} == counts
    assert track.until == 2 + 4 / RATE


def test_what_was_dropped_is_taken_again() -> None:
    track = Track(RATE)
    track.put(sound(1, 12))
    take(track, 4, 1.0)
    take(track, 4, 1 + 4 / RATE)
    track.rewind(1 + 5.5 / RATE)
    assert (track.queued, track.made, track.until) == (7, 12, 1 + 5.5 / RATE)
    assert track.played(9.0) == 5
    assert take(track, 9, 2.0) == sound(6, 7).tolist()
    assert track.played(9.0) == 12


def test_with_nothing_in_hand_there_is_nothing_to_rewind() -> None:
    track = Track(RATE)
    track.put(sound(1, 4))
    track.rewind(1.0)
    take(track, 4, 2.0)
    assert track.played(3.0) == 4
    track.rewind(3.0)
    assert (track.queued, track.played(3.0), track.until) == (0, 4, 2 + 4 / RATE)


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000])
@given(began=st.sampled_from((0.0, 1e3, MONTHS)), counts=st.lists(st.integers(1, 700), min_size=1), data=st.data())
def test_the_count_is_exact_at_every_rate_after_months(
    rate: int, began: float, counts: list[int], data: st.DataObject
) -> None:
    track = Track(rate)
    track.put(sound(1, sum(counts)))
    for index, count in zip(accumulate(counts, initial=0), counts, strict=False):
        take(track, count, began + index / rate)
    heard = data.draw(st.integers(0, sum(counts)))
    assert track.played(began + heard / rate) == heard
    track.rewind(began + heard / rate)
    assert track.played(began + sum(counts)) == heard
    assert take(track, 1, 0.0) == ([heard + 1] if heard < sum(counts) else [])


def test_clauses_are_mapped_to_their_samples() -> None:
    track = Track(RATE)
    assert track.clauses() == ()
    track.clause("One,")
    assert track.clauses() == (SpokenClause("One,", 0, 0),)
    track.put(sound(1, 5))
    track.clause("two,")
    track.put(sound(6, 2))
    take(track, 6, 1.0)
    track.put(sound(8, 1))
    track.clause("three.")
    assert track.clauses() == (SpokenClause("One,", 0, 5), SpokenClause("two,", 5, 8), SpokenClause("three.", 8, 8))
