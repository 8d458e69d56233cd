"""The interfaces of the sound card, as real cards, and the simulated room, provide them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from appliance.errors import ApplianceError

Samples = npt.NDArray[np.float32]
"""Mono samples in -1 … 1."""

HEARING_RATE = 16_000
"""Samples per second of everything that hearing gets; the rate of all its models."""


class MissingCardError(ApplianceError):
    """There is no such card now. It may be plugged in yet."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A stretch of sound and the time, in seconds, of its first sample. Gapless unless the card lost some.

    What a speaker dropped never sounds: then the next frame begins before the end of the last one.
    """

    samples: Samples
    at: float


class Source(Protocol):
    """Where a speaker gets its samples from."""

    def pull(self, count: int, at: float) -> Samples | None:
        """Exactly `count` samples, the first of which will sound at `at`. Quick, never blocks, never raises.

        None: nothing that was pulled before and has not sounded yet may sound. Only speakers that drop get it.
        """


class Microphone(Protocol):
    """Where the appliance hears."""

    name: str

    def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """16 kHz mono to `on_frame`, from one thread, until `stop`. `on_fault`: no more will come, and why.

        ApplianceError: the card cannot be had now; MissingCardError: there is none. BadInputError: not by that name.
        """

    def stop(self) -> None:
        """No frame after this has returned. Stopping twice is fine, and so is starting again."""


class Speaker(Protocol):
    """Where the appliance speaks. Once started it plays whatever its source gives, silence included."""

    name: str
    rate: int
    """Samples per second that the source is asked for."""
    drops: bool
    """Whether it drops what it holds, at once, when its source gives None, and then goes on pulling."""

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """Pull from `source` for ever. `on_frame` gets the very samples handed to the card: the echo's reference.

        `on_fault`, and what it raises, as a microphone's.
        """

    def stop(self) -> None:
        """Silent, and the card closed, when this returns. Stopping twice is fine, and so is starting again."""
