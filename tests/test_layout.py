"""The import rules of pyproject.toml hold, and each of them bites."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the linter says about the package in `folder`."""
    command = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([command, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_import_rules_hold() -> None:
    found = lint_imports(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


FORBIDDEN = [
    ("core/events.py", "import asyncio", "appliance.core.events -> asyncio"),
    ("core/turn.py", "import numpy", "appliance.core.turn -> numpy"),
    ("core/effects.py", "import appliance.audio.devices", "appliance.core.effects -> appliance.audio.devices"),
    ("speaking/voice.py", "import pyaudio", "appliance.speaking.voice -> pyaudio"),
    ("audio/lane.py", "import gpiozero", "appliance.audio.lane -> gpiozero"),
    ("panel/button.py", "import appliance.audio.lane", "appliance.panel.button -> appliance.audio.lane"),
    ("thinking/offline.py", "import appliance.hearing.stt", "appliance.thinking.offline -> appliance.hearing.stt"),
    ("hearing/stt.py", "import appliance.audio.lane", "appliance.hearing.stt -> appliance.audio.lane"),
    ("hearing/vad.py", "import appliance.config", "appliance.hearing.vad -> appliance.config"),
    ("audio/devices.py", "import appliance.conductor", "appliance.audio.devices -> appliance.conductor"),
    ("unplaced.py", "", "appliance.unplaced"),
]


def test_forbidden_imports_are_found(tmp_path: Path) -> None:
    package = tmp_path / "appliance"
    shutil.copytree(ROOT / "appliance", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, line, _ in FORBIDDEN:
        with (package / module).open("a") as file:
            file.write(f"\n{line}\n")
    found = lint_imports(tmp_path)
    assert found.returncode == 1
    assert [complaint for _, _, complaint in FORBIDDEN if complaint not in found.stdout] == []
