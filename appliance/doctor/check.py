"""What a check is, and what it finds."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue

from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.service.condition import Condition
from appliance.service.request import ListedServer
from appliance.service.unit import Unit

LONGEST = 30.0
"""Seconds that a check may take: a sound server that hangs would hold it for minutes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: good, or bad, and then what to do."""

    name: str
    good: bool
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at: a configuration, and the appliance that runs with it, if one does."""

    settings: Settings
    directory: Path
    unit: Unit | None = None
    condition: Condition | None = None
    servers: Sequence[ListedServer] = ()


Check = Callable[[Patient], Iterable[Finding]]


def good(name: str, text: str) -> Finding:
    """It is as it should be."""
    return Finding(name, good=True, text=text)


def bad(name: str, text: str, remedy: str) -> Finding:
    """It is not, and this may help."""
    return Finding(name, good=False, text=text, remedy=remedy)


def examine(checks: Iterable[Check], patient: Patient, limit: float = LONGEST) -> Iterator[Finding]:
    """What the checks find, one after the other. One that fails, or takes over `limit` seconds, is a bad line."""
    for check in checks:
        found: Queue[Finding | None] = Queue()
        threading.Thread(target=_look, args=(check, patient, found), daemon=True).start()
        until = time.monotonic() + limit
        try:
            while (finding := found.get(timeout=max(until - time.monotonic(), 0.0))) is not None:
                yield finding
        except Empty:
            text = f"this check has not come to an end in {limit:g} s"
            yield bad(_name(check), text, "What it looks at hangs: plug it in again, or restart the machine")


def _look(check: Check, patient: Patient, found: "Queue[Finding | None]") -> None:
    try:
        for finding in check(patient):
            found.put(finding)
    except ApplianceError as error:
        found.put(bad(_name(check), str(error), ""))
    except Exception as error:  # noqa: BLE001  whatever it is, the other checks can be made
        found.put(bad(_name(check), f"this check has failed itself: {error!r}", "Report it, with this line"))
    found.put(None)


def _name(check: Check) -> str:
    return check.__name__.replace("_", " ")
