from pathlib import Path

import pytest

from appliance.simulation.expect import unmet
from appliance.simulation.scenario import Expect, parse
from appliance.simulation.timeline import PastTurn


def expects(*tables: str) -> tuple[Expect, ...]:
    return parse("".join(f"[[expect]]\n{table}\n" for table in tables), Path("a.toml")).expects


def turn(generation: int, heard: str | None, intent: str | None = None, reply: str | None = None) -> PastTurn:
    return PastTurn(generation, generation * 10.0, heard, intent, reply, False, None, (), None)


TURNS = (turn(1, "what time is it", "time", "It is ten."), turn(2, None), turn(3, "stop", "stop", ""))


@pytest.mark.parametrize(
    "tables",
    [
        (),
        ('heard = "time"',),
        ('heard = "STOP"',),
        ('reply = "it IS (ten|eleven)"', 'intent = "^stop$"'),
        ('heard = "."', 'reply = "^$"'),
    ],
)
def test_turns_may_come_in_between(tables: tuple[str, ...]) -> None:
    assert unmet(expects(*tables), TURNS) == ""


@pytest.mark.parametrize(
    "tables",
    [
        ('heard = "times"',),
        ('heard = "stop"', 'heard = "time"'),
        ('heard = "time"', 'intent = "time"'),
        ('heard = "time"\nreply = "nine"',),
        ('heard = ""', 'heard = ""', 'heard = ""'),
    ],
)
def test_order_and_number_and_every_pattern_count(tables: tuple[str, ...]) -> None:
    assert unmet(expects(*tables), TURNS)


def test_the_difference_is_readable() -> None:
    assert (
        unmet(expects('heard = "time"', 'heard = "stop"\nreply = "bye"'), TURNS)
        == """\
a.toml:3: expectation 2 of 2 was not met:
    heard   /stop/
    reply   /bye/
  these turns came after turn 1, which met the one before:
  turn 2, at 20.00 s:
    heard   (nothing)   <- does not match
    intent  (nothing)
    reply   (nothing)   <- does not match
  turn 3, at 30.00 s:
    heard   "stop"
    intent  "stop"
    reply   ""   <- does not match"""
    )


def test_when_nothing_came_it_says_so() -> None:
    assert unmet(expects('heard = "a"'), ()).splitlines()[-1] == "  no turn came in the whole run"
    end = unmet(expects('heard = "stop"', 'heard = "a"'), TURNS).splitlines()[-1]
    assert end == "  no turn came after turn 3, which met the one before"


def test_many_turns_are_not_all_listed() -> None:
    lines = unmet(expects('heard = "a"'), [turn(number, "b") for number in range(1, 31)]).splitlines()
    assert lines[-1] == "  and 20 more"
    assert len(lines) < 50
