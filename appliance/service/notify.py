"""Tells systemd how the appliance is. Silent where nobody wants to know: without NOTIFY_SOCKET."""

import logging
import os
import time

_log = logging.getLogger(__name__)


def ready(status: str) -> None:
    """It has started, or is done with what `reloading` told; `status` is for people."""
    _notify("READY=1", _status(status))


def status(text: str) -> None:
    """One line for people, which `systemctl status` shows."""
    _notify(_status(text))


def reloading() -> None:
    """It is taking over another configuration, until `ready`."""
    # systemd compares the time with the one at which it had asked for it.
    _notify("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")


def stopping(status: str) -> None:
    """Its orderly end has begun."""
    _notify("STOPPING=1", _status(status))


def alive() -> None:
    """It is alive now, and has to be so again within the watchdog's time."""
    _notify("WATCHDOG=1")


def is_service() -> bool:
    """Whether systemd runs this process, and wants to know how it is."""
    return "NOTIFY_SOCKET" in os.environ


def watchdog_time() -> float | None:
    """Seconds within which systemd wants to be told that this process is alive; None if it does not watch it."""
    if "NOTIFY_SOCKET" not in os.environ or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    try:
        microseconds = int(os.environ.get("WATCHDOG_USEC", ""))
    except ValueError:
        return None
    return microseconds / 1e6 if microseconds > 0 else None


def _status(text: str) -> str:
    return f"STATUS={' '.join(text.split())}"


def _notify(*fields: str) -> None:
    if "NOTIFY_SOCKET" not in os.environ:
        return
    from systemd.daemon import notify  # needs a library, which only a service needs

    try:
        notify("\n".join(fields))
    except OSError as error:
        # A message that is lost must not end what it tells about; a watchdog that hears nothing does its own part.
        _log.warning("systemd cannot be told: %s", error)
