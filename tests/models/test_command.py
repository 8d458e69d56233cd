"""`appliance models` as it is typed."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.errors import BadInputError
from appliance.models.command import Wanted, add_parser
from appliance.models.directory import damages, is_here
from tests.models.made import FOLDER, VOICE, from_archive, manifest_of, put, write_wheel

Type = Callable[..., int]
OTHER = from_archive("https://models.example/xx.zip", b"whatever")


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Runs `models …` on three made models, two of which the configuration wants; gives the exit status."""
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))
    monkeypatch.setattr("appliance.models.manifest.load_manifest", lambda: manifest_of(FOLDER, VOICE, OTHER))

    def run(*words: str, **wanted: str) -> int:
        parser = argparse.ArgumentParser()
        default = Wanted("en", engine="vosk", wake_words=(), voice="joe")
        add_parser(parser.add_subparsers(), lambda _: replace(default, **wanted), [])
        options = parser.parse_args(["models", *words])
        status = options.handler(options)
        assert isinstance(status, int)
        return status

    return run


def test_the_real_list(capsys: pytest.CaptureFixture[str], models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(models_dir))
    parser = argparse.ArgumentParser()
    english = Wanted("en", "moonshine", ("alexa",), "en_US-joe-medium")
    add_parser(parser.add_subparsers(), lambda _: english, [])
    options = parser.parse_args(["models", "list"])
    assert options.handler(options) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert f"Models in {models_dir}/models; * marks what the configuration needs" in lines
    assert "* stt/moonshine-tiny-en speech-to-text en 43.9 MB here MIT" in lines
    assert "wake/weather.onnx wake word en 1.1 MB here CC-BY-NC-SA-4.0" in lines
    assert "piper-tts GPL-3.0-or-later with espeak-ng (GPL-3.0-or-later)" in lines
    assert "voice-appliance Apache-2.0 the appliance itself" in lines


def test_list_says_what_is_here(typed: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FOLDER)
    (tmp_path / "models/stt/folder/am/final.mdl").unlink()
    assert typed("list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(model["name"], model["state"], model["needed"], model["size"]) for model in listed["models"]] == [
        ("stt/folder", "damaged", True, 9),
        ("voice/joe.onnx", "missing", True, 18),
        ("stt/vosk-xx", "missing", False, 8),
    ]
    assert listed["models"][0]["source"] == "made-models==1.0"
    assert {"name": "soxr", "licence": "LGPL-2.1-or-later", "note": ""} in listed["packages"]


def test_verify_names_what_is_damaged(typed: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, FOLDER, VOICE)
    assert typed("verify") == 0
    assert capsys.readouterr().out == f"All undamaged in {tmp_path}/models: stt/folder, voice/joe.onnx\n"
    (tmp_path / "models/voice/joe.onnx").write_bytes(b"the voice of bob")
    assert typed("verify") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/models/voice/joe.onnx: wrong content",
        "Run: appliance models fetch",
    ]
    assert typed("verify", "stt/folder") == 0
    capsys.readouterr()
    assert typed("verify", "--json", "voice/joe.onnx") == 1
    assert json.loads(capsys.readouterr().out) == {
        "directory": f"{tmp_path}/models",
        "verified": ["voice/joe.onnx"],
        "damaged": [{"path": "voice/joe.onnx", "problem": "wrong content"}],
    }


def test_verify_says_how_to_mend_what_the_configuration_does_not_need(
    typed: Type, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, FOLDER, VOICE)
    (tmp_path / "models/stt/vosk-xx").mkdir()
    assert typed("verify") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/models/stt/vosk-xx: the record of its files is missing or of another version",
        "Run: appliance models fetch stt/vosk-xx",
    ]


def test_fetch_brings_what_is_needed(
    typed: Type, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_wheel(index)
    assert typed("fetch") == 0
    said = capsys.readouterr()
    assert said.out == f"All here and undamaged in {tmp_path}/models: stt/folder, voice/joe.onnx\n"
    assert said.err.startswith("made-models==1.0 (1.0 kB)\n")
    assert typed("verify") == 0


def test_fetch_brings_what_is_named(typed: Type, index: Path, tmp_path: Path) -> None:
    write_wheel(index)
    assert typed("fetch", "voice/joe.onnx") == 0
    assert not is_here(FOLDER, tmp_path)
    assert not damages(VOICE, tmp_path)


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_an_unknown_name(typed: Type, command: str) -> None:
    with pytest.raises(BadInputError, match=r'model "stt/foldr": is not known \(did you mean "stt/folder"\?\)'):
        typed(command, "stt/foldr")


def test_a_configuration_without_a_model(typed: Type) -> None:
    with pytest.raises(BadInputError, match=r'voice "jo": there is no model for it \(did you mean "joe"\?\)'):
        typed("fetch", voice="jo")


def test_importing_the_command_imports_nothing_heavy() -> None:
    code = "import sys, appliance.models.command; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"msgspec", "tqdm", "numpy", "urllib.request", "subprocess", "hashlib"} & set(modules)
