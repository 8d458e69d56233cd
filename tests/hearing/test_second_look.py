"""Whether a wake word was said, by what speech-to-text makes of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.core.events import WakeHeard
from appliance.hearing.moonshine import Moonshine
from appliance.hearing.second_look import SecondLook
from appliance.hearing.stt import Recognition, Transcript
from appliance.speaking.piper import load_voice
from appliance.thinking.wake_phrase import mentions

LIKELY = WakeHeard("alexa", 0.9, 0.0, clear=False)
FAINT = replace(LIKELY, score=0.2, likely=False)
NOISE = np.random.default_rng(0).standard_normal(2 * HEARING_RATE).astype(np.float32)


class Writes:
    """A recogniser that writes always the same, and says how likely the word is if it is told to."""

    name = "writes"
    language = "en"

    def __init__(self, text: str) -> None:
        self.text = text

    def begin(self) -> Recognition:
        return self

    def feed(self, samples: Samples) -> None:
        return None

    def guess(self) -> None:
        return None

    def finish(self) -> Transcript:
        return Transcript(self.text)


class Weighs(Writes):
    def __init__(self, text: str, likeness: float) -> None:
        super().__init__(text)
        self._likeness = likeness
        self.word = ""

    def likeness(self, samples: Samples, word: str) -> float:
        self.word = word
        return self._likeness


@pytest.fixture(scope="module")
def quiet_room() -> Samples:
    return NOISE * np.where(np.arange(len(NOISE)) % HEARING_RATE < HEARING_RATE // 2, 1e-4, 0.1).astype(np.float32)


@pytest.mark.parametrize(
    ("likeness", "text", "likely", "faint"),
    [
        (-0.1, "", True, True),
        (-1.2, "I'm back, sir.", True, False),
        (-1.8, "A lexicon is", False, False),
        (-2.5, "I'm back, sir.", False, False),
        (-9.0, "Alexa.", True, True),
        (-9.0, "", False, False),
    ],
)
def test_in_a_quiet_room_it_has_to_be_said(
    quiet_room: Samples, likeness: float, text: str, *, likely: bool, faint: bool
) -> None:
    look = SecondLook(Weighs(text, likeness), mentions)
    assert (look.confirms(LIKELY, quiet_room), look.confirms(FAINT, quiet_room)) == (likely, faint)


def test_in_noise_only_what_is_quite_another_sound_is_none() -> None:
    assert SecondLook(Weighs("I like them.", -5.0), mentions).confirms(LIKELY, 0.1 * NOISE)
    assert not SecondLook(Weighs("I like them.", -5.0), mentions).confirms(FAINT, 0.1 * NOISE)
    assert not SecondLook(Weighs("You", -9.0), mentions).confirms(LIKELY, 0.1 * NOISE)


def test_who_cannot_say_how_likely_a_word_is_can_only_confirm() -> None:
    assert SecondLook(Writes("알렉사"), mentions).confirms(FAINT, NOISE)
    assert not SecondLook(Writes("알았어"), mentions).confirms(FAINT, NOISE)
    assert SecondLook(Writes("알았어"), mentions).confirms(LIKELY, NOISE)


@pytest.mark.parametrize(("name", "word"), [("hey_jarvis", "jarvis"), ("computer-v0.1", "computer"), ("x_2", "x")])
def test_the_last_word_of_the_phrase_is_looked_for(name: str, word: str) -> None:
    weighs = Weighs("", 0.0)
    SecondLook(weighs, mentions).confirms(replace(LIKELY, word=name), NOISE)
    assert weighs.word == word


def test_moonshine_tells_the_word_from_others(moonshine: Moonshine, models_dir: Path, speech: Path) -> None:
    voice = load_voice(models_dir / "models", "en_US-joe-medium")

    def said(text: str) -> Samples:
        spoken = np.concatenate(list(voice.synthesise(text)))
        return np.asarray(soxr.resample(spoken, voice.rate, HEARING_RATE), np.float32)

    for path in sorted(speech.glob("wake/*.flac"))[1::40]:
        assert moonshine.likeness(soundfile.read(path, dtype="float32")[0], "alexa") > -0.5
    for text in ("The election was decided by a lack of votes", "The electric car stopped"):
        assert moonshine.likeness(said(text), "alexa") < -2
    assert moonshine.likeness(said("Hey Jarvis, what time is it?"), "jarvis") > -0.5
    assert moonshine.likeness(said("Computer, stop."), "computer") > -0.5
    assert moonshine.likeness(said("Computer, stop."), "alexa") < -8
