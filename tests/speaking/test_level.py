"""Loudness, peaks and the silence in front."""

import numpy as np
import pytest

from appliance.audio.devices import Samples
from appliance.speaking.level import LEAD, LOUDNESS, PEAK, level, trim_lead

RATE = 22_050


def tone(amplitude: float, seconds: float = 0.5) -> Samples:
    samples: Samples = amplitude * np.sin(np.arange(round(seconds * RATE), dtype=np.float32) * np.float32(0.1))
    return samples


@pytest.mark.parametrize("amplitude", [1e-4, 0.1, 1.0, 3.0])
def test_everything_gets_as_loud(amplitude: float) -> None:
    levelled = level(tone(amplitude))
    assert levelled.dtype == np.float32
    assert np.sqrt(np.mean(levelled**2)) == pytest.approx(LOUDNESS, rel=0.05)


def test_pauses_do_not_count() -> None:
    with_pause = np.concatenate([tone(0.3), np.zeros(5 * RATE, np.float32)])
    assert np.abs(level(with_pause)).max() == pytest.approx(np.abs(level(tone(0.3))).max())


def test_a_peak_is_never_clipped() -> None:
    click = tone(0.01)
    click[1000] = 0.1
    levelled = level(click)
    assert np.abs(levelled).max() == pytest.approx(PEAK)
    assert np.allclose(levelled / levelled.max(), click / click.max(), atol=1e-6)


@pytest.mark.parametrize("silence", [0.0, 0.01, 0.3])
def test_speech_begins_soon(silence: float) -> None:
    speech = tone(0.3)
    trimmed = trim_lead(np.concatenate([np.zeros(round(silence * RATE), np.float32), speech]), RATE)
    assert len(trimmed) - len(speech) == pytest.approx(min(silence, LEAD) * RATE, abs=2)


def test_silence_stays_silence() -> None:
    for count in (0, 100):
        silence = np.zeros(count, np.float32)
        assert np.array_equal(trim_lead(level(silence), RATE), silence)
