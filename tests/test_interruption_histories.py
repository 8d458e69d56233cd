"""Random histories of interruptions obey the rules: of the lane, the generation counter and the table together.

Some are drawn by hypothesis, which shrinks one that fails; most from seeds, which is faster, and draws the same one
again. The environment may say: INTERRUPTION_HISTORIES, how many from seeds (9,000); INTERRUPTION_DRAWN, how many by
hypothesis (1,000); and INTERRUPTION_SEED, the first seed (a random one).
"""

import os
import random
import secrets
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.interruption.corners import CORNERS
from tests.interruption.course import Course

DRAWN = int(os.environ.get("INTERRUPTION_DRAWN", "1000"))
SEEDED = int(os.environ.get("INTERRUPTION_HISTORIES", "9000"))
FIRST_SEED = int(os.environ.get("INTERRUPTION_SEED", secrets.randbelow(10**9)))

LENGTHS = (16, 120)
"""The fewest and the most bytes of a history from a seed."""
MANY = 5000
"""Histories in which every corner must have come up some times."""
OFTEN = 2


@settings(max_examples=DRAWN, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(min_size=40, max_size=160))
def test_drawn_histories_obey_the_rules(choices: bytes) -> None:
    play(choices)


@pytest.mark.timeout(300 + SEEDED // 20)
def test_seeded_histories_obey_the_rules() -> None:
    seen: Counter[str] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDED):
        generator = random.Random(seed)  # noqa: S311
        try:
            seen += play(generator.randbytes(generator.randrange(*LENGTHS)))
        except BaseException as error:
            again = f"INTERRUPTION_SEED={seed} INTERRUPTION_HISTORIES=1 INTERRUPTION_DRAWN=1 pytest {__file__}"
            error.add_note(f"To play it again: {again}")
            raise
    if SEEDED >= MANY:
        assert sorted(corner for corner in CORNERS if seen[corner] < OFTEN) == []


def play(choices: bytes) -> Counter[str]:
    """What has happened."""
    course = Course(choices)
    try:
        course.play()
    except Exception as error:
        error.add_note(course.world.story)
        raise
    return course.world.seen
