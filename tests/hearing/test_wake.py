"""Wake words with the real models, on real recordings and on the installed voice."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from piper import PiperVoice

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError, BadInputError
from appliance.hearing.wake import STEP, Detection, WakeWords

WORDS = {"alexa": 0.5, "hey_jarvis": 0.5, "hey_mycroft": 0.5}


@pytest.fixture(scope="module")
def wake(models_dir: Path) -> WakeWords:
    return WakeWords(models_dir / "models", WORDS)


@pytest.fixture(scope="module")
def piper(models_dir: Path) -> PiperVoice:
    return PiperVoice.load(models_dir / "models/voice/en_US-joe-medium.onnx")


def say(piper: PiperVoice, text: str) -> Samples:
    spoken = np.concatenate([chunk.audio_float_array for chunk in piper.synthesize(text)])
    resampled: Samples = soxr.resample(spoken, piper.config.sample_rate, HEARING_RATE).astype(np.float32)
    return resampled


def quiet(seconds: float) -> Samples:
    random = np.random.default_rng(0)
    return random.normal(scale=1e-4, size=round(seconds * HEARING_RATE)).astype(np.float32)


def heard_anew(wake: WakeWords, *sounds: Samples) -> list[Detection]:
    wake.reset()
    return wake.feed(np.concatenate(sounds))


def test_real_people_are_heard_and_each_word_wakes_once(models_dir: Path, speech: Path) -> None:
    wake = WakeWords(models_dir / "models", {"alexa": 0.5}, refractory=0)
    recordings = sorted(speech.glob("wake/*.flac"))[::4]
    found = [heard_anew(wake, quiet(1), soundfile.read(path, dtype="float32")[0], quiet(1.5)) for path in recordings]
    assert max(map(len, found)) == 1
    assert sum(map(bool, found)) >= 0.95 * len(found)


def test_other_speech_and_a_kitchen_do_not_wake(wake: WakeWords, speech: Path) -> None:
    for path in [*sorted(speech.glob("commands/*.flac"))[::25], *sorted(speech.glob("read/*.flac"))]:
        assert heard_anew(wake, soundfile.read(path, dtype="float32")[0]) == []
    assert heard_anew(wake, soundfile.read(speech / "noise/kitchen.flac", dtype="float32")[0]) == []


@pytest.mark.parametrize(
    ("text", "word"), [("Alexa", "alexa"), ("Hey Jarvis", "hey_jarvis"), ("Hey Mycroft", "hey_mycroft")]
)
def test_several_words_are_listened_for_at_once(wake: WakeWords, piper: PiperVoice, text: str, word: str) -> None:
    (detection,) = heard_anew(wake, quiet(1), say(piper, text), quiet(1))
    assert detection.word == word
    assert detection.score >= 0.5


def test_a_model_of_several_phrases_hears_each(models_dir: Path, piper: PiperVoice) -> None:
    wake = WakeWords(models_dir / "models", {"timer": 0.3})
    assert heard_anew(wake, quiet(1), say(piper, "Set a ten minute timer"), quiet(1))
    assert not heard_anew(wake, quiet(1), say(piper, "What time is it in Paris?"), quiet(1))


def test_a_word_is_heard_from_the_very_start(wake: WakeWords, piper: PiperVoice) -> None:
    assert len(heard_anew(wake, say(piper, "Alexa"), quiet(1))) == 1


def test_starting_in_the_middle_of_speech_does_not_wake(wake: WakeWords, speech: Path) -> None:
    said, _ = soundfile.read(speech / "read/librispeech-quilter-en.flac", dtype="float32")
    for start in range(0, len(said) - HEARING_RATE, HEARING_RATE // 2):
        assert heard_anew(wake, said[start : start + HEARING_RATE]) == []


def test_the_same_word_again_wakes_again(wake: WakeWords, piper: PiperVoice) -> None:
    word = np.concatenate([say(piper, "Alexa"), quiet(1)])
    assert len(heard_anew(wake, quiet(1), word, word)) == 2


def test_nothing_wakes_in_the_refractory_time(models_dir: Path, piper: PiperVoice) -> None:
    said = [quiet(1), say(piper, "Alexa"), quiet(0.3), say(piper, "Hey Jarvis"), quiet(1)]
    models = models_dir / "models"
    assert [found.word for found in heard_anew(WakeWords(models, WORDS, 0), *said)] == ["alexa", "hey_jarvis"]
    assert [found.word for found in heard_anew(WakeWords(models, WORDS, 5), *said)] == ["alexa"]


def test_each_word_has_its_own_threshold(models_dir: Path, piper: PiperVoice) -> None:
    wake = WakeWords(models_dir / "models", {"alexa": 1.0, "hey_jarvis": 0.5})
    said = [quiet(1), say(piper, "Alexa"), quiet(1), say(piper, "Hey Jarvis"), quiet(1)]
    assert [found.word for found in heard_anew(wake, *said)] == ["hey_jarvis"]


def test_the_last_score_of_each_word_can_be_seen(wake: WakeWords) -> None:
    heard_anew(wake, quiet(1))
    assert wake.scores.keys() == WORDS.keys()
    assert max(wake.scores.values()) < min(WORDS.values())


def test_the_pieces_it_is_fed_in_make_no_difference(wake: WakeWords, piper: PiperVoice) -> None:
    sound = np.concatenate([quiet(1), say(piper, "Alexa"), quiet(1), say(piper, "Hey Mycroft"), quiet(1)])
    at_once = heard_anew(wake, sound)
    assert len(at_once) == 2
    for size in (7, 320, 1279, 5000):
        wake.reset()
        starts = range(0, len(sound), size)
        pieces = [(start, wake.feed(sound[start : start + size])) for start in starts]
        found = [
            Detection(detection.word, detection.score, start + detection.offset)
            for start, detections in pieces
            for detection in detections
        ]
        assert found == at_once


def test_the_offset_is_the_end_of_the_step(wake: WakeWords, piper: PiperVoice) -> None:
    (detection,) = heard_anew(wake, quiet(1), say(piper, "Alexa"), quiet(1))
    assert detection.offset % STEP == 0
    assert HEARING_RATE < detection.offset < 2 * HEARING_RATE


def test_an_unknown_word_is_answered_with_those_that_are_there(models_dir: Path) -> None:
    with pytest.raises(BadInputError) as caught:
        WakeWords(models_dir / "models", {"alexia": 0.5})
    message = str(caught.value)
    assert "'alexia'" in message
    assert "alexa, hey_jarvis, hey_mycroft" in message
    assert "Did you mean 'alexa'?" in message
    assert "melspectrogram" not in message


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"melspectrogram\.onnx"):
        WakeWords(tmp_path, {"alexa": 0.5})
