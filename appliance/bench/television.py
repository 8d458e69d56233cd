"""A television in the room: speech of several people, alone, in turn and all at once, music and applause. None of it
holds a wake word. The same in each run, as far as the voice says a sentence alike each time.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.corpus import sample, speak
from appliance.bench.mixing import as_another, at_level
from appliance.bench.texts import PREDICATES, SUBJECTS
from appliance.speaking.voice import Voice

LOUDEST_DB, QUIETEST_DB = -20.0, -45.0
"""Levels of a programme at the microphone: from turned up beside it to a murmur in the next room."""

LOWEST, HIGHEST = 0.8, 1.25
"""How much lower and higher, and slower and faster, than the voice people speak."""

CROWD = 5
"""People who speak at once in a babble."""

SCENE = 12.0
"""Seconds after which something else comes, about."""

_CHORDS = ((0, 4, 7), (5, 9, 12), (7, 11, 14), (-3, 0, 4))
"""In semitones."""


def sentences(voice: Voice, count: int) -> list[Samples]:
    """At most `count` different ones, spoken."""
    texts = [f"{subject} {predicate}" for predicate in PREDICATES for subject in SUBJECTS]
    return [speak(voice, text) for text in sample(texts, count)]


def programme(spoken: Sequence[Samples], seconds: float, seed: int = 0) -> Iterator[Samples]:
    """Scenes that last `seconds` together, or a little longer, made of the sentences `spoken`."""
    rng = np.random.default_rng(seed)
    scenes = (_talk, _dialogue, _babble, _music, _applause)
    left = seconds
    while left > 0:
        scene = scenes[rng.choice(len(scenes), p=(0.35, 0.25, 0.15, 0.15, 0.1))](rng, spoken)
        left -= len(scene) / HEARING_RATE
        yield at_level(scene, rng.uniform(QUIETEST_DB, LOUDEST_DB))


def _talk(rng: np.random.Generator, spoken: Sequence[Samples]) -> Samples:
    return _speech(rng, spoken, rng.uniform(LOWEST, HIGHEST), SCENE)


def _dialogue(rng: np.random.Generator, spoken: Sequence[Samples]) -> Samples:
    people = rng.uniform(LOWEST, HIGHEST, 2)
    return np.concatenate([_speech(rng, spoken, pitch, SCENE / 4) for pitch in (*people, *people)])


def _babble(rng: np.random.Generator, spoken: Sequence[Samples]) -> Samples:
    crowd = [_speech(rng, spoken, pitch, SCENE) for pitch in rng.uniform(LOWEST, HIGHEST, CROWD)]
    length = min(map(len, crowd))
    together: Samples = np.sum([person[:length] for person in crowd], axis=0, dtype=np.float32)
    return together


def _music(rng: np.random.Generator, spoken: Sequence[Samples]) -> Samples:
    """Chords, and over half of them somebody who speaks."""
    beat = rng.uniform(0.3, 0.7)
    root = rng.uniform(110, 330)
    times = np.arange(round(beat * HEARING_RATE)) / HEARING_RATE
    fade = np.exp(-times / beat * 2)
    chords = [
        fade * sum(np.sin(2 * np.pi * root * 2 ** (tone / 12) * n * times) / n for tone in chord for n in (1, 2, 3))
        for chord in _CHORDS
    ]
    bars = round(SCENE / beat)
    tune: Samples = np.concatenate([chords[int(rng.integers(len(chords)))] for _ in range(bars)]).astype(np.float32)
    tune = at_level(tune)
    if rng.random() < 0.5:
        speech = at_level(_speech(rng, spoken, rng.uniform(LOWEST, HIGHEST), SCENE), -20.0)[: len(tune)]
        tune[: len(speech)] += speech
    return tune


def _applause(rng: np.random.Generator, _: Sequence[Samples]) -> Samples:
    """Very many short claps."""
    length = round(SCENE / 2 * HEARING_RATE)
    claps = np.zeros(length + HEARING_RATE // 50, np.float32)
    clap = np.exp(-np.arange(HEARING_RATE // 50) / (HEARING_RATE / 400)).astype(np.float32)
    for at in rng.integers(0, length, round(SCENE * 60)):
        claps[at : at + len(clap)] += clap * rng.standard_normal(len(clap)).astype(np.float32)
    return claps


def _speech(rng: np.random.Generator, spoken: Sequence[Samples], pitch: float, seconds: float) -> Samples:
    pieces: list[Samples] = []
    while sum(map(len, pieces)) < seconds * HEARING_RATE:
        pieces.append(as_another(spoken[int(rng.integers(len(spoken)))], float(pitch)))
        pieces.append(np.zeros(round(rng.uniform(0.1, 0.9) * HEARING_RATE), np.float32))
    return np.concatenate(pieces)
