"""The gate that keeps the wake words' models from running where there is nothing to hear."""

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.hearing.features import STEP
from appliance.hearing.gate import SoundGate

MEMORY = 25
NOISE = np.random.default_rng(0).standard_normal(60 * HEARING_RATE // STEP * STEP).astype(np.float32)
SECONDS = np.arange(len(NOISE), dtype=np.float32) / HEARING_RATE


def passed(sound: Samples) -> list[bool]:
    gate = SoundGate(MEMORY)
    return [gate.passes(step) for step in sound.reshape(-1, STEP)]


@pytest.mark.parametrize(
    ("room", "listened"),
    [
        pytest.param(0 * NOISE, 0.1, id="digital silence"),
        pytest.param(1e-4 * NOISE, 0.1, id="hiss"),
        pytest.param(0.03 * NOISE, 0.1, id="a loud fan"),
        pytest.param(np.sin(2 * np.pi * 50 * SECONDS) / 50 + 1e-4 * NOISE, 0.1, id="mains hum"),
        pytest.param(np.where(SECONDS < 20, 1e-4, 1e-2).astype(np.float32) * NOISE, 0.25, id="a fan switched on"),
        pytest.param(10 ** ((np.minimum(SECONDS, 20) - 80) / 20) * NOISE, 0.6, id="hiss that rises slowly"),
    ],
)
def test_it_closes_in_a_steady_room(room: Samples, listened: float) -> None:
    assert np.mean(passed(room.astype(np.float32))) <= listened


def test_it_is_open_for_as_long_as_a_sound_matters_and_at_the_start() -> None:
    sound = 1e-4 * NOISE[: 200 * STEP]
    sound[100 * STEP : 101 * STEP] *= 2
    expected = [True] * MEMORY + [False] * (100 - MEMORY) + [True] * (MEMORY + 1) + [False] * (99 - MEMORY)
    assert passed(sound) == expected


def test_digital_silence_ends_with_the_smallest_sound() -> None:
    sound = np.zeros(60 * STEP, np.float32)
    sound[50 * STEP] = 1 / 32768
    assert passed(sound)[49:51] == [False, True]


def test_after_a_gap_nothing_is_known_of_the_room() -> None:
    gate = SoundGate(MEMORY)
    still = np.zeros(STEP, np.float32)
    while gate.passes(still):
        pass
    gate.reset()
    assert gate.passes(still)
