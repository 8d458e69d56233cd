"""The whole appliance in a process of its own: says when it is ready, does as it is told, and says what it holds."""

import sys
import tempfile
from pathlib import Path

import msgspec

from appliance.config.schema import Settings
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.simulation.run import simulate
from appliance.simulation.scenario import parse


class _Idle:
    """Says when the conversation has its first phase, and knows what was held when it was last idle."""

    def __init__(self) -> None:
        self._said = False
        self.held = 0
        """Bytes."""

    def report(self, report: Report) -> None:
        """Not of interest."""

    def phase(self, phase: Phase, at: float) -> None:
        """Idle for the first time is ready."""
        if phase is Phase.IDLE:
            self.held = memory()["VmRSS"]
        if not self._said:
            self._said = True
            sys.stdout.write("ready\n")
            sys.stdout.flush()


def memory() -> dict[str, int]:
    """VmRSS and VmHWM of this process in bytes. Source: proc(5)."""
    fields = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines() if ":" in line
    )
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")}


def main() -> None:
    """Settings as JSON on standard input; the folder of the models and the text of a scenario as arguments."""
    settings = msgspec.json.decode(sys.stdin.buffer.read(), type=Settings)
    models, text = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        scenario = parse(text, out / "probe.toml")
        idle = _Idle()
        outcome = simulate(scenario, settings, Path(models), out, fast=False, observers=(idle,))
    if outcome.problems:
        sys.exit("\n".join(outcome.problems))
    sys.stdout.write(msgspec.json.encode({**memory(), "VmRSS": idle.held}).decode())


if __name__ == "__main__":
    main()
