"""`appliance doctor`, as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def doctor(directory: Path, **environment: str) -> dict[str, Any]:
    """What it finds."""
    command = [sys.executable, "-c", "from appliance.cli import command; command()", "doctor", "--json"]
    given = {**os.environ, "APPLIANCE_DATA": str(directory), **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=False, timeout=60)
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if told["good"] else 1)
    assert not [finding for finding in told["findings"] if "failed itself" in finding["text"]]
    return told
