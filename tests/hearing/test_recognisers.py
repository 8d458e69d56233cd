"""What every engine promises, and which one is taken."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, BadInputError
from appliance.hearing.recognisers import load_recogniser
from appliance.hearing.stt import Recogniser, Transcript
from appliance.models.manifest import load_manifest, needed
from appliance.thinking.intents import IntentMatcher
from tests.hearing.conftest import Recordings

SPOKEN = {"en": "read/librispeech-quilter-en.flac", "ko": "read/sentence-ko.flac"}
NOTHING = Transcript("")


@pytest.fixture(params=["moonshine", "vosk_ko"])
def engine(request: pytest.FixtureRequest) -> Recogniser:
    loaded: Recogniser = request.getfixturevalue(request.param)
    return loaded


def hear(engine: Recogniser, *pieces: Samples) -> Transcript:
    recognition = engine.begin()
    for piece in pieces:
        recognition.feed(piece)
    return recognition.finish()


def test_an_utterance_without_samples_is_empty(engine: Recogniser) -> None:
    assert hear(engine) == NOTHING
    assert hear(engine, np.empty(0, np.float32)) == NOTHING


@pytest.mark.parametrize("length", [1, 400, 1599, 1600, HEARING_RATE])
def test_silence_and_noise_are_empty(engine: Recogniser, length: int) -> None:
    noise = np.random.default_rng(length).standard_normal(length).astype(np.float32)
    assert hear(engine, np.zeros(length, np.float32)) == NOTHING
    for level in (1e-3, 0.3):
        assert hear(engine, np.clip(noise * np.float32(level), -1, 1)) == NOTHING


@pytest.mark.parametrize("length", [1, 400, 1599, 1600, 2000])
def test_a_snippet_of_speech_is_no_error(engine: Recogniser, recording: Recordings, length: int) -> None:
    speech = recording(SPOKEN[engine.language])
    hear(engine, speech[2 * HEARING_RATE :][:length])


def test_speech_has_a_text_and_a_confidence(engine: Recogniser, recording: Recordings) -> None:
    transcript = hear(engine, *np.array_split(recording(SPOKEN[engine.language]), 10))
    assert len(transcript.text.split()) > 5
    assert transcript.text == transcript.text.strip()
    assert transcript.confidence is not None
    assert 0.5 < transcript.confidence <= 1


def test_an_unfinished_utterance_leaves_nothing_behind(engine: Recogniser, recording: Recordings) -> None:
    abandoned = engine.begin()
    abandoned.feed(recording(SPOKEN[engine.language]))
    assert hear(engine, np.zeros(HEARING_RATE, np.float32)) == NOTHING


def test_words_after_a_long_silence_are_heard(engine: Recogniser, recording: Recordings) -> None:
    speech = recording(SPOKEN[engine.language])
    transcript = hear(engine, np.zeros(14 * HEARING_RATE, np.float32), speech)
    assert len(transcript.text.split()) > 5


def test_a_language_without_its_model_is_named(models_dir: Path) -> None:
    with pytest.raises(ApplianceError, match="stt/vosk-de"):
        load_recogniser("vosk", "de", models_dir / "models")


def test_vosk_is_loaded_by_language(vosk_ko_dir: Path) -> None:
    engine = load_recogniser("vosk", "ko", vosk_ko_dir.parents[1])
    assert (engine.name, engine.language) == ("vosk", "ko")


def test_of_several_languages_the_configured_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[Path, str]] = []
    monkeypatch.setattr("appliance.hearing.vosk.Vosk", lambda folder, language: loaded.append((folder, language)))
    for language in ("de", "en", "ko"):
        (tmp_path / f"stt/vosk-{language}").mkdir(parents=True)
    settings = Settings(language="de")
    load_recogniser(settings.engine, settings.language, tmp_path)
    assert loaded == [(tmp_path / "stt/vosk-de", "de")]

    models = load_manifest()
    used = {
        model.name
        for model in needed(models, settings.language, settings.engine, settings.wake.installed, settings.voice_name)
        if model.language not in ("any", "en")
    }
    assert used == {"stt/vosk-de", "voice/de_DE-thorsten-medium.onnx"}
    assert IntentMatcher("de").match("wie spät ist es") is not None
    assert IntentMatcher("de").match("what time is it") is None


def test_moonshine_refuses_another_language(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"stt\.engine.*\"ko\".*Allowed"):
        load_recogniser("moonshine", "ko", tmp_path)


@pytest.mark.parametrize(("engine", "unused"), [("moonshine", "vosk"), ("vosk", "appliance.hearing.moonshine")])
def test_an_unused_engine_is_not_imported(tmp_path: Path, engine: Literal["moonshine", "vosk"], unused: str) -> None:
    script = (
        "import sys; from pathlib import Path; from appliance.errors import ApplianceError\n"
        "from appliance.hearing.recognisers import load_recogniser\n"
        f"try: load_recogniser({engine!r}, 'en', Path({str(tmp_path)!r}))\n"
        f"except ApplianceError: sys.exit({unused!r} in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
