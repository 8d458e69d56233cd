"""What is taken for silence, and what never is."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.hearing.utterance import is_silence
from tests.hearing.conftest import Recordings


def white(seconds: float, seed: int = 0) -> Samples:
    return np.random.default_rng(seed).standard_normal(int(seconds * HEARING_RATE)).astype(np.float32)


def pink(seconds: float, seed: int = 0) -> Samples:
    spectrum = np.fft.rfft(white(seconds, seed))
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    noise: Samples = np.fft.irfft(spectrum, int(seconds * HEARING_RATE)).astype(np.float32)
    noise /= noise.std()
    return noise


@given(st.integers(0, 5 * HEARING_RATE))
def test_no_sound_is_silence(length: int) -> None:
    assert is_silence(np.zeros(length, np.float32))


@given(st.sampled_from([white, pink]), st.floats(0.1, 5), st.floats(-90, -10), st.integers(0, 99))
def test_steady_noise_is_silence_however_loud(
    make: Callable[[float, int], Samples], seconds: float, decibels: float, seed: int
) -> None:
    assert is_silence(np.clip(make(seconds, seed) * np.float32(10 ** (decibels / 20)), -1, 1))


@given(st.floats(30, 400), st.floats(0, 1))
def test_hum_is_silence(frequency: float, level: float) -> None:
    time = np.arange(2 * HEARING_RATE) / HEARING_RATE
    assert is_silence((level * np.sin(2 * np.pi * frequency * time)).astype(np.float32))


def test_a_fragment_is_silence() -> None:
    fragment = white(0.09) * np.linspace(0, 1, int(0.09 * HEARING_RATE), dtype=np.float32)
    assert is_silence(fragment)


@pytest.mark.parametrize("gain", [1.0, 0.05])
def test_no_real_voice_is_silence(speech: Path, recording: Recordings, gain: float) -> None:
    names = sorted(path.relative_to(speech).as_posix() for path in speech.glob("[cwr]*/*.flac"))
    assert [name for name in names if is_silence(recording(name) * np.float32(gain))] == []


def test_voices_5_db_above_a_kitchen_are_not_silence(speech: Path, recording: Recordings) -> None:
    kitchen = recording("noise/kitchen.flac")
    for path in sorted(speech.glob("commands/*.flac"))[::4]:
        voice = recording(f"commands/{path.name}")
        noise = kitchen[: len(voice)] * (np.std(voice) / np.std(kitchen[: len(voice)]) * 10 ** (-5 / 20))
        assert not is_silence(voice + noise), path.name


def test_a_word_in_a_long_silence_is_heard(recording: Recordings) -> None:
    word = recording("wake/alexa-000.flac")
    quiet = white(14) * np.float32(3e-4)
    assert not is_silence(np.concatenate([quiet, word, quiet]))
