"""How long it takes from the start of the process to ready, and what is in memory then."""

import subprocess
import sys
import time
from pathlib import Path

import msgspec

from appliance.bench.figures import Figure, Result, percentile
from appliance.config.schema import Settings
from appliance.errors import ApplianceError

RUNS = 5

SILENCE = "duration = 0.1"
"""A scenario in which nothing is said: whatever a scenario needs is made before the appliance is ready."""


def measure(settings: Settings, models: Path) -> Result:
    """Start the whole appliance in a process of its own, in a silent room, until it says that it is ready."""
    times = [probe(settings, models, SILENCE)[0] for _ in range(RUNS)]
    return Result(
        "start",
        f"a new process with the whole appliance on the devices of a simulated room, from its start until ready; "
        f"{RUNS} runs with the files in the system's cache",
        (
            Figure("start to ready, p50", percentile(times, 0.5), "s", 4),
            Figure("start to ready, slowest", max(times), "s"),
        ),
    )


def probe(settings: Settings, models: Path, scenario: str) -> tuple[float, dict[str, int]]:
    """Seconds from the start of a process to ready, and its memory in bytes at the end of `scenario`."""
    began = time.monotonic()
    command = [sys.executable, "-m", "appliance.bench.probe", str(models), scenario]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603  ours
        assert process.stdin is not None  # noqa: S101  for the type checker
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(msgspec.json.encode(settings))
        process.stdin.close()
        process.stdout.readline()
        ready = time.monotonic() - began
        said = process.stdout.read()
    if process.returncode != 0:
        raise ApplianceError(
            "bench", "the appliance did not come through the measurement", remedy="See the lines above"
        )
    return ready, msgspec.json.decode(said, type=dict[str, int])
