"""What systemd knows of the appliance."""

import subprocess
from pathlib import Path

import msgspec

NAME = "appliance.service"

BOOTED = Path("/run/systemd/system")
"""It is there if systemd runs this machine."""

PATIENCE = 5.0
"""Seconds that systemd may take to tell."""

_PROPERTIES = ("LoadState", "ActiveState", "SubState", "Result", "NRestarts", "StatusText")


class Unit(msgspec.Struct, frozen=True):
    """The service."""

    state: str
    """As systemd words it: "active (running)"."""
    result: str
    """How it ended last time, if that was no success; "success" otherwise."""
    restarts: int
    """How often systemd has started it again by itself."""
    status: str
    """What the appliance itself told systemd last."""


def unit() -> Unit | None:
    """The service as it is now; None where there is none."""
    if not BOOTED.exists():
        return None
    command = ["systemctl", "show", NAME, f"--property={','.join(_PROPERTIES)}"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    said = dict(line.partition("=")[::2] for line in shown.splitlines())
    if said.get("LoadState") != "loaded":
        return None
    restarts = said.get("NRestarts", "")
    return Unit(
        f"{said.get('ActiveState', '')} ({said.get('SubState', '')})",
        said.get("Result", ""),
        int(restarts) if restarts.isdigit() else 0,
        said.get("StatusText", ""),
    )
