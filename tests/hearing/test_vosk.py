"""Vosk with its Korean model: a real voice, partial results, and damaged folders."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import vosk
from rapidfuzz.distance import Levenshtein

from appliance.errors import ApplianceError
from appliance.hearing.vosk import Vosk
from tests.hearing.conftest import Recordings

SENTENCE = "그는 이리저리 피하면서 길 한 옆으로 걸어갔다"
STEP = 1280


def characters(text: str) -> str:
    """Without spaces, which this model puts elsewhere."""
    return text.replace(" ", "")


def test_a_sentence_grows_while_it_is_spoken(vosk_ko: Vosk, recording: Recordings) -> None:
    sound = recording("read/sentence-ko.flac")
    recognition = vosk_ko.begin()
    texts = [recognition.feed(sound[begin : begin + STEP]) for begin in range(0, len(sound), STEP)]
    assert texts[0] == ""
    assert len(set(texts)) > 4
    transcript = recognition.finish()
    expected = characters(SENTENCE)
    assert Levenshtein.distance(characters(transcript.text), expected) / len(expected) < 0.35
    assert transcript.text.startswith(texts[-1][: len(texts[-1]) // 2])
    assert transcript.confidence is not None
    assert transcript.confidence > 0.8


def test_sentences_apart_are_joined(vosk_ko: Vosk, recording: Recordings) -> None:
    sound = recording("read/sentence-ko.flac")
    recognition = vosk_ko.begin()
    partials = [recognition.feed(piece) for piece in (sound, np.zeros(32_000, np.float32), sound)]
    transcript = recognition.finish()
    assert characters(transcript.text).count("하면서") == 2
    assert partials[1]
    assert transcript.text.startswith(partials[1])


def test_loud_samples_do_not_wrap_around(vosk_ko: Vosk, recording: Recordings) -> None:
    sound = recording("read/sentence-ko.flac")
    recognition = vosk_ko.begin()
    recognition.feed(sound / np.abs(sound).max() * np.float32(1.2))
    assert "하면서" in characters(recognition.finish().text)


def test_marks_that_are_no_words_are_left_out(vosk_ko: Vosk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vosk.KaldiRecognizer, "PartialResult", lambda _: '{"partial": "[1] 지금 [12]"}')
    assert vosk_ko.begin().feed(np.zeros(1600, np.float32)) == "지금"


def test_it_writes_nothing_to_the_terminal(vosk_ko: Vosk, capfd: pytest.CaptureFixture[str]) -> None:
    recognition = vosk_ko.begin()
    recognition.feed(np.zeros(16_000, np.float32))
    recognition.finish()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "name", ["am/final.mdl", "conf/mfcc.conf", "conf/model.conf", "graph/HCLr.fst", "graph/Gr.fst"]
)
def test_a_missing_or_empty_file_is_named(vosk_ko_dir: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(vosk_ko_dir, folder, copy_function=lambda source, to: Path(to).symlink_to(source))
    (folder / name).unlink()
    for prepare in (None, (folder / name).touch):
        if prepare is not None:
            prepare()
        with pytest.raises(ApplianceError, match="appliance models verify") as caught:
            Vosk(folder, "ko")
        assert caught.value.place == str(folder / name)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match="stt/vosk-xx"):
        Vosk(tmp_path / "stt/vosk-xx", "xx")


def test_a_broken_model_is_named(vosk_ko_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(vosk_ko_dir, folder, copy_function=lambda source, to: Path(to).symlink_to(source))
    acoustic = folder / "am/final.mdl"
    content = acoustic.read_bytes()
    acoustic.unlink()
    acoustic.write_bytes(content[: len(content) // 2])
    with pytest.raises(ApplianceError, match="not a complete Vosk model") as caught:
        Vosk(folder, "ko")
    assert caught.value.place == str(folder)
