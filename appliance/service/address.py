"""Where the control socket of an appliance is.

One that systemd started has it in the directory that it got for this, and its group may use it. Any other has it in its
data directory, for its user alone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "control.sock"
"""In the data directory."""

SERVICE = Path("/run/appliance/control")
"""The one of the appliance that systemd starts."""

SERVICE_DATA = Path("/var/lib/appliance")
"""Its data directory."""


def own_place(data: Path) -> Path:
    """Where this process serves the socket, if it is the appliance of that data directory."""
    given = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return Path(given) / SERVICE.name if given else data / NAME


def place_of(data: Path) -> Path:
    """Where a client finds it: that of the service, if there is one, unless APPLIANCE_DATA names another appliance."""
    given = os.environ.get("APPLIANCE_DATA")
    return SERVICE if (not given or Path(given) == SERVICE_DATA) and _is_there(SERVICE) else data / NAME


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:  # it may be, and whoever wants to use it must hear why he cannot
        return True


@contextmanager
def control_socket(place: Path) -> Iterator[Path]:
    """A path to bind or to connect to, until the end of the block. OSError when there is no such directory."""
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The directory's own path may have more than the 107 bytes that the kernel takes.
        yield Path(f"/proc/self/fd/{folder}") / place.name
    finally:
        os.close(folder)
