"""The appliance as systemd sees it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from appliance.errors import ApplianceError
from appliance.installation.place import SERVICE
from appliance.installation.process import Program

WINDOW = 150.0
"""Seconds in which a version has to become ready; longer than a start may take."""

SETTLED = 5.0
"""Seconds for which it then has to stay so."""

RESTARTS = 3
"""Failed starts after which a version is given up."""

LOOK = 0.25
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class State:
    """What systemd says of the service."""

    active: str
    invocation: str
    restarts: int
    status: str

    @property
    def ready(self) -> bool:
        """It runs, and has said that it is ready."""
        return self.active in {"active", "reloading"}


def state() -> State:
    """How the service is."""
    names = ("ActiveState", "InvocationID", "NRestarts", "StatusText")
    found = dict(
        line.partition("=")[::2]
        for line in Program().output("systemctl", "show", SERVICE, f"--property={','.join(names)}").splitlines()
    )
    active, invocation, restarts, status = (found.get(name, "") for name in names)
    return State(active, invocation, int(restarts or 0), status)


def control(*arguments: str) -> None:
    """Have systemd do something. ApplianceError: it does not."""
    remedy = f"See: journalctl --unit {SERVICE}"
    Program().run("systemctl", "--quiet", *arguments, doing=f"systemctl {arguments[0]}", remedy=remedy)


def restart(now: Callable[[], float] = time.monotonic, wait: Callable[[float], None] = time.sleep) -> str:
    """Start the service, anew if it runs, and wait until it is ready and stays so; why it is not, or ""."""
    counted, failures = state().restarts, 0
    control("restart", "--no-block", SERVICE)
    deadline = now() + WINDOW
    ready_from: tuple[str, float] | None = None
    while True:
        found = state()
        if not found.ready:
            ready_from = None
        elif ready_from is None or ready_from[0] != found.invocation:
            ready_from = (found.invocation, now())
        elif now() - ready_from[1] >= SETTLED:
            return ""
        failures += max(found.restarts - counted, 0)
        counted = found.restarts  # which begins anew with some starts, and goes on with others
        if failures >= RESTARTS:
            return f"it failed {failures} times"
        if now() > deadline:
            return f"it was not ready within {WINDOW:.0f} s"
        wait(LOOK)


def require() -> None:
    """ApplianceError: systemd does not run this system."""
    if not Program().output("systemctl", "show", "--property=Version"):
        raise ApplianceError("systemd", "it does not run this system", allowed="a machine that systemd has booted")


def number() -> int:
    """The version of systemd."""
    return int(Program().output("systemctl", "--version").split()[1])
