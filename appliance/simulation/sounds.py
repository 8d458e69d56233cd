"""What there is to hear in a scenario's room besides the appliance: what is said, and the noise."""

from collections.abc import Callable

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import BadInputError
from appliance.simulation import recording
from appliance.simulation.scenario import Acoustics, Say, Scenario
from appliance.speaking.voice import Voice

FLOOR_DB = -75.0
"""The level of the hiss in a room without other noise: no microphone gives digital silence."""

_NOTHING = np.zeros(0, np.float32)


def said(scenario: Scenario, voice: Callable[[], Voice]) -> list[Samples]:
    """The sound of each step of `scenario`; what is not said has none. `voice` is asked for when a text needs one.

    Raises BadInputError. Blocks for as long as the voice needs.
    """
    sounds: dict[tuple[object, ...], Samples] = {}
    found: list[Samples] = []
    for step in scenario.steps:
        if not isinstance(step, Say):
            found.append(_NOTHING)
            continue
        key = (step.file, step.text, step.gain_db)
        if key not in sounds:
            sounds[key] = _said(step, voice) * np.float32(gain(step.gain_db))
        found.append(sounds[key])
    return found


def _said(step: Say, voice: Callable[[], Voice]) -> Samples:
    if step.file is not None:
        return recording.load(step.file)
    speaker = voice()
    pieces = list(speaker.synthesise(step.text or ""))
    if not sum(map(len, pieces)):
        raise BadInputError(step.place, f'text = "{step.text}": has nothing that the voice {speaker.name} can say')
    return recording.at_room_rate(np.concatenate(pieces), speaker.rate)


def noise(acoustics: Acoustics) -> Samples:
    """The noise of the room, to be looped: at `noise_db` RMS, or as it was recorded. Raises BadInputError."""
    if acoustics.noise is None:
        hiss = np.random.default_rng(0).standard_normal(10 * HEARING_RATE).astype(np.float32)
        return hiss * np.float32(gain(FLOOR_DB if acoustics.noise_db is None else acoustics.noise_db))
    samples = recording.load(acoustics.noise)
    if acoustics.noise_db is None:
        return samples
    level = np.sqrt(np.mean(np.square(samples, dtype=np.float64)))
    if level == 0:
        raise BadInputError(str(acoustics.noise), "is silence, which no gain brings to noise_db")
    return samples * np.float32(gain(acoustics.noise_db) / level)


def gain(db: float) -> float:
    """The factor that `db` decibels are."""
    return float(10.0 ** (db / 20.0))
