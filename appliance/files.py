"""Files that are there as a whole or not at all, whatever happens while they are written."""

import os
from pathlib import Path


def write_safely(path: Path, content: bytes) -> None:
    """Either all of it or nothing, also in a power cut. One writer at a time."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)  # of a process that was killed, perhaps another user's
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
