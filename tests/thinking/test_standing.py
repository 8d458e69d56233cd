"""What trials and use say of a server, and which of the two is believed."""

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking import standing as standings
from appliance.thinking.server import Problem, ServerError, Source
from appliance.thinking.standing import FRESH, LONGEST_BENCH, SELDOM, Standing, State
from tests.thinking.lan import a_server

NEW = Standing(a_server())
MODELS = frozenset({"a model"})
READY = NEW.proved(0.0, 0.0, MODELS)

errors = st.builds(ServerError, st.sampled_from(Problem), st.just("why"), st.none() | st.floats(0, 1e6))
pauses = st.floats(0, 1e5)
changes: st.SearchStrategy[Callable[[Standing, float], Standing]] = st.one_of(
    st.sampled_from([MODELS, frozenset({"another"})]).map(lambda m: lambda old, now: old.proved(now, now, m)),
    errors.map(lambda error: lambda old, now: old.failed_trial(now, now, error)),
    errors.map(lambda error: lambda old, now: old.failed_use(now, error)),
    st.just(lambda old, _: old.answered()),
)


def a(problem: Problem, retry_after: float | None = None) -> ServerError:
    return ServerError(problem, "why", retry_after)


@st.composite
def lives(draw: st.DrawFn) -> tuple[Standing, float]:
    """How a server stands after a life, and when that is."""
    standing, now = NEW, 0.0
    for pause, change in draw(st.lists(st.tuples(pauses, changes), max_size=12)):
        now += pause
        standing = change(standing, now)
    return standing, now


@given(lives(), st.floats(0, 1e5))
def test_whatever_happened_it_is_tried_again_before_long(life: tuple[Standing, float], ago: float) -> None:
    standing, now = life
    due = standing.due(now - ago)
    assert not math.isnan(due)
    if standing.state is State.READY:
        assert due == math.inf
    else:
        assert due <= now + SELDOM
    if standing.state is State.BENCHED and not standing.failures:
        assert due <= standing.tried + SELDOM


@given(lives())
def test_what_works_is_hopeful_or_will_be(life: tuple[Standing, float]) -> None:
    standing, now = life
    assert standing.hopeful(now) == (standing.works and standing.wait(now) == 0)
    assert standing.hopeful(now + SELDOM) == standing.works
    assert not (standing.works and standing.stale(now + 1e6))
    assert standing.works != (standing.state in (State.BENCHED, State.MISCONFIGURED))


@given(lives(), errors)
def test_a_proof_takes_back_what_a_trial_said(life: tuple[Standing, float], error: ServerError) -> None:
    standing, now = life
    assert standing.failed_trial(now, now, error).proved(now, now, MODELS).state is State.READY


@given(lives())
def test_an_answer_takes_back_everything(life: tuple[Standing, float]) -> None:
    standing, now = life
    answered = standing.answered()
    assert answered.problem is None
    assert answered.failed_use(now, a(Problem.BROKEN)).stands == now + 1, "the bench begins anew"


def test_the_bench_of_what_fails_in_use_grows_and_is_bounded() -> None:
    standing, lengths = READY, []
    for _ in range(2000):
        standing = standing.failed_use(0.0, a(Problem.BROKEN))
        lengths.append(standing.stands)
        assert standing.proved(0.5, 0.5, MODELS).state is State.BENCHED
        standing = standing.proved(0.0, standing.stands, MODELS)
        assert standing.state is State.READY
    assert lengths[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert max(lengths) == LONGEST_BENCH


def test_a_server_that_was_down_since_it_failed_in_use_is_another_one() -> None:
    standing = READY.failed_use(0.0, a(Problem.BROKEN)).failed_use(1.0, a(Problem.BROKEN))
    assert standing.proved(1.5, 1.5, MODELS).state is State.BENCHED
    assert standing.failed_trial(1.5, 1.5, a(Problem.BROKEN)).proved(2.0, 2.0, MODELS).state is State.READY


def test_one_that_loads_is_shown_to_load_although_it_lists_its_models() -> None:
    standing = READY.failed_use(0.0, a(Problem.WARMING))
    assert standing.hopeful(0.0), "but it is asked again"
    assert standing.proved(1.0, 1.0, MODELS).state is State.WARMING
    assert standing.proved(60.0, 60.0, MODELS).state is State.READY


def test_a_missing_model_is_missing_until_there_are_other_models_or_for_a_minute() -> None:
    standing = READY.failed_use(0.0, a(Problem.MISCONFIGURED))
    assert standing.proved(59.0, 59.0, MODELS).state is State.MISCONFIGURED
    assert standing.proved(60.0, 60.0, MODELS).state is State.READY
    assert standing.proved(1.0, 1.0, MODELS | {"the one"}).state is State.READY


@pytest.mark.parametrize(("asked", "waits"), [(None, 0), (0.0, 0), (30.0, 30), (86_400.0, 60)])
@pytest.mark.parametrize("problem", [Problem.AT_CAPACITY, Problem.WARMING])
def test_the_time_that_it_names_is_waited_for_in_reason(problem: Problem, asked: float | None, waits: float) -> None:
    for standing in (READY.failed_use(5.0, a(problem, asked)), READY.failed_trial(5.0, 5.0, a(problem, asked))):
        assert standing.wait(5.0) == waits
        assert standing.due(5.0) >= 5.0 + waits
    assert READY.failed_use(5.0, a(Problem.BROKEN, asked)).wait(5.0) == 0


def test_in_the_background_it_is_tried_often_as_long_as_it_is_needed_and_then_seldom() -> None:
    standing, tries = NEW, []
    while (due := max(standing.due(0.0), 0.0)) < 86_400:
        tries.append(due)
        standing = standing.failed_trial(due, due + 0.5, a(Problem.BROKEN))
    assert tries[:60] == list(range(60))
    assert all(later - earlier <= 1.5 for earlier, later in pairwise(tries) if later < 90)
    assert sum(due < 3600 for due in tries) < 320
    assert max(later - earlier for earlier, later in pairwise(tries)) == pytest.approx(SELDOM)


def test_a_failed_trial_is_believed_for_a_moment() -> None:
    standing = NEW.failed_trial(10.0, 10.5, a(Problem.BROKEN))
    assert not standing.stale(10.0 + FRESH - 0.001)
    assert standing.stale(10.0 + FRESH)


def test_only_what_never_was_on_this_machine_was_a_guess() -> None:
    guess = Standing(a_server(source=Source.LOCAL))
    assert guess.failed_trial(0.0, 0.0, a(Problem.BROKEN)).was_only_a_guess
    assert guess.failed_trial(0.0, 0.0, a(Problem.MISCONFIGURED)).was_only_a_guess
    assert not guess.failed_trial(0.0, 0.0, a(Problem.WARMING)).was_only_a_guess
    assert not guess.proved(0.0, 0.0, MODELS).failed_trial(0.0, 0.0, a(Problem.BROKEN)).was_only_a_guess
    assert not NEW.failed_trial(0.0, 0.0, a(Problem.BROKEN)).was_only_a_guess


def test_each_problem_has_its_state() -> None:
    assert NEW.state is State.UNTRIED
    assert READY.state is State.READY
    assert standings._STATES.keys() == set(Problem) - {Problem.TOO_LONG}


@pytest.mark.parametrize("before", [NEW, READY, READY.failed_use(0.0, a(Problem.WARMING))])
def test_that_a_question_was_too_long_says_nothing_of_the_server(before: Standing) -> None:
    assert before.failed_use(1.0, a(Problem.TOO_LONG)) == before
    assert NEW.failed_trial(1.0, 1.0, a(Problem.TOO_LONG)).state is State.BENCHED, "but a trial cannot be"
