"""What a check is, and what it finds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.service.condition import Condition
from appliance.service.request import ListedServer
from appliance.service.unit import Unit


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


def examine(checks: Iterable[Check], patient: Patient) -> Iterator[Finding]:
    """What the checks find, one after the other. One that fails is one bad line."""
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            yield from check(patient)
        except ApplianceError as error:
            yield bad(name, str(error), "")
        except Exception as error:  # noqa: BLE001  whatever it is, the other checks can be made
            yield bad(name, f"this check has failed itself: {error!r}", "Report it, with this line")
