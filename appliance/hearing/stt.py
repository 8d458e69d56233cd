"""Speech-to-text behind one interface, for engines that stream and for those that want the whole utterance."""

from dataclasses import dataclass
from typing import Protocol

from appliance.audio.devices import Samples


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said; empty when nothing was. `confidence` is 0 … 1 where the engine has one."""

    text: str
    confidence: float | None = None


class Recognition(Protocol):
    """One utterance under way. Used from one thread at a time."""

    def feed(self, samples: Samples) -> str | None:
        """Take the next 16 kHz samples; the text so far, where the engine has partial results."""

    def guess(self) -> Transcript | None:
        """What was said so far, without ending the utterance; None where that is not to be had."""

    def finish(self) -> Transcript:
        """The utterance is complete. Silence gives an empty transcript. Nothing may be fed afterwards."""


class Recogniser(Protocol):
    """A loaded engine."""

    name: str
    language: str

    def begin(self) -> Recognition:
        """A new utterance; an earlier one that was not finished is simply forgotten."""
