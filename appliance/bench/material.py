"""What the bench of hearing has to play: recordings where there are some, the installed voice where there are none."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import soundfile

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench import television
from appliance.bench.corpus import PITCHES, Command, Corpus, load, sample, speak
from appliance.bench.mixing import at_level, noise_db, rms_db, rumble, speech_db
from appliance.bench.rig import Rig
from appliance.bench.texts import COMPLETE, HESITANT

HESITATION = 0.9
"""Seconds for which somebody thinks in the middle of a command."""

_SCENES = 8
"""Of the television, that run again and again as the noise of a room."""


_NOISE = 30
"""Seconds of noise, where no recording of one is there."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    recordings: int | None
    """Of each kind; None: all."""
    television: float
    """Seconds."""
    sentences: int
    """Different ones in it."""
    naming: int
    """Replies that hold the wake word."""
    replies: int
    """Replies of about 11 seconds that nobody interrupts."""


FULL = Extent(None, 3600.0, 192, 500, 330)
QUICK = Extent(5, 40.0, 8, 8, 2)


class Material:
    """Of one run of the bench. Rooms are described as in a scenario; `folder` is for the noise in them."""

    def __init__(self, rig: Rig, word: str, recordings: Path | None, extent: Extent, folder: Path) -> None:
        """`word`: the wake word. BadInputError: `recordings` cannot be used."""
        self.extent = extent
        self._voice = rig.engines.voice
        self._folder = folder
        self._spoken: list[Samples] | None = None
        if recordings is None:
            self.corpus = self._without_recordings(word)
        else:
            self.corpus = load(recordings, rig.engines.activity, extent.recordings)

    def wake(self) -> list[Samples]:
        """Wake words, all as loud."""
        return [at_level(each) for each in self.corpus.wake]

    def commands(self) -> list[Command]:
        """Commands, all as loud."""
        return [replace(each, samples=at_level(each.samples)) for each in self.corpus.commands]

    def complete(self) -> list[Command]:
        """What the appliance itself understands, by several voices."""
        pairs = [(text, pitch) for pitch in PITCHES for text in COMPLETE]
        return [_command(speak(self._voice, *pair)) for pair in sample(pairs, self.extent.recordings)]

    def hesitant(self) -> list[Command]:
        """The same, with a pause in the middle."""
        pause = np.zeros(round(HESITATION * HEARING_RATE), np.float32)
        triples = [(begin, end, pitch) for pitch in PITCHES for begin, end in HESITANT]
        return [
            _command(np.concatenate([speak(self._voice, begin, pitch), pause, speak(self._voice, end, pitch)]))
            for begin, end, pitch in sample(triples, self.extent.recordings)
        ]

    def noise(self, snr: float) -> str:
        """A room with noise so many dB below what is said in it."""
        return self._room("noise.wav", self.corpus.noise, snr)

    def beside_television(self, snr: float) -> str:
        """A room with a television, which speaks so many dB softer than people do."""
        scenes = [at_level(scene) for scene in islice(self.television(), _SCENES)]  # so that none drowns all speech
        programme = np.concatenate(scenes)
        return self._room("television.wav", programme, snr + speech_db(programme) - rms_db(programme))

    def television(self) -> Iterator[Samples]:
        """All scenes of its programme."""
        if self._spoken is None:
            self._spoken = television.sentences(self._voice, self.extent.sentences)
        return television.programme(self._spoken, self.extent.television)

    def _room(self, name: str, noise: Samples, snr: float) -> str:
        path = self._folder / name
        if not path.exists():
            soundfile.write(path, noise, HEARING_RATE)
        return f'noise = "{path}"\nnoise_db = {noise_db(snr)}'

    def _without_recordings(self, word: str) -> Corpus:
        name = word.replace("_", " ").title()
        called = [speak(self._voice, text, pitch) for pitch in PITCHES for text in (f"{name}.", f"{name}!", f"{name}?")]
        commands = self.complete()
        others = [command.samples for command in commands]
        return Corpus(sample(called, self.extent.recordings), commands, others, rumble(_NOISE))


def _command(samples: Samples) -> Command:
    return Command(samples, len(samples) / HEARING_RATE, {})
