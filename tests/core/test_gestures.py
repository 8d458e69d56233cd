"""Edges of the button -> presses: examples, and what holds however the contact bounces."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from appliance.core.gestures import SETTLE, Debounce

Edge = tuple[bool, float]
"""Whether the line went down, and when."""

BOUNCE = st.floats(0.00001, SETTLE * 0.99)
REST = st.floats(SETTLE * 1.01, 1000.0)
DOWN = st.floats(0.00001, 1000.0)


def presses(*edges: Edge, down: bool = False) -> list[float]:
    debounce = Debounce(down=down)
    return [at for is_down, at in edges if debounce.edge(is_down, at)]


def test_the_first_edge_down_is_the_press() -> None:
    assert presses((True, 5.0), (False, 5.2)) == [5.0]


def test_the_very_first_moment_counts() -> None:
    assert presses((True, 0.0)) == [0.0]


def test_bounces_of_a_press_and_of_a_release_are_none() -> None:
    bouncing = (True, 5.0), (False, 5.001), (True, 5.003), (False, 5.2), (True, 5.21), (False, 5.22)
    assert presses(*bouncing) == [5.0]


def test_a_press_soon_after_the_release_counts() -> None:
    assert presses((True, 5.0), (False, 5.1), (True, 5.15)) == [5.0, 5.15]


def test_down_at_the_start_is_no_press_until_it_was_let_go() -> None:
    assert presses((True, 1.0), (False, 2.0), (True, 2.001), (False, 2.002), (True, 3.0), down=True) == [3.0]


def test_an_edge_up_that_was_missed_makes_no_press() -> None:
    assert presses((True, 5.0), (True, 6.0), (False, 6.1), (True, 7.0)) == [5.0, 7.0]


@given(st.lists(st.tuples(REST, DOWN, st.lists(st.tuples(BOUNCE, DOWN)))), st.booleans())
def test_however_it_bounces_each_press_counts_once_and_at_its_first_edge(
    times: list[tuple[float, float, list[tuple[float, float]]]], held: bool
) -> None:
    edges: list[Edge] = [(False, 0.0)] if held else []
    wanted = []
    at = 0.0
    for rest, hold, bounces in times:
        wanted.append(at + rest)
        for up, down in [(rest, hold), *bounces]:
            edges += [(True, at + up), (False, at + up + down)]
            at += up + down
    assert presses(*edges, down=held) == wanted


@given(st.lists(st.tuples(st.booleans(), BOUNCE | REST)), st.booleans())
def test_whatever_edges_come_only_one_after_a_while_up_is_a_press(steps: list[tuple[bool, float]], held: bool) -> None:
    edges = [(down, at) for (down, _), at in zip(steps, accumulate(length for _, length in steps), strict=True)]
    wanted = [
        at
        for (was_down, since), (down, at) in pairwise([(held, -1.0), *edges])
        if down and not was_down and at - since >= SETTLE
    ]
    assert presses(*edges, down=held) == wanted


def releases(*edges: Edge, until: float) -> list[float]:
    """When it becomes known, of hundredths of a second, that a press is over."""
    debounce = Debounce(down=False)
    coming = list(edges)
    found = []
    for at in (number / 100 for number in range(round(until * 100))):
        while coming and coming[0][1] <= at:
            debounce.edge(*coming.pop(0))
        if debounce.let_go(at):
            found.append(at)
    return found


def test_a_press_is_over_once_when_the_line_has_been_up_for_a_while() -> None:
    assert releases((True, 5.0), (False, 5.2), until=7) == [5.23]
    assert releases((True, 5.0), (False, 5.2), (True, 5.21), (False, 5.215), until=7) == [5.25]


def test_a_contact_that_fails_for_a_moment_lets_go_of_nothing() -> None:
    assert releases((True, 5.0), (False, 5.2), (True, 5.21), until=7) == []


def test_the_shortest_tap_is_over_too() -> None:
    assert releases((True, 5.0), (False, 5.001), until=7) == [5.04]


def test_nothing_is_over_that_was_no_press() -> None:
    debounce = Debounce(down=True)
    debounce.edge(False, 1.0)
    assert not debounce.let_go(2.0)
