"""`appliance press`, as somebody types it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.cli import main
from appliance.service.control import ControlServer


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))


@pytest.mark.parametrize(("words", "presses"), [([], 1), (["tap"], 1), (["double"], 2), (["hold"], 1)])
def test_it_presses_the_button(tmp_path: Path, words: list[str], presses: int) -> None:
    pressed: list[None] = []
    with ControlServer(tmp_path, lambda: pressed.append(None)):
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


def test_it_imports_nothing_that_would_keep_one_waiting(tmp_path: Path) -> None:
    heavy = {"numpy", "onnxruntime", "vosk", "piper", "pyaudio", "soxr", "soundfile", "hassil", "asyncio"}
    code = f"import sys; from appliance.cli import main; main(['press']); print(sorted({heavy} & sys.modules.keys()))"
    environment = {**os.environ, "APPLIANCE_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert "no appliance is running here" in done.stderr
