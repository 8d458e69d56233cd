from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from appliance.core.cancel import CancelScope


def test_a_cancel_makes_all_that_was_asked_for_stale() -> None:
    scope = CancelScope()
    old = scope.new_response()
    assert not scope.is_stale(old)
    scope.cancel()
    assert scope.is_stale(old)
    assert scope.discarding
    assert scope.is_discardable(old)
    assert scope.is_discardable(None)


def test_the_end_signal_closes_the_window() -> None:
    scope = CancelScope()
    old = scope.new_response()
    scope.cancel()
    scope.response_done(old)
    assert not scope.discarding
    assert not scope.is_discardable(None)
    assert scope.is_discardable(old), "what is stale stays stale"


def test_a_second_cancel_before_the_first_end_signal_does_not_leave_the_window_open() -> None:
    scope = CancelScope()
    first = scope.new_response()
    scope.cancel()
    scope.cancel()
    scope.response_done(first)
    assert not scope.discarding


def test_of_two_cancelled_responses_the_last_one_closes_the_window() -> None:
    scope = CancelScope()
    first = scope.new_response()
    scope.cancel()
    second = scope.new_response()
    scope.cancel()
    scope.response_done(first)
    assert scope.discarding
    scope.response_done(second)
    assert not scope.discarding


def test_the_current_response_passes_though_the_end_of_the_old_one_never_comes() -> None:
    scope = CancelScope()
    scope.new_response()
    scope.cancel()
    new = scope.new_response()
    assert scope.discarding
    assert not scope.is_discardable(new)
    scope.response_done(new)
    assert not scope.discarding, "a later response has ended, so the old one has long gone"


def test_reset_closes_the_window_and_keeps_the_generation() -> None:
    scope = CancelScope()
    scope.new_response()
    scope.cancel()
    generation = scope.generation
    scope.reset()
    assert not scope.discarding
    assert scope.generation == generation


def test_responses_one_after_the_other_have_numbers_of_their_own() -> None:
    scope = CancelScope()
    first, second = scope.new_response(), scope.new_response()
    assert second > first
    assert scope.is_stale(first)


class Scopes(RuleBasedStateMachine):
    """Any history of a scope, held against a model that remembers all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = CancelScope()
        self.given: list[int] = []
        self.cancelled: list[int] = []
        self.done: set[int] = set()
        self.current: int | None = None

    @rule()
    def ask(self) -> None:
        self.current = self.scope.new_response()
        assert self.current not in self.given
        self.given.append(self.current)

    @rule()
    def cancel(self) -> None:
        before = self.scope.generation, self.scope.discarding
        self.scope.cancel()
        if self.current is None or self.current in self.done:
            assert (self.scope.generation, self.scope.discarding) == before, "nothing to cancel, and something moves"
        else:
            self.cancelled.append(self.current)
            self.current = None

    @precondition(lambda self: bool(self.given))
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        generation = data.draw(st.sampled_from(self.given))
        self.scope.response_done(generation)
        self.done.add(generation)

    @rule()
    def reset(self) -> None:
        self.scope.reset()
        self.cancelled.clear()

    @invariant()
    def only_the_current_one_passes(self) -> None:
        assert [g for g in self.given if not self.scope.is_discardable(g)] == (
            [self.current] if self.current is not None else []
        )

    @invariant()
    def all_ends_close_the_window(self) -> None:
        if set(self.cancelled) <= self.done:
            assert not self.scope.discarding
        if self.scope.discarding:
            assert self.cancelled
            assert self.scope.is_discardable(None)


TestScopes = Scopes.TestCase
