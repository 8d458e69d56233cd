from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.errors import BadInputError
from appliance.simulation import recording


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
@pytest.mark.parametrize(
    ("name", "width"), [("a.wav", "PCM_U8"), ("a.wav", "PCM_24"), ("a.wav", "FLOAT"), ("a.flac", "PCM_16")]
)
@pytest.mark.parametrize("channels", [1, 2])
def test_any_rate_width_and_number_of_channels_sounds_the_same(
    tmp_path: Path, rate: int, name: str, width: str, channels: int
) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    soundfile.write(tmp_path / name, np.column_stack([tone] * channels), rate, width)
    samples = recording.load(tmp_path / name)
    assert samples.dtype == np.float32
    assert len(samples) == 16_000
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    inner = slice(500, -500)  # a resampler has to invent what lies beyond the ends
    assert np.abs(samples[inner] - expected[inner]).max() < 0.01


def test_channels_are_averaged(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.tile([0.5, 0.25], (100, 1)), 16_000, "FLOAT")
    assert recording.load(tmp_path / "a.wav") == pytest.approx(0.375)


def _text(path: Path) -> None:
    path.write_text("not a sound")


def _empty(path: Path) -> None:
    soundfile.write(path, np.zeros(0), 16_000)


def _odd_rate(path: Path) -> None:
    soundfile.write(path, np.zeros(100), 500)


def _endless(path: Path) -> None:
    soundfile.write(path, np.zeros(1_000 * 3_601, np.int16), 1_000)


def _no_numbers(path: Path) -> None:
    soundfile.write(path, np.array([0.0, np.nan]), 16_000, "FLOAT")


def _truncated(path: Path) -> None:
    soundfile.write(path, np.random.default_rng(0).uniform(-1, 1, 16_000), 16_000, format="FLAC")
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "no such file"),
        (Path.mkdir, "no such file"),
        (_text, "cannot be read as sound"),
        (_empty, "holds no sound"),
        (_odd_rate, "500 samples per second; allowed: 1000 to 768000"),
        (_endless, "lasts 3601 s; allowed: at most 3600 s"),
        (_no_numbers, "damaged"),
        (_truncated, "damaged"),
    ],
)
def test_what_is_no_sound_is_named(tmp_path: Path, make: object, why: str) -> None:
    assert callable(make)
    path = tmp_path / "a.wav"
    make(path)
    with pytest.raises(BadInputError, match=why) as error:
        recording.load(path)
    assert str(path) in str(error.value)


def test_a_name_that_cannot_be_one_is_no_file() -> None:
    assert recording.problem_of(Path("a" * 10_000))
    assert recording.problem_of(Path("a\0b"))
