"""A voice: text in, samples out."""

from collections.abc import Iterator
from typing import Protocol

from appliance.audio.devices import Samples


class Voice(Protocol):
    """A loaded voice. Blocking; used from one thread at a time."""

    name: str
    language: str
    rate: int
    """Samples per second of what `synthesise` gives."""

    def synthesise(self, clause: str) -> Iterator[Samples]:
        """The samples of one clause, in pieces as they become ready. Text with nothing to say gives none."""
