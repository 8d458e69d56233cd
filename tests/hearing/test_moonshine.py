"""Moonshine on real voices, on what is no speech, and on damaged files."""

import json
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError
from appliance.hearing.moonshine import Moonshine
from appliance.hearing.stt import Transcript
from tests.hearing.conftest import Recordings

QUILTER = "Mr. Quilter is the apostle of the middle classes, and we are glad to welcome his gospel."
SPELLINGS = {"8": "eight", "12": "twelve", "16": "sixteen", "20": "twenty", "oz": "ounce"}
FILES = ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")


def hear(engine: Moonshine, samples: Samples) -> Transcript:
    recognition = engine.begin()
    recognition.feed(samples)
    return recognition.finish()


def words(text: str) -> str:
    return " ".join(SPELLINGS.get(word, word) for word in re.findall(r"[a-z']+|\d+", text.lower()))


def test_a_sentence(moonshine: Moonshine, recording: Recordings) -> None:
    transcript = hear(moonshine, recording("read/librispeech-quilter-en.flac"))
    assert transcript.text == QUILTER
    assert transcript.confidence is not None
    assert transcript.confidence > 0.9


def test_orders(moonshine: Moonshine, speech: Path, recording: Recordings) -> None:
    orders = json.loads((speech / "commands/slots.json").read_text())
    found = []
    for name in list(orders)[::6]:
        heard = words(hear(moonshine, recording(f"commands/{name}")).text)
        assert heard, name
        found += [f" {words(slot)} " in f" {heard} " for slot in orders[name].values()]
    assert np.mean(found) > 0.75


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 3 * HEARING_RATE), max_size=20).map(sorted))
def test_how_the_sound_is_cut_does_not_matter(moonshine: Moonshine, recording: Recordings, cuts: list[int]) -> None:
    sound = recording("wake/alexa-000.flac")
    recognition = moonshine.begin()
    for chunk in np.split(sound, cuts):
        recognition.feed(chunk)
    assert recognition.finish() == hear(moonshine, sound)


def test_the_samples_may_be_overwritten_after_feeding(moonshine: Moonshine, recording: Recordings) -> None:
    sound = recording("wake/alexa-000.flac")
    expected = hear(moonshine, sound)
    recognition = moonshine.begin()
    recognition.feed(sound)
    sound.fill(0)
    assert recognition.finish() == expected


@pytest.mark.parametrize("order", ["004", "020", "107"])
def test_speech_that_breaks_off_within_a_word_does_not_loop(
    moonshine: Moonshine, recording: Recordings, order: str
) -> None:
    sound = recording(f"commands/order-{order}.flac")
    speaking = np.flatnonzero(np.abs(sound) > 0.1 * np.abs(sound).max())
    begin = max(0, speaking[0] - HEARING_RATE * 3 // 10)
    heard = words(hear(moonshine, sound[begin : begin + 2 * HEARING_RATE]).text).split()
    assert len(heard) >= 4
    assert heard[-1] != heard[-2]


def test_a_long_speech_is_heard_to_its_end(moonshine: Moonshine, recording: Recordings) -> None:
    sentence = recording("read/librispeech-quilter-en.flac")
    transcript = hear(moonshine, np.tile(sentence, 5))
    assert words(transcript.text).count("the apostle of the middle classes") == 5
    assert words(transcript.text).endswith("welcome his gospel")


def test_an_endless_speech_is_neither_heard_nor_kept_after_a_minute(
    moonshine: Moonshine, recording: Recordings
) -> None:
    sentence = recording("read/librispeech-quilter-en.flac")
    recognition = moonshine.begin()
    recognition.feed(np.zeros(60 * HEARING_RATE, np.float32))
    tracemalloc.start()
    for _ in range(1000):
        recognition.feed(sentence)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10_000
    assert recognition.finish() == Transcript("")


@pytest.mark.parametrize("begin", [9, 18, 30, 44])
def test_a_kitchen_ends_in_time_and_gives_no_endless_text(
    moonshine: Moonshine, recording: Recordings, begin: int
) -> None:
    noise = recording("noise/kitchen.flac")[begin * HEARING_RATE : (begin + 4) * HEARING_RATE]
    assert len(hear(moonshine, noise).text.split()) <= 4 * 6.5 + 8


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.unlink(), id="missing"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1000]), id="truncated"),
        pytest.param(lambda path: path.write_bytes(b"<html>not found</html>" * 99), id="something else"),
    ],
)
def test_a_damaged_file_is_named(models_dir: Path, tmp_path: Path, name: str, damage: Callable[[Path], object]) -> None:
    for each in FILES:
        shutil.copy(models_dir / "models/stt/moonshine-tiny-en" / each, tmp_path)
    damage(tmp_path / name)
    with pytest.raises(ApplianceError, match="appliance models verify") as caught:
        Moonshine(tmp_path)
    assert caught.value.place == str(tmp_path / name)


def test_a_model_in_place_of_another_is_named(models_dir: Path, tmp_path: Path) -> None:
    for each in FILES:
        shutil.copy(models_dir / "models/stt/moonshine-tiny-en" / each, tmp_path)
    shutil.copy(tmp_path / FILES[1], tmp_path / FILES[0])
    with pytest.raises(ApplianceError, match=r"encoder_model.*another model.*input_values"):
        Moonshine(tmp_path)
