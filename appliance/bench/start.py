"""How long it takes from the start of the process to ready, and what is in memory then."""

import subprocess
import sys
import time
from pathlib import Path

import msgspec

from appliance.bench.figures import Figure, Result, percentile
from appliance.config.schema import Settings

RUNS = 5


def measure(settings: Settings, models: Path) -> Result:
    """Start the whole appliance in a process of its own, in a silent room, until it says that it is ready."""
    times = [probe(settings, models)[0] for _ in range(RUNS)]
    return Result(
        "start",
        f"a new process with the whole appliance on the devices of a simulated room, from its start until ready; "
        f"{RUNS} runs with the files in the system's cache",
        (
            Figure("start to ready, p50", percentile(times, 0.5), "s", 4),
            Figure("start to ready, slowest", max(times), "s"),
        ),
    )


def probe(settings: Settings, models: Path) -> tuple[float, dict[str, int]]:
    """Seconds from the start of a process to ready, and its memory in bytes when it had answered one question."""
    began = time.monotonic()
    command = [sys.executable, "-m", "appliance.bench.probe", str(models)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603  ours
        assert process.stdin is not None  # noqa: S101  for the type checker
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(msgspec.json.encode(settings))
        process.stdin.close()
        process.stdout.readline()
        ready = time.monotonic() - began
        memory = msgspec.json.decode(process.stdout.read(), type=dict[str, int])
    return ready, memory
