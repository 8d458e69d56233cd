"""What the appliance runs on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from appliance.audio.devices import Microphone, Speaker
from appliance.audio.inventory import Change
from appliance.errors import ApplianceError


class Button(Protocol):
    """The push button."""

    @property
    def works(self) -> bool:
        """Whether it can be pressed now. From any thread."""

    @property
    def trouble(self) -> ApplianceError | None:
        """Why it does not work; None if nothing is wrong. From any thread."""

    def start(self, on_press: Callable[[float], None], on_release: Callable[[float], None]) -> None:
        """Tell the time of each press, and of its end, from a thread of its own. What cannot work raises nothing."""

    def stop(self) -> None:
        """No press after this has returned. Stopping twice is fine."""


@dataclass(frozen=True, slots=True)
class Devices:
    """A sound card and what is beside it, or a room that stands in for them."""

    microphone: Microphone
    speaker: Speaker
    button: Button | None
    clock: Callable[[], float]
    """Seconds on the clock of the microphone's frames."""
    now: Callable[[], datetime]
    """The local wall-clock time."""
    change: Callable[[], Change] = lambda: Change.NOTHING
    """What has come of sound cards that cannot be had before all are closed."""
