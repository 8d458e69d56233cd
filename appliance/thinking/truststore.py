"""The file in the data directory that says which servers are trusted; the command and the appliance share it."""

import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.files import write_safely
from appliance.thinking.server import Server
from appliance.thinking.trust import Known, Remembered, decode, encode, find, met, with_trusted, without

_log = logging.getLogger(__name__)

NAME = "trusted-servers.json"


class TrustStore:
    """What is remembered in `directory`. `now` gives the local time. From any thread.

    A change is either there as a whole or not at all, whatever happens meanwhile, and two never overwrite each other.
    """

    def __init__(self, directory: Path, now: Callable[[], datetime]) -> None:
        self.path = directory / NAME
        self._now = now
        self._seen: tuple[object, Known] = (None, None)

    def known(self) -> Known:
        """What is remembered now. Cheap: the file is only read when it has changed.

        One that is damaged is set aside, and one that cannot be read is left alone: either is logged, and no server
        found is trusted then.
        """
        mark = self._mark()
        if mark != self._seen[0]:
            try:
                self._seen = (mark, self._read_or_settle())
            except OSError as error:
                self._seen = (mark, ())
                _log.error("%s cannot be read (%s): no server found is trusted", self.path, error.strerror)
        return self._seen[1]

    def has_met(self, server: Server) -> bool:
        """Whether `meet` would change nothing."""
        known = self.known()
        return self._met(server, known) == known

    def meet(self, server: Server) -> None:
        """`server` has proved itself: remember it if it is the first one, or was trusted by its name alone.

        Where nothing can be written this holds until the end of the process, and is logged.
        """
        try:
            with self._alone():
                known = self._settle()
                after = self._met(server, known)
                if after is not None and after != known:
                    write_safely(self.path, encode(after))
                    _log.warning("%s (%s) was found, and is trusted from now on", server.name, server.url)
        except OSError as error:
            self._seen = (self._mark(), self._met(server, self.known()))
            _log.error("%s cannot be written (%s): whom to trust is forgotten again", self.path, error.strerror)

    def trust(self, name: str, properties: dict[str, str] | None) -> None:
        """Trust the server of that name, instead of what had it before. ApplianceError when it cannot be written."""
        with self._changing():
            new = Remembered(name, "owner", self._today(), properties)
            write_safely(self.path, encode(with_trusted(self._settle(), new)))

    def forget(self, name: str) -> bool:
        """Trust it no longer; False if it never was. ApplianceError when it cannot be written."""
        with self._changing():
            known = self._settle()
            if find(name, known) is None:
                return False
            write_safely(self.path, encode(without(known, name)))
        return True

    def _met(self, server: Server, known: Known) -> Known:
        return met(server, known, self._today())

    def _today(self) -> str:
        return self._now().date().isoformat()

    def _mark(self) -> object:
        """What is another one after each change; None if there is no file."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            return error.errno
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self) -> Known:
        try:
            return decode(self.path.read_bytes())
        except FileNotFoundError:
            return None

    def _read_or_settle(self) -> Known:
        try:
            return self._read()
        except ValueError:
            with self._alone():
                return self._settle()

    def _settle(self) -> Known:
        """What the file says, to one who is alone with it, and sets it aside if it is damaged."""
        try:
            known = self._read()
        except ValueError as error:
            known = ()
            self._set_aside(str(error))
        return known

    def _set_aside(self, why: str) -> None:
        aside = self.path.with_suffix(".damaged")
        try:
            write_safely(aside, self.path.read_bytes())
            write_safely(self.path, encode(()))  # not moved: without a file the first one found would be trusted
            where = f"set aside as {aside.name}"
        except OSError as error:
            where = f"left where it is ({error.strerror})"
        _log.error(
            "%s is damaged (%s), and %s: no server found is trusted until you say so, with: appliance llm trust NAME",
            self.path,
            why,
            where,
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process changes the file meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            with self._alone():
                yield
        except OSError as error:
            raise ApplianceError(
                str(self.path),
                f"cannot be written: {error.strerror}",
                allowed="the user of the appliance, and root" if isinstance(error, PermissionError) else "",
                remedy="Use sudo" if isinstance(error, PermissionError) else "Make room, or check the disk",
            ) from error
