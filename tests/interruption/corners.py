"""What must have happened in some of many histories, lest they prove nothing."""

from dataclasses import astuple
from itertools import product
from typing import get_args

from appliance.core.events import Event
from appliance.core.interruption import Gates
from appliance.core.turn import TABLE, Row

COMBINATIONS = tuple(Gates(*gates) for gates in product((True, False), repeat=4))


def gates_name(gates: Gates) -> str:
    """The combination of gates."""
    return f"gates {astuple(gates)}"


def row_name(row: Row) -> str:
    """The row of the table: no two of them have all of that in common."""
    return f"{row.phase.value}: {row.event.__name__} -> {row.action.__name__} -> {row.to.value}"


CORNERS = {
    *(row_name(row) for row in TABLE),
    *(event.__name__ for event in get_args(Event)),
    *(gates_name(gates) for gates in COMBINATIONS),
    "a card that drops",
    "a card that cannot drop",
    "the card drops",
    "the card dies",
    "a watchdog ends a reply",
    "a reply pauses",
    "a reply that paused is heard to its end",
    "two triggers in one instant",
    "the loop turns before the edge has told",
    "a blocked loop",
    "the lane's reports are late",
    "a late producer",
    "a late event",
    "listen fails",
    "speak fails",
    "what was said after an address is answered",
}
"""Each is counted in `World.seen` when it really comes to it, not when it was planned."""
