"""The few things that are done with files here, so that a test can cut the power after each of them.

What has not been synced may be lost: the content of a file, and the names that came, went or changed in a folder.
"""

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LARGEST = 1 << 20
"""Bytes of a file that is worth reading."""

FILE_MODE = 0o664
"""The group may change what is here."""

_LOOK_AGAIN = 0.05


class Disk:
    """The real one. Everything raises OSError."""

    def read(self, path: Path) -> bytes:
        """All of a file; OSError too if it is something else or too large."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would be waited for
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            if status.st_size > LARGEST:
                raise OSError(errno.EFBIG, f"it has more than {LARGEST:,} bytes")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(LARGEST)
        finally:
            os.close(descriptor)

    def names(self, folder: Path) -> list[str]:
        """What is in a folder, in order; nothing if there is no such folder."""
        try:
            return sorted(path.name for path in folder.iterdir())
        except FileNotFoundError:
            return []

    def exists(self, path: Path) -> bool:
        """Whether there is anything of that name."""
        return os.path.lexists(path)

    def mode(self, path: Path) -> int:
        """Who may read and write a file; FILE_MODE if there is none."""
        try:
            return stat.S_IMODE(path.stat().st_mode)
        except FileNotFoundError:
            return FILE_MODE

    def make_folder(self, path: Path) -> None:
        """Below one that is there."""
        path.mkdir()
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & stat.S_IWGRP:  # a service need not be allowed to ask for this, and need not ask
            path.chmod(mode | stat.S_IRWXG | stat.S_ISGID)

    def write(self, path: Path, content: bytes, mode: int = FILE_MODE) -> None:
        """A new file."""
        # Whoever may write to the folder must not be able to lead root astray with a link of that name.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content)

    def sync(self, path: Path) -> None:
        """The content of a file, or the names in a folder, outlast a power cut."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def replace(self, path: Path, target: Path) -> None:
        """Give a file or folder the name `target`, which another file may have had."""
        path.replace(target)

    def remove(self, path: Path) -> None:
        """A file."""
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        """A folder with all that is in it, as far as that can be."""
        shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def lock(self, path: Path, patience: float) -> Iterator[None]:
        """No other process is in here with the same `path`. TimeoutError after `patience` seconds."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
        try:
            deadline = time.monotonic() + patience
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise TimeoutError(errno.ETIMEDOUT, "another change is being made") from None
                    time.sleep(_LOOK_AGAIN)
            yield
        finally:
            os.close(descriptor)


def make_folders(path: Path, disk: Disk) -> None:
    """A folder and those around it that are missing."""
    if not disk.exists(path):
        make_folders(path.parent, disk)
        with suppress(FileExistsError):
            disk.make_folder(path)
            disk.sync(path.parent)


def write_whole(path: Path, content: bytes, disk: Disk) -> None:
    """A file that is there as it was or as it is to be, whatever happens."""
    new = path.with_name(f".{path.name}.new")
    if disk.exists(new):  # of a process that was killed, perhaps another user's
        disk.remove(new)
    disk.write(new, content, disk.mode(path))
    disk.sync(new)
    disk.replace(new, path)
    disk.sync(path.parent)
