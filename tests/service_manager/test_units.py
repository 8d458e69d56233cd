"""What systemd itself says of the unit files."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "systemd"
SERVICE = "appliance.service"
NAMES = (SERVICE, "appliance-settle.service")
MOST = 2.0
"""The exposure that the service may have, of 10."""

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed: ./install.sh test does that"
)


def analyze(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_units_are_what_systemd_understands(tmp_path: Path) -> None:
    for name in NAMES:
        # The program is where it is installed.
        text = re.sub(
            r"^(ExecStart=)/opt/appliance/\S+", r"\1/bin/true", (UNITS / name).read_text(), flags=re.MULTILINE
        )
        (tmp_path / name).write_text(text)
    found = analyze("verify", "--man=no", *(tmp_path / name for name in NAMES))
    assert (found.returncode, found.stderr) == (0, "")


def test_what_a_class_of_devices_is_known_by_is_loaded_before_it_is_looked_up() -> None:
    lines = (UNITS / SERVICE).read_text().splitlines()
    classes = {line.split("=")[1].split()[0] for line in lines if line.startswith("DeviceAllow=")}
    assert classes == {"char-alsa", "char-gpiochip"}, "is it a module? Then the service has to wait for it"
    assert {"Wants=modprobe@snd.service", "After=modprobe@snd.service"} <= set(lines)


def test_the_service_exposes_little() -> None:
    found = analyze("security", "--offline=true", f"--threshold={MOST * 10:.0f}", UNITS / SERVICE)
    sys.stdout.write(found.stdout.splitlines()[-1] + "\n")
    assert found.returncode == 0, found.stdout


def test_a_service_that_exposed_more_would_be_found(tmp_path: Path) -> None:
    lines = (UNITS / SERVICE).read_text().splitlines(keepends=True)
    (tmp_path / SERVICE).write_text("".join(line for line in lines if not line.startswith(("System", "NoNew"))))
    assert analyze("security", "--offline=true", f"--threshold={MOST * 10:.0f}", tmp_path / SERVICE).returncode != 0
