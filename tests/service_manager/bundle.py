"""What the appliance is installed from in a container: checkouts, and a bundle for a machine without a network."""

import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from appliance.installation.version import copy_code
from tests.system.debian import kept

ROOT = Path(__file__).parents[2]
MAKING = 900.0
"""Seconds that the bundle may take."""


def bundle(models: Path) -> Path:
    """The folder that install.sh makes, kept for as long as it would be the same; with the `models` of this machine."""
    inputs = [*sorted((ROOT / "config").glob("*.lock")), ROOT / "models/manifest.toml", ROOT / "install.sh"]
    recipe = ["bundle", *(hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs)]

    def make(_scratch: Path, folder: Path) -> None:
        shutil.copytree(models, folder / "models", ignore=shutil.ignore_patterns(".*", "vosk*", "llm"))
        command = [str(ROOT / "install.sh"), "--download", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAKING, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return kept(recipe, make)


def checkout(folder: Path, changes: Mapping[str, str]) -> Path:
    """A copy of this checkout in which some files have another content."""
    copy_code(ROOT, folder)
    for name, text in changes.items():
        (folder / name).write_text(text)
    return folder
