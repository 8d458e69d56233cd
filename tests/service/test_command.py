"""`appliance press` and `appliance status`, as somebody types them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from appliance.cli import main
from appliance.service import address, unit
from appliance.service.condition import (
    ButtonStatus,
    CardStatus,
    Condition,
    ConfigurationStatus,
    InterruptionStatus,
    LastAnswer,
    TurnStatus,
)
from appliance.service.control import Controls, ControlServer
from appliance.service.ends import End


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
    "gpu.lan",
    LastAnswer("model", "gpu.lan", 4.2),
    (
        TurnStatus(9, 4.2, "button", "model", "gpu.lan", 1.234, "speech"),
        TurnStatus(8, 120.0, "word"),
        TurnStatus(7, 300.0, "word", "time", "skills", 0.4),
    ),
    InterruptionStatus("speech", 3.0, 0.0123),
    ConfigurationStatus(12, taken_back="generation 13: the microphone did not work with it"),
    End("watchdog", "no sound", 0.0),
    ButtonStatus("broken", "pin 17 cannot be used (busy)", "See that nothing else uses it"),
    ("the speaker is missing", "the disk is full"),
)


PEOPLE = """\
now:               speaking
running for:       2.0 h
microphone:        USB microphone
speaker:           Headphones: does not work, and is tried again until it does
button:            does not work: pin 17 cannot be used (busy)
language:          en
speech-to-text:    moonshine
voice:             joe
language model:    ready, gpu.lan
last answer:       model, by gpu.lan, 4 s ago
last turns:        4 s ago, by the button: model, by gpu.lan, first sound after 1.23 s, interrupted by speech
                   2.0 min ago, by the wake word: nothing was wanted
                   5.0 min ago, by the wake word: time, by skills, first sound after 0.40 s
last interruption: by speech, 3 s ago, silent after 12 ms
configuration:     generation 12; taken back: generation 13: the microphone did not work with it
ended before:      watchdog (1970-01-01 00:00): no sound
wrong now:         the speaker is missing
                   the disk is full
"""


def test_it_tells_people_how_the_appliance_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    with ControlServer(tmp_path, Controls(lambda: None, status=lambda: CONDITION)):
        assert main(["status"]) == 0
    assert capsys.readouterr().out == PEOPLE


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemd that knows the service; the file is what it says."""
    said, command = tmp_path / "said", tmp_path / "bin" / "systemctl"
    said.write_text(
        "LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=watchdog\nNRestarts=3\nStatusText=a=b\n"
    )
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\ncat {said}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    monkeypatch.setattr(unit, "BOOTED", tmp_path)
    return said


def test_the_service_is_told_of_where_systemd_has_started_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, systemctl: Path
) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(address, "SERVICE", tmp_path / "control")
    monkeypatch.delenv("APPLIANCE_DATA")
    with ControlServer(tmp_path, Controls(lambda: None, status=lambda: CONDITION)):
        assert main(["status"]) == 0
        assert "service:           activating (auto-restart), restarted by itself 3 times" in capsys.readouterr().out
        assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["service"] == {
        "state": "activating (auto-restart)",
        "result": "watchdog",
        "restarts": 3,
        "status": "a=b",
    }


def test_a_service_that_does_not_run_is_told_of(capsys: pytest.CaptureFixture[str], systemctl: Path) -> None:
    assert main(["status"]) == 1
    assert "is running here: the service is activating (auto-restart). See: journalctl" in capsys.readouterr().err
    systemctl.write_text("LoadState=not-found\n")
    assert main(["status"]) == 1
    assert "Start it with: appliance run" in capsys.readouterr().err


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
