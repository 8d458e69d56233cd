"""`appliance press` and `appliance status`, as somebody types them."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from appliance.cli import main
from appliance.service.condition import CardStatus, Condition, LastAnswer
from appliance.service.control import Controls, ControlServer


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))


@pytest.mark.parametrize(("words", "presses"), [([], 1), (["tap"], 1), (["double"], 2), (["hold"], 1)])
def test_it_presses_the_button(tmp_path: Path, words: list[str], presses: int) -> None:
    pressed: list[None] = []
    with ControlServer(tmp_path, Controls(lambda: pressed.append(None))):
        assert main(["press", *words]) == 0
    assert len(pressed) == presses


def test_an_unknown_gesture_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["press", "duble"]) == 2
    error = capsys.readouterr().err
    assert 'there is no gesture "duble"; did you mean "double"? Allowed: "tap", "double" or "hold".' in error


def test_without_an_appliance_it_says_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["press"]) == 1
    error = capsys.readouterr().err
    assert "no appliance is running here" in error
    assert "appliance run" in error
    assert len(error.splitlines()) == 1


def test_a_running_appliance_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    with ControlServer(tmp_path, Controls(lambda: None, say=said.append)):
        assert main(["say", "It is noon."]) == 0
        assert main(["say", "x" * 501]) == 2
    assert said == ["It is noon."]
    assert "cannot be said. Allowed: text of up to 500 characters." in capsys.readouterr().err


CONDITION = Condition(
    "speaking",
    7260.0,
    CardStatus("USB microphone", works=True),
    CardStatus("Headphones", works=False),
    "en",
    "moonshine",
    "joe",
    "ready",
    LastAnswer("model", "gpu.lan", 4.2),
)


def test_it_tells_people_how_the_appliance_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ControlServer(tmp_path, Controls(lambda: None, status=lambda: CONDITION)):
        assert main(["status"]) == 0
    lines = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert {name: value.strip() for name, value in lines.items()} == {
        "now": "speaking",
        "running for": "2.0 h",
        "microphone": "USB microphone",
        "speaker": "Headphones: does not work, and is tried again until it does",
        "language": "en",
        "speech-to-text": "moonshine",
        "voice": "joe",
        "language model": "ready",
        "last answer": "model, by gpu.lan, 4 s ago",
    }


def test_it_tells_programs_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ControlServer(tmp_path, Controls(lambda: None, status=lambda: CONDITION)):
        assert main(["status", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=Condition) == CONDITION


def test_without_an_appliance_there_is_no_status() -> None:
    assert main(["status", "--json"]) == 1


def test_it_imports_nothing_that_would_keep_one_waiting(tmp_path: Path) -> None:
    heavy = {"numpy", "onnxruntime", "vosk", "piper", "pyaudio", "soxr", "soundfile", "hassil", "asyncio"}
    code = "import sys; from appliance.cli import main; main(['press']); main(['status'])"
    code += f"; print(sorted({heavy} & sys.modules.keys()))"
    environment = {**os.environ, "APPLIANCE_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert "no appliance is running here" in done.stderr
