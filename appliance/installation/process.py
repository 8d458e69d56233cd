"""Other programs, whose failure is a message for people."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import ApplianceError

UNREACHABLE = (
    "connection broken",
    "ConnectionError",
    "Failed to establish a new connection",
    "TimeoutError",
    "Temporary failure in name resolution",
)
"""What programs say that fetch from where there is no network."""


@dataclass(frozen=True, slots=True)
class Program:
    """How a program is started."""

    folder: Path | None = None
    environment: Mapping[str, str] | None = None
    user: str | None = None

    def run(self, *command: str | Path, doing: str, remedy: str) -> None:
        """Run it. ApplianceError: it failed at what it was `doing`, and why."""
        done = self._start(command, stderr=subprocess.PIPE)
        if done.returncode == 0:
            return
        if any(sign in done.stderr for sign in UNREACHABLE) and "CERTIFICATE" not in done.stderr:
            raise ApplianceError(doing, "there is no network, or it does not reach what is needed", remedy=remedy)
        raise ApplianceError(doing, f"{Path(command[0]).name} failed:\n{done.stderr.strip()}\n", remedy=remedy)

    def status(self, *command: str | Path) -> int:
        """Run it, and return its exit status; it says itself what is wrong."""
        return self._start(command).returncode

    def output(self, *command: str | Path) -> str:
        """What it prints to its standard output; "" if it fails."""
        done = self._start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else ""

    def _start(
        self, command: Sequence[str | Path], *, stdout: int | None = None, stderr: int | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(  # noqa: S603  ours
            command,
            cwd=self.folder,
            env=self.environment,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            check=False,
        )
