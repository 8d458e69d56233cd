"""The real voice: it speaks, at one loudness, and says what is wrong with its files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ApplianceError, BadInputError
from appliance.speaking.level import LEAD, PEAK
from appliance.speaking.piper import PiperVoice, load_voice

NAME = "en_US-joe-medium"


@pytest.fixture(scope="module")
def voice(models_dir: Path) -> PiperVoice:
    return load_voice(models_dir / "models", NAME)


@pytest.fixture
def installed(models_dir: Path, tmp_path: Path) -> Path:
    """A folder of models that a test may spoil; the large file is a link."""
    source = models_dir / "models/voice"
    (tmp_path / "voice").mkdir()
    (tmp_path / "voice" / f"{NAME}.onnx").symlink_to(source / f"{NAME}.onnx")
    shutil.copy(source / f"{NAME}.onnx.json", tmp_path / "voice")
    return tmp_path


def test_is_what_its_description_says(voice: PiperVoice) -> None:
    assert (voice.name, voice.language, voice.rate) == (NAME, "en", 22_050)


def test_speaks_soon_and_without_clipping(voice: PiperVoice) -> None:
    (speech,) = voice.synthesise("It's a quarter past three.")
    assert speech.dtype == np.float32
    assert speech.ndim == 1
    assert 1 < len(speech) / voice.rate < 3
    size = np.abs(speech)
    assert 0.2 < size.max() <= PEAK + 1e-6
    assert np.flatnonzero(size > 0.1 * size.max())[0] < (LEAD + 0.05) * voice.rate


def test_one_piece_per_sentence_with_a_pause_after_it(voice: PiperVoice) -> None:
    pieces = list(voice.synthesise("It's noon. Stop!"))
    assert len(pieces) == 2
    for piece in pieces:
        last = np.flatnonzero(np.abs(piece) > 0.02 * np.abs(piece).max())[-1]
        assert len(piece) - last > 0.05 * voice.rate


@pytest.mark.parametrize("text", ["", " ", "…", "?", "😀", "\0", "[[", "\ud800"])
def test_nothing_to_say_gives_no_samples(voice: PiperVoice, text: str) -> None:
    assert list(voice.synthesise(text)) == []


@pytest.mark.parametrize(
    "text", ["[[hello]] there", "a\0b", "日本語", "x" * 500, "\ud800 hi", "It’s “fine” — 20 °C & 50 %"]
)
def test_odd_text_is_no_danger(voice: PiperVoice, text: str) -> None:
    assert list(voice.synthesise(text))


def test_brackets_are_not_phonemes(voice: PiperVoice) -> None:
    quoted, plain = (
        sum(map(len, voice.synthesise(text))) for text in ("[[hello there everybody]]", "hello there everybody")
    )
    assert quoted == pytest.approx(plain, rel=0.25)


def test_an_unknown_voice_is_named_with_the_installed_ones(installed: Path) -> None:
    with pytest.raises(BadInputError, match=rf"'nobody'.*Allowed: {NAME}\."):
        load_voice(installed, "nobody")
    with pytest.raises(BadInputError):
        load_voice(installed, f"../voice/{NAME}")


def test_a_missing_voice_is_named_when_none_is_installed(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=rf"{NAME}\.onnx\.json: there is no such file.*appliance models verify"):
        load_voice(tmp_path, NAME)


def remove_model(folder: Path) -> None:
    (folder / f"{NAME}.onnx").unlink()


def truncate_model(folder: Path) -> None:
    model = folder / f"{NAME}.onnx"
    with model.open("rb") as file:
        head = file.read(100_000)
    model.unlink()
    model.write_bytes(head)


def another_model(folder: Path) -> None:
    model = folder / f"{NAME}.onnx"
    other = model.resolve().parents[1] / "vad/silero.onnx"
    model.unlink()
    model.symlink_to(other)


@pytest.mark.parametrize("spoil", [remove_model, truncate_model, another_model])
def test_a_bad_model_is_named(installed: Path, spoil: Callable[[Path], None]) -> None:
    spoil(installed / "voice")
    with pytest.raises(ApplianceError, match=rf"{NAME}\.onnx: .*appliance models verify"):
        load_voice(installed, NAME)


@pytest.mark.parametrize(
    "spoil",
    [
        None,
        lambda description: b"",
        lambda description: b"\xff\xfe",
        lambda description: b"[]",
        lambda description: description[:1000],
        lambda description: description.replace(b'"sample_rate"', b'"rate"'),
        lambda description: description.replace(b'"en-us"', b'"zz-zz"'),
        lambda description: description.replace(b'"phoneme_type": "espeak"', b'"phoneme_type": "magic"'),
        lambda description: description.replace(b'"num_speakers": 1', b'"num_speakers": 4'),
    ],
    ids=["missing", "empty", "binary", "a list", "truncated", "no rate", "no such language", "magic", "other model's"],
)
def test_a_bad_description_is_named(installed: Path, spoil: Callable[[bytes], bytes] | None) -> None:
    description = installed / "voice" / f"{NAME}.onnx.json"
    if spoil:
        description.write_bytes(spoil(description.read_bytes()))
    else:
        description.unlink()
    with pytest.raises(ApplianceError, match=rf"{NAME}\.onnx\.json: .*appliance models verify"):
        load_voice(installed, NAME)
