"""Changes to files that a power cut leaves either done or not done. Needs nothing but the standard library."""

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
    rename(new, path)


def link(path: Path, target: Path) -> None:
    """Have `path` lead to `target`, whatever it was before."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    rename(new, path)


def rename(old: Path, new: Path) -> None:
    """Give a file or a link that name, in place of what had it."""
    old.replace(new)
    sync(new.parent)


def sync(folder: Path) -> None:
    """Have what was done to the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
