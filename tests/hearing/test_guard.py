"""What was made of noise is dropped, and what was said is not."""

import pytest

from appliance.core.endpoint import EndpointSettings
from appliance.hearing.ears import Ears
from appliance.hearing.guard import is_made_up, speech
from appliance.hearing.stt import NoSpeech, Transcript
from tests.hearing.scripted import BASE, ScriptedVoice, ScriptedWake, frames


@pytest.mark.parametrize(
    ("text", "confidence", "voiced", "reason"),
    [
        ("", None, 1.0, NoSpeech.SILENCE),
        (" . ", 0.9, 1.0, NoSpeech.SILENCE),
        ("I don't know.", 0.61, 0.0, NoSpeech.NO_VOICE),
        ("I'm going to put it on.", 0.47, 0.06, NoSpeech.NO_VOICE),
        ("You", 0.37, 0.13, NoSpeech.PHANTOM),
        ("Thank you for watching!", 0.77, 1.3, NoSpeech.PHANTOM),
        ("Oh,", 0.4, 0.16, NoSpeech.PHANTOM),
        ("I think it's a good one.", 0.54, 0.13, NoSpeech.TOO_DENSE),
        ("and now the world is on and now the world is on and now the world is on", 0.64, 3.6, NoSpeech.LOOP),
        ("the the the the", None, 1.0, NoSpeech.LOOP),
        ("그 그 그 그", 0.5, 1.0, NoSpeech.LOOP),
    ],
)
def test_what_is_made_of_noise_counts_as_nothing(
    text: str, confidence: float | None, voiced: float, reason: NoSpeech
) -> None:
    assert speech(Transcript(text, confidence), voiced) == Transcript("", confidence, reason)


@pytest.mark.parametrize(
    ("text", "confidence", "voiced"),
    [
        ("No", 0.7, 0.1),
        ("Stop.", 0.63, 0.38),
        ("Yes.", None, 0.35),
        ("Oh yeah", 0.6, 0.3),
        ("no no no", 0.5, 0.7),
        ("stop stop stop stop stop", 0.9, 1.2),
        ("Set a timer for twenty twenty two seconds", 0.6, 2.0),
        ("turn it off, turn it off, turn it off", 0.9, 2.0),
        ("멈춰", None, 0.3),
    ],
)
def test_what_was_said_stays(text: str, confidence: float | None, voiced: float) -> None:
    transcript = Transcript(text, confidence)
    assert speech(transcript, voiced) is transcript


def test_what_moonshine_is_unsure_of_was_made_up() -> None:
    assert is_made_up("You", 0.9)
    assert is_made_up("I'm going to take my hand.", 0.34)
    assert not is_made_up("Lewis Mollati.", 0.41)


def test_the_ears_know_how_long_there_was_voice() -> None:
    ears = Ears(
        ScriptedWake(),
        ScriptedVoice([(BASE + 0.1, BASE + 0.4), (BASE + 1.1, BASE + 1.9)]),
        EndpointSettings(),
        lambda _: None,
    )
    utterance = ears.listen(1, BASE + 1.0, BASE + 6.0, lambda _: None)
    for frame in frames(3.0):
        ears.feed(frame)
    assert utterance.voiced == pytest.approx(0.8, abs=0.05)
