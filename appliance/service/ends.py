"""How the process before this one has ended: a small file in the data directory, written at start and end."""

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from appliance.errors import ApplianceError
from appliance.files import write_safely

_log = logging.getLogger(__name__)

NAME = "last-end.json"

BOOT = Path("/proc/sys/kernel/random/boot_id")

How = Literal["stopped", "failed", "watchdog", "crashed", "power cut"]


class End(msgspec.Struct, frozen=True):
    """How a process has ended."""

    how: How
    why: str = ""
    at: float = 0.0
    """In seconds since 1970; for a crash or a power cut, when the process had begun."""


class _Note(msgspec.Struct, frozen=True):
    """What the file says: a process that was at work, and how it ended if it came to say so."""

    boot: str
    began: float
    end: End | None = None
    place: str = ""
    """Where its code lay; another version lies somewhere else."""
    said_ready: bool = False
    """It, or one like it before, became ready, and said so."""


class Ends:
    """Notes in `directory`, while it is entered, that a process is at work, and afterwards how it ended.

    `last` is how the one before has ended; None if there was none. `is_news`: none has said that it is ready since the
    machine was started, and none of this version. A file that cannot be read or written is logged.
    """

    def __init__(self, directory: Path, now: Callable[[], float] = time.time) -> None:
        self._path = directory / NAME
        self._now = now
        self._boot = _boot()
        self._began = 0.0
        self.last: End | None = None
        self.is_news = True

    def __enter__(self) -> Self:
        self.last = self._read()
        self._began = self._now()
        self._write(None)
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, Exception):
            why = str(error) if isinstance(error, ApplianceError) else repr(error)
            self._write(End("failed", why, self._now()))
        else:
            self._write(End("stopped", "", self._now()))

    def said_ready(self) -> None:
        """It is no news any more."""
        if self.is_news:
            self.is_news = False
            self._write(None)

    def starving(self, why: str) -> None:
        """The watchdog is going to end the process, unless it heals: then there is nothing to say why."""
        self._write(End("watchdog", why, self._now()) if why else None)

    def _read(self) -> End | None:
        try:
            note = msgspec.json.decode(self._path.read_bytes(), type=_Note)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("%s cannot be read: %s", self._path, error)
            return None
        self.is_news = (note.boot, note.place, note.said_ready) != (self._boot, sys.prefix, True)
        if note.end is not None:
            return note.end
        return End("crashed" if note.boot == self._boot else "power cut", "", note.began)

    def _write(self, end: End | None) -> None:
        try:
            write_safely(
                self._path, msgspec.json.encode(_Note(self._boot, self._began, end, sys.prefix, not self.is_news))
            )
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path, error)


def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""
