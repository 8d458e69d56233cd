"""A second look at a wake word whose score alone does not tell: speech-to-text says whether the word is in the sound.

A recogniser that can say how likely a word is decides; another one can only confirm what it has written. Numbers are
of 157 people saying "Alexa", of 40 sentences full of words that sound like it, and of 155 other recordings: clean, and
with a kitchen 10 dB below. See docs/wake.md.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.core.events import WakeHeard
from appliance.hearing.stt import Recogniser

BEFORE = 1.5
"""Seconds of sound before what a wake word was recognised in that hold it."""

_SAID = -2.0
"""Likeness from which on a word was said, in a quiet room. All people but 3 of 157 have -1.2 or more, and those 3
scored below 0.6; "a lexicon", the worst of the others that scored more than 0.5, has -2.8."""

_SAID_FAINTLY = -1.0
"""The same, when the score did not reach the threshold."""

_SAID_IN_NOISE = -8.0
"""The same in noise, of which the recogniser understands less than the wake word's model: the rattle of a kitchen that
scored more than 0.5 has -9.1 or less, and all but 4 of those people have more."""

_QUIET = 26.0
"""dB between the loud and the quiet tenth of the sound. In a quiet room 30 and more, also within a sentence; with noise
10 dB below, 24 and less."""

_FRAME = HEARING_RATE // 50


@runtime_checkable
class HearsWords(Protocol):
    """A recogniser that can say how likely a word is."""

    def likeness(self, samples: Samples, word: str) -> float:
        """The logarithm of the probability that `word` was said, 0 at most."""


class SecondLook:
    """Looks at wake words with `recogniser`. `sounds_like`: whether a text has a wake word in it, or its likeness."""

    def __init__(self, recogniser: Recogniser, sounds_like: Callable[[str, str], bool]) -> None:
        self._recogniser = recogniser
        self._sounds_like = sounds_like

    def confirms(self, heard: WakeHeard, sound: Samples) -> bool:
        """Whether the word was said in `sound`; where nobody can tell, whether it is likely. Takes its time."""
        if isinstance(self._recogniser, HearsWords) and (word := _spoken(heard.word)):
            if self._recogniser.likeness(sound, word) >= _least(sound, likely=heard.likely):
                return True
            return self._is_written(heard.word, sound)
        return self._is_written(heard.word, sound) or heard.likely

    def _is_written(self, word: str, sound: Samples) -> bool:
        recognition = self._recogniser.begin()
        recognition.feed(sound)
        return self._sounds_like(recognition.finish().text, word)


def _spoken(word: str) -> str:
    """The last word of a wake phrase by the name of its model: "jarvis" of "hey_jarvis_v0.1"."""
    spoken = [part for part in word.lower().replace("-", "_").split("_") if part.isalpha()]
    return spoken[-1] if spoken else ""


def _least(sound: Samples, *, likely: bool) -> float:
    if not likely:
        return _SAID_FAINTLY
    return _SAID if _stands_out(sound) >= _QUIET else _SAID_IN_NOISE


def _stands_out(sound: Samples) -> float:
    """How far the loud tenth of `sound` is above its quiet tenth, in dB."""
    changes = np.diff(sound)
    frames = changes[: len(changes) // _FRAME * _FRAME].reshape(-1, _FRAME)
    levels = 10 * np.log10(np.square(frames).mean(axis=1) + 1e-12)
    quiet, loud = np.percentile(levels, (10, 90))
    return float(loud - quiet)
