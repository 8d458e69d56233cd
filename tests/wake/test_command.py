"""`appliance wake test|tune`, as it is typed."""

import json
import re
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio.devices import HEARING_RATE
from appliance.cli import main
from appliance.core.effects import Report
from appliance.service.control import Controls, ControlServer
from appliance.service.watching import LEVEL, Watchers
from appliance.wake import taking
from appliance.wake.tuning import Row, Tuned, TunedWord
from tests.sound_server import SoundServer

COMMAND = [sys.executable, "-c", "from appliance.cli import command; command()", "wake", "test"]
LONGEST = 30.0


@pytest.fixture
def recordings(speech: Path, tmp_path: Path) -> Path:
    """Three of the wake word, and a minute of a kitchen."""
    folder = tmp_path / "mine"
    (folder / "room").mkdir(parents=True)
    for path in sorted(speech.glob("wake/*.flac"))[:3]:
        shutil.copy(path, folder)
    shutil.copy(speech / "noise/kitchen.flac", folder / "room")
    return folder


def test_tune_shows_what_each_threshold_makes_of_recordings(
    models_dir: Path, recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wake", "tune", str(recordings)]) == 0
    shown = capsys.readouterr().out
    assert "alexa: 3 recordings, and 1.0 minutes of the room" in shown
    assert "that says little" in shown
    assert re.search(r"0\.50 +0 +0  now  suggested", shown)
    assert "config set" not in shown


def test_more_recordings_are_not_better_with_a_higher_threshold(
    models_dir: Path, recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(recordings / "room/kitchen.flac", recordings)  # in which nobody says the word
    shutil.copy(next(path for path in recordings.glob("*.flac") if path.stem != "kitchen"), recordings / "room")
    config = tmp_path / "appliance.toml"
    config.write_text("[wake]\nthreshold = 0.05\n")
    assert main(["wake", "tune", str(recordings), "--config", str(config), "--json"]) == 0
    (word,) = json.loads(capsys.readouterr().out)["words"]
    assert (word["word"], word["threshold"], word["said"]) == ("alexa", 0.05, 4)
    missed, false = ([row[name] for row in word["rows"]] for name in ("missed", "false"))
    assert missed == sorted(missed)
    assert false == sorted(false, reverse=True)
    assert (min(missed), max(false)) == (1, 1)


@pytest.mark.parametrize("apply", [False, True])
def test_what_is_suggested_is_said_or_set(
    models_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, apply: bool
) -> None:
    changes: list[list[str]] = []

    def set_values(pairs: list[str]) -> int:
        changes.append(pairs)
        return 0

    tuned = Tuned((TunedWord("alexa", 0.5, 20, (Row(0.5, 3, 0), Row(0.3, 1, 0)), 0.3),), 3600)
    monkeypatch.setattr("appliance.cli._set_values", set_values)
    monkeypatch.setattr("appliance.wake.tuning.tune", lambda *_: tuned)
    assert main(["wake", "tune", "mine", *(["--apply"] if apply else [])]) == 0
    shown = capsys.readouterr().out
    assert "that says little" not in shown
    assert changes == ([["wake.thresholds.alexa=0.3"]] if apply else [])
    assert ("appliance config set wake.thresholds.alexa=0.3" in shown) is not apply


def test_tune_names_what_is_missing_or_damaged(
    models_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wake", "tune", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: there are no recordings. Allowed: sound files" in capsys.readouterr().err
    (tmp_path / "alexa").mkdir()
    (tmp_path / "alexa/a.wav").write_text("no sound")
    assert main(["wake", "tune", str(tmp_path)]) == 2
    assert "a.wav: cannot be read as sound" in capsys.readouterr().err
    assert main(["wake", "tune", str(tmp_path), "--say", "0"]) == 2
    assert "--say: 0 is out of range. Allowed: 1 to 1000." in capsys.readouterr().err


def test_recordings_are_made_where_the_owner_says_and_nowhere_else(
    sound_server: SoundServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in sound_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(taking, "_TAKE", 0.3)
    taking.words("", tmp_path / "mine", ("alexa", "hey_jarvis"), 2)
    taking.room("", tmp_path / "mine", 0.01)
    made = {path.parent.name: soundfile.info(path).frames for path in tmp_path.rglob("*.flac")}
    assert made == {
        "alexa": round(0.3 * HEARING_RATE),
        "hey_jarvis": round(0.3 * HEARING_RATE),
        "room": round(0.6 * HEARING_RATE),
    }
    assert len(list(tmp_path.rglob("*.flac"))) == 5
    with pytest.raises(Exception, match="cannot be written"):
        taking.room("", Path("/proc"), 0.01)


def test_test_shows_the_scores_of_the_running_appliance(tmp_path: Path) -> None:
    watchers = Watchers()
    with ExitStack() as stack:
        serving = ExitStack()
        serving.enter_context(ControlServer(tmp_path, Controls(lambda: None, watchers=watchers)))
        process = stack.enter_context(
            subprocess.Popen(
                [*COMMAND, "--json"], stdout=subprocess.PIPE, env={"APPLIANCE_DATA": str(tmp_path)}, text=True
            )
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        while not (line := _level_line(process.stdout.readline() if _has_joined(watchers) else "")):
            pass
        assert line["scores"] == {"alexa": 0.43}
        watchers.report(Report("heard", 1.0, 1, {"text": "what time is it"}))
        watchers.report(Report("wake", 1.0, 1, {"by": "word", "word": "alexa", "score": 0.9}))
        while "wake" not in (said := process.stdout.readline()):
            assert "heard" not in said
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) == 0
        serving.close()


def _has_joined(watchers: Watchers) -> bool:
    """Somebody watches; then it is told a level."""
    watchers.hear(np.full(LEVEL, 0.1, np.float32), {"alexa": 0.43})
    return bool(watchers._watching)


def _level_line(line: str) -> dict[str, object]:
    told: dict[str, object] = json.loads(line) if line else {}
    return told if told.get("kind") == "level" else {}
