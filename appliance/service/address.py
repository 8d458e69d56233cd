"""Where the control socket of an appliance is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "control.sock"
"""In the data directory."""


@contextmanager
def control_socket(directory: Path) -> Iterator[Path]:
    """A path to bind or to connect to, until the end of the block. OSError when there is no such directory."""
    folder = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The directory's own path may have more than the 107 bytes that the kernel takes.
        yield Path(f"/proc/self/fd/{folder}") / NAME
    finally:
        os.close(folder)
