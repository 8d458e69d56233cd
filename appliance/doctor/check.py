"""What a check is, and what it finds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.service.client import asked
from appliance.service.condition import Condition
from appliance.service.request import ListedServer, Watch
from appliance.service.unit import Unit

LISTENING = 15
"""Lines of levels, of a tenth of a second each, that show how loud it is."""

PATIENCE = 5.0
"""Seconds within which the first of them comes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: good, or bad, and then what to do."""

    name: str
    good: bool
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Levels:
    """How loud it was, in dB below the loudest that there is."""

    loudness: float
    peak: float


@dataclass(frozen=True)
class Patient:
    """What is looked at: a configuration, and the appliance that runs with it, if one does."""

    settings: Settings
    directory: Path
    unit: Unit | None = None
    condition: Condition | None = None
    servers: Sequence[ListedServer] = ()

    @cached_property
    def levels(self) -> Levels | None:
        """What the microphone of the running appliance hears now; None if nothing comes."""
        heard: list[dict[str, float]] = []
        with asked(self.directory, Watch(), PATIENCE) as (_, lines):
            while len(heard) < LISTENING:
                try:
                    line = msgspec.json.decode(lines.readline())
                except (OSError, msgspec.DecodeError):
                    break
                if line["kind"] == "level":
                    heard.append(line)
        if not heard:
            return None
        return Levels(sorted(each["rms"] for each in heard)[len(heard) // 2], max(each["peak"] for each in heard))


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
