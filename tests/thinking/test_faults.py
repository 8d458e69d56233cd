"""What is told of a fault, and never of a key."""

import pytest

from appliance.thinking.faults import explained
from appliance.thinking.refusals import LONGEST, one_line
from appliance.thinking.server import Problem, ServerError

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize("before", [0, 5, LONGEST - 6, LONGEST - 12, LONGEST - 1 - len(KEY), LONGEST])
def test_no_part_of_a_key_is_told_wherever_it_was_cut(before: int) -> None:
    with pytest.raises(ServerError) as caught, explained(KEY):
        raise ServerError(Problem.MISCONFIGURED, one_line(f"{'x' * before}{KEY} is wrong"), 3.0)
    assert KEY[:5] not in caught.value.detail
    assert (caught.value.problem, caught.value.retry_after) == (Problem.MISCONFIGURED, 3.0)


def test_what_has_no_key_in_it_is_told_as_it_is() -> None:
    with pytest.raises(ServerError) as caught, explained(KEY):
        raise ServerError(Problem.BROKEN, "sk-012 is no key…")
    assert caught.value.detail == "sk-012 is no key…"
