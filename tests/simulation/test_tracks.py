from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import ApplianceError
from appliance.simulation.tracks import Tracks, outline


@pytest.mark.parametrize("blocks", [0, 1, 100, 253])
def test_both_tracks_are_in_the_file_to_the_last_sample(tmp_path: Path, blocks: int) -> None:
    values = np.random.default_rng(0).integers(-32768, 32768, (blocks * 160, 2), np.int16)
    samples = (values / 32768).astype(np.float32)
    with Tracks(tmp_path / "room.wav") as tracks:
        for block in np.split(samples, blocks) if blocks else []:
            tracks.add(block[:, 0], block[:, 1])
    read, rate = soundfile.read(tmp_path / "room.wav", dtype="int16", always_2d=True)
    assert rate == 16_000
    assert np.array_equal(read, values)


def test_what_is_too_loud_is_clipped(tmp_path: Path) -> None:
    with Tracks(tmp_path / "room.wav") as tracks:
        tracks.add(np.array([1.0, 3.0], np.float32), np.array([-1.0, -3.0], np.float32))
    read, _ = soundfile.read(tmp_path / "room.wav", dtype="int16")
    assert read.tolist() == [[32767, -32768], [32767, -32768]]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"room\.wav: cannot be written"):
        Tracks(tmp_path / "none" / "room.wav")


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(1, 60))
def test_an_outline_has_the_extremes_of_all_samples(
    tmp_path_factory: pytest.TempPathFactory, frames: int, columns: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "outline.wav"
    samples = np.random.default_rng(frames).uniform(-1, 1, (frames, 2)).astype(np.float32)
    soundfile.write(path, samples, 16_000, "FLOAT")
    found = outline(path, columns)
    width = round(found.step * 16_000)
    assert found.seconds == frames / 16_000
    assert found.lowest.shape == found.highest.shape == (2, -(-frames // width))
    assert found.lowest.shape[1] <= columns
    for column in range(found.lowest.shape[1]):
        part = samples[column * width : (column + 1) * width]
        assert np.array_equal(found.lowest[:, column], part.min(axis=0))
        assert np.array_equal(found.highest[:, column], part.max(axis=0))
