"""One appliance to a data directory: two in a room would answer each other."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import ApplianceError


@contextmanager
def only_one(directory: Path) -> Iterator[None]:
    """Hold the place of the running appliance. ApplianceError, naming the process, where it is taken.

    The place is a lock that the kernel gives back however the process ends, so a crash leaves nothing to clean up.
    """
    path = directory / "run.lock"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ApplianceError(
            str(path),
            f"cannot be opened: {error.strerror}",
            remedy="Make the data directory writable, or name another one with APPLIANCE_DATA",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
            raise ApplianceError(
                "appliance run",
                f"an appliance is running already, as process {owner}",
                allowed="one at a time",
                remedy=f"Stop it first, for instance with: kill {owner}",
            ) from None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
