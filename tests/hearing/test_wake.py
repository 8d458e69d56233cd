"""Wake words with the real models, on real recordings and on the installed voice."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from piper import PiperVoice

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError, BadInputError
from appliance.hearing.gate import SoundGate
from appliance.hearing.wake import STEP, Detection, WakeWords, Word, load_word

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


def likely(wake: WakeWords, *sounds: Samples) -> list[Detection]:
    return [found for found in heard_anew(wake, *sounds) if found.likely]


def test_real_people_are_heard(models_dir: Path, speech: Path) -> None:
    wake = WakeWords(models_dir / "models", {"alexa": 0.5})
    recordings = sorted(speech.glob("wake/*.flac"))[::4]
    found = [heard_anew(wake, quiet(1), soundfile.read(path, dtype="float32")[0], quiet(1.5)) for path in recordings]
    assert sum(map(bool, found)) >= 0.97 * len(found)
    clear = [[each for each in detections if each.clear] for detections in found]
    assert max(map(len, clear)) == 1
    assert sum(map(bool, clear)) >= 0.75 * len(found)


def test_other_speech_and_a_kitchen_are_at_most_worth_a_second_look(wake: WakeWords, speech: Path) -> None:
    for path in [*sorted(speech.glob("commands/*.flac"))[::25], *sorted(speech.glob("read/*.flac"))]:
        assert likely(wake, soundfile.read(path, dtype="float32")[0]) == []
    assert likely(wake, soundfile.read(speech / "noise/kitchen.flac", dtype="float32")[0]) == []


@pytest.mark.parametrize(
    ("text", "word"), [("Alexa", "alexa"), ("Hey Jarvis", "hey_jarvis"), ("Hey Mycroft", "hey_mycroft")]
)
def test_several_words_are_listened_for_at_once(wake: WakeWords, piper: PiperVoice, text: str, word: str) -> None:
    found = heard_anew(wake, quiet(1), say(piper, text), quiet(1))
    assert {each.word for each in found if each.likely} == {word}


def test_a_model_of_several_phrases_hears_each(models_dir: Path, piper: PiperVoice) -> None:
    wake = WakeWords(models_dir / "models", {"timer": 0.3})
    assert likely(wake, quiet(1), say(piper, "Set a ten minute timer"), quiet(1))
    assert not likely(wake, quiet(1), say(piper, "What time is it in Paris?"), quiet(1))


def test_a_word_is_heard_from_the_very_start(wake: WakeWords, piper: PiperVoice) -> None:
    assert len(heard_anew(wake, say(piper, "Alexa"), quiet(1))) == 1


def test_starting_in_the_middle_of_speech_does_not_wake(wake: WakeWords, speech: Path) -> None:
    said, _ = soundfile.read(speech / "read/librispeech-quilter-en.flac", dtype="float32")
    for start in range(0, len(said) - HEARING_RATE, HEARING_RATE // 2):
        assert heard_anew(wake, said[start : start + HEARING_RATE]) == []


def test_the_same_word_again_wakes_again(wake: WakeWords, piper: PiperVoice) -> None:
    word = np.concatenate([say(piper, "Alexa"), quiet(1)])
    assert len(heard_anew(wake, quiet(1), word, word)) == 2


def test_after_a_clear_one_nothing_is_detected_in_the_refractory_time(models_dir: Path, speech: Path) -> None:
    word = soundfile.read(min(speech.glob("wake/*.flac")), dtype="float32")[0]
    said = [quiet(1), word, quiet(0.5), word, quiet(1)]
    models = models_dir / "models"
    assert [found.clear for found in heard_anew(WakeWords(models, WORDS, 0), *said)] == [True, True]
    assert [found.clear for found in heard_anew(WakeWords(models, WORDS, 9), *said)] == [True]


def test_each_word_has_its_own_threshold(models_dir: Path, piper: PiperVoice) -> None:
    wake = WakeWords(models_dir / "models", {"timer": 0.99, "weather": 0.05})
    said = [quiet(1), say(piper, "Set a timer"), quiet(1), say(piper, "What is the weather"), quiet(1)]
    assert "weather" in [found.word for found in likely(wake, *said)]
    assert "timer" not in [found.word for found in likely(wake, *said)]


Scored = Callable[..., list[tuple[float, int, bool, bool]]]


@pytest.fixture
def scored(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Scored:
    """What is detected when a word with the threshold 0.5 has these scores, one a step; offsets in steps."""
    wake = WakeWords(models_dir / "models", {"alexa": 0.5}, refractory=0)

    def detected(*scores: float, threshold: float = 0.0) -> list[tuple[float, int, bool, bool]]:
        steps = iter(scores)
        monkeypatch.setattr(Word, "score", lambda *_: next(steps))
        wake.reset()
        found = wake.feed(np.zeros(len(scores) * STEP, np.float32), threshold)
        return [(each.score, each.offset // STEP, each.clear, each.likely) for each in found]

    return detected


REST = 6 * (0.0,)


def test_what_becomes_clear_counts_at_once_from_when_it_reached_its_threshold(scored: Scored) -> None:
    assert scored(0.0, 0.2, 0.7, 0.9995, 0.9995, 0.3) == [(0.9995, 3, True, True)]
    assert scored(0.0, 0.9995, *REST, 0.9995) == [(0.9995, 2, True, True), (0.9995, 9, True, True)]


def test_what_is_not_clear_after_a_moment_is_worth_a_second_look(scored: Scored) -> None:
    assert scored(0.0, 0.2, 0.7, 0.8, 0.1, 0.0, 0.0) == [(0.8, 3, False, True)]
    assert scored(0.0, 0.2, 0.4, 0.3, 0.1, 0.0, 0.0) == [(0.4, 2, False, False)]
    assert scored(0.0, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09) == []


def test_what_rises_further_is_detected_again(scored: Scored) -> None:
    low = (0.2, 0.2, 0.2, 0.2, 0.2)
    assert scored(0.0, *low, 0.7, *low, 0.9995, 0.9995) == [
        (0.2, 2, False, False),
        (0.7, 7, False, True),
        (0.9995, 13, True, True),
    ]
    assert scored(0.0, *low, 0.0, *low) == [(0.2, 2, False, False)]
    assert len(scored(0.0, *low, *REST, *low)) == 2


def test_while_something_is_played_a_word_takes_more(scored: Scored) -> None:
    assert scored(0.0, 0.7, 0.0, 0.0, 0.0, 0.0, threshold=0.8) == [(0.7, 2, False, False)]
    assert scored(0.0, 0.15, 0.0, 0.0, 0.0, 0.0, threshold=0.8) == []
    assert scored(0.0, 0.7, 0.0, 0.0, 0.0, 0.0, threshold=0.1) == [(0.7, 2, False, True)]


def test_the_last_score_of_each_word_can_be_seen(wake: WakeWords) -> None:
    heard_anew(wake, quiet(1))
    assert wake.scores.keys() == WORDS.keys()
    assert max(wake.scores.values()) < min(WORDS.values())


def test_a_file_of_ones_own_is_called_by_its_stem(models_dir: Path, tmp_path: Path, piper: PiperVoice) -> None:
    own = tmp_path / "computer.onnx"
    own.write_bytes((models_dir / "models/wake/alexa.onnx").read_bytes())
    wake = WakeWords(models_dir / "models", {str(own): 0.5})
    assert {found.word for found in likely(wake, quiet(1), say(piper, "Alexa"), quiet(1))} == {"computer"}


@pytest.mark.parametrize(
    ("name", "found"), [("vad/silero.onnx", "takes and gives"), ("voice/en_US-joe-medium.onnx.json", "not a complete")]
)
def test_another_file_is_no_wake_word(models_dir: Path, name: str, found: str) -> None:
    with pytest.raises(BadInputError, match=found) as caught:
        load_word(models_dir / "models" / name)
    assert str(models_dir / "models" / name) in str(caught.value)
    assert "[1, N, 96]" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"computer\.onnx.*No such file"):
        load_word(tmp_path / "computer.onnx")


def scenes(speech: Path) -> list[Samples]:
    """A room that is quiet for long enough not to be listened to, and then a word: silence, hiss, a fan, a kitchen."""
    kitchen = soundfile.read(speech / "noise/kitchen.flac", dtype="float32")[0]
    rooms = (np.zeros(8 * HEARING_RATE, np.float32), quiet(8), 30 * quiet(8), kitchen[: 8 * HEARING_RATE] / 3)
    words = [soundfile.read(path, dtype="float32")[0] for path in sorted(speech.glob("wake/*.flac"))[3::40]]
    found = []
    for room, word in product(rooms, words):
        sound = room.copy()
        sound[6 * HEARING_RATE :][: len(word)] += word[: 2 * HEARING_RATE]
        found.append(sound)
    return found


def test_nothing_is_lost_where_it_does_not_listen(
    models_dir: Path, speech: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake = WakeWords(models_dir / "models", {"alexa": 0.5})
    gated = []
    for sound in scenes(speech):
        wake.reset()
        gated.append([(wake.feed(sound[at : at + STEP]), wake.scores["alexa"]) for at in range(0, len(sound), STEP)])
    monkeypatch.setattr(SoundGate, "passes", lambda *_: True)
    skipped = 0
    for sound, before in zip(scenes(speech), gated, strict=True):
        wake.reset()
        for at, (detections, score) in zip(range(0, len(sound), STEP), before, strict=True):
            assert wake.feed(sound[at : at + STEP]) == detections
            skipped += score == 0
            assert score in (0, wake.scores["alexa"])
    assert skipped > 100


def test_the_pieces_it_is_fed_in_make_no_difference(wake: WakeWords, piper: PiperVoice) -> None:
    sound = np.concatenate([quiet(1), say(piper, "Alexa"), quiet(1), say(piper, "Hey Mycroft"), quiet(1)])
    at_once = heard_anew(wake, sound)
    assert len(at_once) == 2
    for size in (7, 320, 1279, 5000):
        wake.reset()
        starts = range(0, len(sound), size)
        pieces = [(start, wake.feed(sound[start : start + size])) for start in starts]
        found = [
            replace(detection, offset=start + detection.offset)
            for start, detections in pieces
            for detection in detections
        ]
        assert found == at_once


def test_the_offset_is_the_end_of_the_step(wake: WakeWords, piper: PiperVoice) -> None:
    detection, *_ = heard_anew(wake, quiet(1), say(piper, "Alexa"), quiet(1))
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
    with pytest.raises(ApplianceError, match=r"alexa\.onnx"):
        WakeWords(tmp_path, {"alexa": 0.5})
