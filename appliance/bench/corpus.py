"""What the bench of hearing has people say: recordings, or what the installed voice can do of them.

A folder of recordings has wake/ (each holds one wake word), commands/ (with slots.json: the words that have to be
understood), noise/ and read/ (other speech).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.audible import audible
from appliance.bench.mixing import as_another
from appliance.errors import BadInputError
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.simulation import recording
from appliance.speaking.voice import Voice

PITCHES = (1.0, 0.87, 1.14, 0.94, 1.07)
"""By how much the installed voice is higher, and faster, where it stands for several people."""

_VOICE = 0.5
"""Probability of voice from which a window is taken for a word."""

_WORD = 3
"""Windows in a row that are a word, 0.1 s, and no click."""

_SUFFIXES = {".flac", ".wav", ".ogg"}

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Command:
    """One spoken command, and what has to be understood of it."""

    samples: Samples
    end: float
    """Where its last word ends, in seconds."""
    slots: dict[str, str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All recordings."""

    wake: Sequence[Samples]
    commands: Sequence[Command]
    other: Sequence[Samples]
    noise: Samples


def sample(items: Sequence[_T], count: int | None) -> Sequence[_T]:
    """`count` of `items`, spread evenly over them; None: all."""
    if count is None or len(items) <= count:
        return items
    return [items[n * len(items) // count] for n in range(count)]


def load(folder: Path, activity: VoiceActivity, count: int | None = None) -> Corpus:
    """At most `count` recordings of each kind. BadInputError: there are none, or one cannot be used."""
    if not folder.is_dir():
        raise BadInputError(
            str(folder), "there is no such folder", allowed="one with wake/, commands/, noise/ and read/"
        )
    wake = [recording.load(path) for path in sample(_files(folder / "wake"), count)]
    slots = _slots(folder / "commands/slots.json")
    orders = _files(folder / "commands")
    commands = [_command(recording.load(path), activity, slots.get(path.name, {})) for path in sample(orders, count)]
    noise = [recording.load(path) for path in _files(folder / "noise")]
    if not (wake and commands and noise):
        raise BadInputError(str(folder), "has no recordings in wake/, commands/ or noise/", allowed="all three")
    read = [recording.load(path) for path in _files(folder / "read")]
    return Corpus(wake, commands, [*(command.samples for command in commands), *read, *noise], np.concatenate(noise))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix in _SUFFIXES)


def _slots(path: Path) -> dict[str, dict[str, str]]:
    try:
        found: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(
            str(path), f"cannot be read: {error}", allowed="a table of slots for each recording"
        ) from error
    return found


def _command(samples: Samples, activity: VoiceActivity, slots: dict[str, str]) -> Command:
    return Command(samples, last_word(samples, activity), slots)


def last_word(samples: Samples, activity: VoiceActivity) -> float:
    """Where the last word of `samples`, a recording without noise, ends."""
    activity.reset()
    voice = [probability >= _VOICE for probability in activity.feed(samples)]
    run = end = 0
    for window, has_voice in enumerate(voice, 1):
        run = run + 1 if has_voice else 0
        if run >= _WORD:
            end = window
    return end * WINDOW / HEARING_RATE


def speak(voice: Voice, text: str, pitch: float = 1.0) -> Samples:
    """`text` by the installed voice, or by somebody like it, from its first sound to its last."""
    samples = np.concatenate(list(voice.synthesise(text)))
    return audible(as_another(recording.at_room_rate(samples, voice.rate), pitch))
