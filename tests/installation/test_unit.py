"""When a start counts as one that got ready."""

from collections.abc import Iterator

import pytest

from appliance.installation import unit
from appliance.installation.unit import LOOK, RESTARTS, SETTLED, WINDOW, State, restart


class Systemd:
    """One that shows a state after the other, and the last one for ever; a look takes some time."""

    def __init__(self, states: list[State]) -> None:
        self._states: Iterator[State] = iter(states)
        self._state = next(self._states)
        self.time = 0.0

    def state(self) -> State:
        self._state = next(self._states, self._state)
        return self._state

    def wait(self, seconds: float) -> None:
        self.time += seconds


def outcome(monkeypatch: pytest.MonkeyPatch, *states: State) -> tuple[str, float]:
    """What `restart` says, and after how many seconds."""
    systemd = Systemd([STOPPED, *states])
    monkeypatch.setattr(unit, "state", systemd.state)
    monkeypatch.setattr(unit, "control", lambda *_arguments: None)
    return restart(lambda: systemd.time, systemd.wait), systemd.time


STOPPED = State("inactive", "", 0, "")
STARTING = State("activating", "a", 0, "")
READY = State("active", "a", 0, "")


def test_it_is_ready_when_it_has_stayed_so(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seconds = outcome(monkeypatch, STOPPED, STARTING, READY)
    assert found == ""
    assert seconds == pytest.approx(SETTLED + 2 * LOOK, abs=LOOK)


def test_one_that_ends_right_after_it_was_ready_has_to_stay_so_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seconds = outcome(monkeypatch, STOPPED, *[READY] * 8, State("active", "b", 1, ""))
    assert found == ""
    assert seconds > SETTLED + 7 * LOOK


def test_one_that_is_never_ready_is_waited_for_to_the_end_of_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seconds = outcome(monkeypatch, STOPPED, STARTING)
    assert found == f"it was not ready within {WINDOW:.0f} s"
    assert seconds == pytest.approx(WINDOW, abs=1)


def test_one_that_fails_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seconds = outcome(monkeypatch, STOPPED, *(State("activating", "a", count, "") for count in range(9)))
    assert found == f"it failed {RESTARTS} times"
    assert seconds < SETTLED


def test_failures_before_it_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [State("activating", "a", count, "") for count in (7, 7, 8, 0, 1)]
    assert outcome(monkeypatch, *states, READY)[0] == ""
