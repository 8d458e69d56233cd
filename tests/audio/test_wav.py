"""Sound files of every kind, and what is none."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio.wav import read_mono, write_wav
from appliance.errors import ApplianceError, BadInputError


def tone(rate: int, channels: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    one = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    return np.repeat(one[:, np.newaxis], channels, axis=1).astype(np.float32)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize(
    ("name", "width"),
    [("a.wav", "PCM_U8"), ("a.wav", "PCM_16"), ("a.wav", "PCM_24"), ("a.wav", "FLOAT"), ("a.flac", "PCM_16")],
)
def test_any_rate_width_and_channels(tmp_path: Path, rate: int, channels: int, name: str, width: str) -> None:
    soundfile.write(tmp_path / name, tone(rate, channels), rate, subtype=width)
    samples = read_mono(tmp_path / name, 16_000)
    assert samples.shape == (16_000,)
    assert samples.dtype == np.float32
    middle = slice(1000, 15_000)
    np.testing.assert_allclose(samples[middle], tone(16_000, 1)[middle, 0], atol=0.02)


def test_channels_are_averaged(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.column_stack([np.full(100, 0.5), np.zeros(100)]).astype(np.float32), 16_000)
    np.testing.assert_allclose(read_mono(tmp_path / "a.wav", 16_000), 0.25, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2])
def test_what_is_written_is_read(tmp_path: Path, channels: int) -> None:
    sound = tone(16_000, channels)
    write_wav(tmp_path / "a.wav", sound[:, 0] if channels == 1 else sound, 16_000)
    info = soundfile.info(tmp_path / "a.wav")
    assert (info.samplerate, info.channels, info.subtype) == (16_000, channels, "PCM_16")
    np.testing.assert_allclose(read_mono(tmp_path / "a.wav", 16_000), sound[:, 0], atol=1e-4)


def test_loud_samples_are_clipped(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.array([3, -3, 0], np.float32), 16_000)
    np.testing.assert_allclose(read_mono(tmp_path / "a.wav", 16_000), [1, -1, 0], atol=1e-4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read (No such file or directory)"),
        (b"", "is not a sound file"),
        (b"RIFF", "is not a sound file"),
        (b"this is a text" * 100, "is not a sound file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError) as caught:
        read_mono(path, 16_000)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_folder_is_not_a_sound(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="Is a directory"):
        read_mono(tmp_path, 16_000)


def test_a_file_without_samples_is_named(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.zeros(0, np.float32), 16_000)
    with pytest.raises(BadInputError, match="has no sound in it"):
        read_mono(tmp_path / "a.wav", 16_000)


def test_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"missing/a.wav: cannot be written \(No such file"):
        write_wav(tmp_path / "missing/a.wav", np.zeros(1, np.float32), 16_000)
