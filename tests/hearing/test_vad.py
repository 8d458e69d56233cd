"""Voice activity with the real model."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.core import endpoint
from appliance.errors import ApplianceError
from appliance.hearing.vad import WINDOW, VoiceActivity


@pytest.fixture(scope="module")
def voice(models_dir: Path) -> VoiceActivity:
    return VoiceActivity(models_dir / "models")


def noise(seconds: float) -> Samples:
    random = np.random.default_rng(0)
    return random.normal(scale=0.01, size=round(seconds * HEARING_RATE)).astype(np.float32)


def test_a_window_is_what_the_endpoint_takes_it_for() -> None:
    assert WINDOW / HEARING_RATE == endpoint.WINDOW


def test_speech_is_voice_and_noise_is_not(voice: VoiceActivity, speech: Path) -> None:
    said, _ = soundfile.read(speech / "read/librispeech-quilter-en.flac", dtype="float32")
    voice.reset()
    assert max(voice.feed(noise(4))) < 0.3
    probabilities = voice.feed(said)
    assert np.mean(np.array(probabilities) > 0.5) > 0.7


def test_a_kitchen_is_not_voice(voice: VoiceActivity, speech: Path) -> None:
    kitchen, _ = soundfile.read(speech / "noise/kitchen.flac", dtype="float32")
    voice.reset()
    assert np.mean(np.array(voice.feed(kitchen)) > 0.5) < 0.02


@given(sizes=st.lists(st.integers(0, 1500), max_size=20))
@hypothesis_settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_pieces_it_is_fed_in_make_no_difference(voice: VoiceActivity, sizes: list[int]) -> None:
    sound = noise(sum(sizes) / HEARING_RATE)
    voice.reset()
    at_once = voice.feed(sound)
    assert len(at_once) == sum(sizes) // WINDOW
    voice.reset()
    pieces = np.split(sound, np.cumsum(sizes)[:-1]) if sizes else []
    assert [probability for piece in pieces for probability in voice.feed(piece)] == at_once


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"silero\.onnx"):
        VoiceActivity(tmp_path)
