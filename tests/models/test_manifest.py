"""The manifest that we ship, and what a wrong one is told."""

import sys
from pathlib import Path

import pytest

from appliance import share as sharing
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, BadInputError
from appliance.models.directory import damages
from appliance.models.manifest import Manifest, is_below, load_manifest, needed, with_siblings
from appliance.thinking.intents import languages

ENGLISH = ("en", "moonshine", ["alexa", "timer"], "en_US-joe-medium")


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load_manifest()


def test_names_and_paths_are_unique(manifest: Manifest) -> None:
    paths = [file.path for model in manifest.models for file in model.files]
    names = [model.name for model in manifest.models]
    assert len(set(names)) == len(names)
    assert len(set(paths)) == len(paths)


def test_a_model_is_the_file_or_the_folder_of_its_name(manifest: Manifest) -> None:
    for model in manifest.models:
        assert all(file.path.startswith(model.name) for file in model.files)
        assert model.licence
        assert (model.engine != "") == (model.role == "speech-to-text")


def test_what_english_needs(manifest: Manifest) -> None:
    names = [model.name for model in needed(manifest, *ENGLISH)]
    assert names == [
        "vad/silero.onnx",
        "wake/melspectrogram.onnx",
        "wake/embedding.onnx",
        "wake/alexa.onnx",
        "wake/timer.onnx",
        "stt/moonshine-tiny-en",
        "voice/en_US-joe-medium.onnx",
    ]


def test_siblings_come_from_the_same_wheels(manifest: Manifest) -> None:
    models = needed(manifest, *ENGLISH)
    more = with_siblings(manifest, models)
    assert more[: len(models)] == models
    assert {model.name for model in more[len(models) :]} == {
        f"wake/{w}.onnx" for w in ("hey_jarvis", "hey_mycroft", "weather")
    }
    assert all(model.package for model in more)


def test_every_recogniser_can_be_configured(manifest: Manifest) -> None:
    for model in manifest.models:
        if model.engine:
            assert model in needed(manifest, model.language, model.engine, ["alexa"], "en_US-joe-medium")


def test_every_language_that_is_understood_can_be_heard_and_spoken(manifest: Manifest) -> None:
    for language in languages():
        settings = Settings(language=language)
        models = needed(manifest, language, settings.engine, ["alexa"], settings.voice_name)
        assert {model.language for model in models} == {"any", "en", language}
        assert [model.language for model in models if model.role in ("speech-to-text", "voice")] == [language] * 2


def test_the_features_of_wake_words_are_needed_for_those_of_ones_own_too(manifest: Manifest) -> None:
    found = [model.role for model in needed(manifest, "ko", "vosk", [], "en_US-joe-medium") if "wake" in model.role]
    assert found == ["wake features", "wake features"]


@pytest.mark.parametrize(
    ("configured", "message"),
    [
        (
            ("en", "moonshine", ["alexia"], "en_US-joe-medium"),
            r'wake word "alexia".*did you mean "alexa".*"hey_jarvis"',
        ),
        (
            ("en", "moonshine", [], "joe"),
            r'voice "joe": there is no model for it\. Allowed: "en_US-joe-medium", "de_DE',
        ),
        (
            ("ko", "moonshine", [], "en_US-joe-medium"),
            r'"moonshine" with language "ko".*moonshine with en.*vosk with ko',
        ),
    ],
)
def test_what_there_is_no_model_for(
    manifest: Manifest, configured: tuple[str, str, list[str], str], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        needed(manifest, *configured)


def test_models_are_found_by_their_name_or_by_a_file(manifest: Manifest) -> None:
    assert manifest.find("stt/vosk-ko") == manifest.find("stt/vosk-ko/am/final.mdl")
    with pytest.raises(BadInputError, match=r'model "vosk-ko": is not known \(did you mean "stt/vosk-ko"\?\)'):
        manifest.find("vosk-ko")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('licence = "MIT"', "", "licence: is missing"),
        ("size = 3", "size = 0", "size = 0"),
        ('sha256 = "aaaa', 'sha256 = "AAAA', "sha256"),
        ('role = "voice"', 'role = "voise"', 'did you mean "voice"'),
        ('"voice/a"', '"../a"', r"the path leads out of models/: \.\./a"),
        ("[[wheel]]", "[[wheels]]", "wheels"),
        (
            'package = "a==1" # of the model',
            'package = "b==1"',
            r"voice/a: there is no \[\[wheel\]\] with package = 'b==1'",
        ),
        (
            'package = "a==1" # of the model',
            'url = "https://a.example"',
            "a model from a url has size and sha256, and no files",
        ),
        ('package = "a==1" # of the model', "", "has either a package or a url"),
        ('member = "a"', 'member = "a", url = "https://a.example/a"', "has either a package or a url, or files that"),
        (
            'package = "a==1" # of the model\nfiles = [{ path = "voice/a", member = "a"',
            'files = [{ path = "voice/a", member = "a", url = "https://a.example/a"',
            "each has a url, and none a member",
        ),
        (
            'package = "a==1" # of the model\nfiles = [{ path = "voice/a", member = "a"',
            'files = [{ path = "voice/a", url = "http://a.example/a"',
            "the url is not https",
        ),
    ],
)
def test_a_wrong_manifest(tmp_path: Path, before: str, after: str, message: str) -> None:
    right = f"""
[[wheel]]
package = "a==1"
size = 9

[[model]]
name = "voice/a"
role = "voice"
language = "any"
licence = "MIT"
package = "a==1" # of the model
files = [{{ path = "voice/a", member = "a", size = 3, sha256 = "{"a" * 64}" }}]
"""
    path = tmp_path / "manifest.toml"
    path.write_text(right)
    load_manifest(path)
    path.write_text(right.replace(before, after))
    with pytest.raises(BadInputError, match=message):
        load_manifest(path)


@pytest.mark.parametrize("url", ["http://models.example/a.zip", "file:///a.zip", "ftp://127.0.0.1/a.zip"])
def test_only_https_is_trusted(tmp_path: Path, url: str) -> None:
    path = tmp_path / "manifest.toml"
    model = {"name": "a", "role": "voice", "language": "any", "licence": "MIT", "url": url, "sha256": "a" * 64}
    path.write_text("\n".join(["[[model]]", "size = 1", *(f'{key} = "{value}"' for key, value in model.items())]))
    with pytest.raises(BadInputError, match="the url is not https"):
        load_manifest(path)


@pytest.mark.parametrize("path", ["a", "a/b", "a/..b", "./a"])
def test_paths_below(path: str) -> None:
    assert is_below(path)


@pytest.mark.parametrize("path", ["", "/a", "..", "a/../../b", "a\\b", "a\0b", "//a"])
def test_paths_not_below(path: str) -> None:
    assert not is_below(path)


def test_the_default_models_are_those_of_the_manifest(models_dir: Path, manifest: Manifest) -> None:
    for model in with_siblings(manifest, needed(manifest, *ENGLISH)):
        assert not damages(model, models_dir)


def test_the_korean_model_is_that_of_the_manifest(vosk_ko_dir: Path, manifest: Manifest) -> None:
    assert not damages(manifest.find("stt/vosk-ko"), vosk_ko_dir.parents[2])


def test_share_of_an_installed_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "__file__", str(tmp_path / "lib/site-packages/appliance/share.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    folder = tmp_path / "share/appliance/models"
    with pytest.raises(ApplianceError, match="there is no such folder"):
        sharing.share("models")
    folder.mkdir(parents=True)
    assert sharing.share("models") == folder
