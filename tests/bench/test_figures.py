from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.bench.figures import Figure, Result, percentile


def test_a_result_says_which_aim_was_missed() -> None:
    result = Result(
        "answer", "by ear", (Figure("p50", 0.91, "s", 0.9), Figure("p95", 123.4, "s"), Figure("low", 1, "s", 2))
    )
    heading, p50, p95, low = result.lines()
    assert heading == "answer: by ear"
    assert p50.endswith("0.91 s   aim: at most 0.9, MISSED")
    assert p95.endswith("123 s")
    assert low.endswith("met")


@pytest.mark.parametrize(("share", "value"), [(0.5, 3), (0.95, 5), (0.2, 1), (0.21, 2), (1, 5), (0, 1)])
def test_percentiles_by_nearest_rank(share: float, value: float) -> None:
    assert percentile([5, 3, 1, 4, 2], share) == value


@given(st.lists(st.integers(), min_size=1), st.integers(0, 100))
def test_at_least_that_share_is_not_above_it(values: list[int], percent: int) -> None:
    found = percentile(values, percent / 100)
    assert found in values
    assert Fraction(sum(value <= found for value in values), len(values)) >= Fraction(percent, 100)
