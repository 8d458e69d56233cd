import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.cli import main
from appliance.models.directory import data_directory
from appliance.service.single import only_one
from tests.sound_server import SoundServer

APPLIANCE = Path(sys.executable).with_name("appliance")


def replace(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(command in text for command in ("run", "say", "simulate", "models", "bench"))


@pytest.mark.parametrize("usage", [[], ["sing"], ["simulate"], ["simulate", "a.toml"], ["run", "--demo", "maybe"]])
def test_wrong_usage(usage: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(usage)


def test_nothing_heavy_is_imported_before_a_command_needs_it() -> None:
    heavy = "{'numpy', 'onnxruntime', 'vosk', 'piper', 'pyaudio', 'soxr', 'soundfile', 'hassil'}"
    code = (
        f"import sys; from appliance.cli import make_parser; make_parser(); print(sorted({heavy} & sys.modules.keys()))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_card_that_is_not_there_is_waited_for(copied_models: Path, tmp_path: Path, sound_server: SoundServer) -> None:
    config = tmp_path / "appliance.toml"
    config.write_text('[microphone]\ncard = "Jabra 9000"\n[llm]\nenabled = false\n')
    environment = {**os.environ, **sound_server.environment}
    command = [str(APPLIANCE), "run", "--config", str(config)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert any("Ready" in line for line in process.stdout)
            process.terminate()
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "Jabra 9000" in said
    assert "kitchen_window" in said, "the cards that are there are named"
    assert "Traceback" not in said


def test_a_configuration_with_errors_names_all_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "appliance.toml"
    config.write_text('langauge = "en"\n[wake.thresholds]\nalexa = 7\n')
    assert main(["run", "--config", str(config)]) == 2
    error = capsys.readouterr().err
    assert f"{config}:1" in error
    assert f"{config}:3" in error
    assert 'did you mean "language"' in error


def test_a_missing_and_a_truncated_model_are_both_named(
    copied_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copied_models / "vad/silero.onnx").unlink()
    replace(copied_models / "wake/alexa.onnx", b"short")
    assert main(["run", "--demo=always"]) == 1
    error = capsys.readouterr().err
    assert "vad/silero.onnx" in error
    assert "wake/alexa.onnx" in error
    assert "appliance models fetch" in error


@pytest.mark.parametrize(
    "name", ["wake/alexa.onnx", "vad/silero.onnx", "voice/en_US-joe-medium.onnx", "stt/moonshine-tiny-en/tokenizer.bin"]
)
def test_a_wrong_model_of_the_right_size_is_named(
    copied_models: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(copied_models / name, bytes((copied_models / name).stat().st_size))
    assert main(["run", "--demo=always", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert name in error
    assert "appliance models verify" in error
    assert main(["models", "verify"]) == 1
    assert name in capsys.readouterr().out


def test_a_second_run_is_refused(copied_models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with only_one(data_directory()):
        assert main(["run", "--demo=always"]) == 1
    assert f"process {os.getpid()}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "status", "found"),
    [
        ('[[say]]\ntext = "hello"\nafter = "noon"', 2, "scenario.toml:3"),
        ('[[say]]\nfile = "nobody.wav"\nat = 1', 2, "nobody.wav"),
        ("what is this", 2, "scenario.toml:1"),
        ('duration = 3\n[[expect]]\nheard = "anything"', 1, "expectation 1 of 1"),
    ],
)
def test_simulate_says_what_is_wrong_with_a_scenario(
    models_dir: Path, tmp_path: Path, text: str, status: int, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(text)
    assert main(["simulate", str(scenario), "--out", str(tmp_path / "out"), "--fast"]) == status
    error = capsys.readouterr().err
    assert found in error
    assert "Traceback" not in error


def test_simulate_writes_its_files_and_prints_the_conversation(
    models_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('[[say]]\ntext = "Alexa, help."\nat = 1\n[[expect]]\nintent = "help"')
    assert main(["simulate", str(scenario), "--out", str(tmp_path / "a/b"), "--fast"]) == 0
    printed = capsys.readouterr().out
    assert "speaker: " in printed
    for name in ("timeline.json", "room.wav", "timeline.svg"):
        assert f"wrote {tmp_path / 'a/b' / name}" in printed
    timeline = json.loads((tmp_path / "a/b/timeline.json").read_text())
    assert {"wake", "heard", "intent", "reply_text", "reply_start", "silent", "reply_end"} <= {
        e["kind"] for e in timeline
    }
    assert [entry["t"] for entry in timeline] == sorted(entry["t"] for entry in timeline)


def test_the_command_is_installed() -> None:
    assert subprocess.run([APPLIANCE, "--help"], check=True, capture_output=True).stdout


def test_bench_knows_its_names(models_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "idel"]) == 2
    assert 'did you mean "idle"' in capsys.readouterr().err
    assert main(["bench", "idle", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["bench"] == "idle"
    assert result["figures"][0]["value"] > 0
