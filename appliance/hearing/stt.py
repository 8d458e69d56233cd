"""Speech-to-text behind one interface, for engines that stream and for those that want the whole utterance."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from appliance.audio.devices import Samples


class NoSpeech(StrEnum):
    """Why a sound counts as one in which nobody spoke."""

    SILENCE = "no words in it"
    NO_VOICE = "hardly any voice"
    PHANTOM = "what the engine makes of noise"
    TOO_DENSE = "more words than the voice can hold"
    LOOP = "one phrase again and again"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said; empty when nothing was. `confidence` is 0 … 1 where the engine has one."""

    text: str
    confidence: float | None = None
    no_speech: NoSpeech | None = None
    """Why it is empty, as far as that was looked at."""


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
