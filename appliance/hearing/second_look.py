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

AFTER = 0.32
"""Seconds after it which are there by the time of the look, since a score may rise for so long."""

_SAID_PLAINLY = -0.5
"""Likeness from which on a word was said. All people but 4 of 157 have more in a quiet room."""

_SAID = -2.0
"""The same, in a quiet room, if something like it is not what was written: "a lexicon" has -1.7 to -2.8, one of the
people, of whom "I'm back, sir" was written, -1.2. Those of the others that scored more than 0.5 have less."""

_SAID_IN_NOISE = -8.0
"""The same in noise, if the score reached the threshold: of that the recogniser understands less than the wake word's
model. The rattle of a kitchen that scored more than 0.5 has -9.1 or less, and all but 4 of those people have more."""

_QUIET = 26.0
"""dB between the loud and the quiet tenth of the sound. In a quiet room 30 and more, also within a sentence; with noise
10 dB below, 24 and less."""

_FRAME = HEARING_RATE // 50


@runtime_checkable
class HearsWords(Protocol):
    """A recogniser that can say how likely a word is."""

    def likeness(self, samples: Samples, word: str) -> float:
        """The logarithm of the probability that `word` was said, 0 at most."""


_RESEMBLES = 0.75
"""How alike to the wake word is what can be mistaken for it: "a lexicon" has 0.8."""


class SecondLook:
    """Looks at wake words with `recogniser`.

    `mentions`: whether a text has something in it that is so much alike to a wake word, where 1 is the same sound.
    """

    def __init__(self, recogniser: Recogniser, mentions: Callable[[str, str, float], bool]) -> None:
        self._recogniser = recogniser
        self._mentions = mentions

    def confirms(self, heard: WakeHeard, sound: Samples) -> bool:
        """Whether the word was said in `sound`; where nobody can tell, whether it is likely. Takes its time."""
        word = _spoken(heard.word)
        if not word or not isinstance(self._recogniser, HearsWords):
            return self._mentions(self._written(sound), heard.word, 1.0) or heard.likely
        likeness = self._recogniser.likeness(sound, word)
        if likeness >= _SAID_PLAINLY:
            return True
        written = self._written(sound)
        if self._mentions(written, heard.word, 1.0):
            return True
        if _stands_out(sound) < _QUIET:
            return heard.likely and likeness >= _SAID_IN_NOISE
        return heard.likely and likeness >= _SAID and not self._mentions(written, heard.word, _RESEMBLES)

    def _written(self, sound: Samples) -> str:
        recognition = self._recogniser.begin()
        recognition.feed(sound)
        return recognition.finish().text


def _spoken(word: str) -> str:
    """The last word of a wake phrase by the name of its model: "jarvis" of "hey_jarvis_v0.1"."""
    spoken = [part for part in word.lower().replace("-", "_").split("_") if part.isalpha()]
    return spoken[-1] if spoken else ""


def _stands_out(sound: Samples) -> float:
    """How far the loud tenth of `sound` is above its quiet tenth, in dB."""
    changes = np.diff(sound)
    frames = changes[: len(changes) // _FRAME * _FRAME].reshape(-1, _FRAME)
    levels = 10 * np.log10(np.square(frames).mean(axis=1) + 1e-12)
    quiet, loud = np.percentile(levels, (10, 90))
    return float(loud - quiet)
