"""Where the generations lie, and how each change of them is made so that a power cut leaves the old or the new.

    DATA/config/generations/0007/   the files of generation 7, whole once the folder has that name
    DATA/config/state.json          what became of each generation; written last
    DATA/config/lock                held by whoever changes any of it, or the owner's files by command

Several of the owner's files change together: state.json says so before (`writing`), and whoever comes next completes
it, unless somebody else has changed one of them meanwhile. A damaged state.json is set aside.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from appliance.config.disk import Disk, make_folders, write_whole
from appliance.config.owner import Files, OwnerFiles
from appliance.config.states import Record, State, Writing, decode, digest_of, digests, encode, unknown
from appliance.errors import ApplianceError, BadInputError

PATIENCE = 10.0
"""Seconds that one change waits for another."""

_NUMBER = re.compile(r"[0-9]{4,8}")


class Shelf:
    """The generations in `directory` of the files of `owner`. OSError from everything that does not say otherwise."""

    def __init__(self, directory: Path, owner: OwnerFiles, disk: Disk) -> None:
        self.directory = directory
        self._owner = owner
        self._disk = disk
        self._folder = directory / "generations"
        self._state_path = directory / "state.json"
        self._notes: list[str] = []

    def notes(self) -> list[str]:
        """What the owner has to know, and was not told before."""
        notes, self._notes = self._notes, []
        return notes

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes anything meanwhile, and nothing is half done.

        ApplianceError: it cannot be, or an OSError came out of what was done meanwhile.
        """
        try:
            make_folders(self._folder, self._disk)
            with self._disk.lock(self.directory / "lock", PATIENCE):
                self._complete()
                yield
        except TimeoutError as error:
            raise ApplianceError(
                str(self.directory), "another change is being made", remedy="Try again when it is done"
            ) from error
        except OSError as error:
            place = str(error.filename or self.directory)
            raise ApplianceError(place, f"it cannot be used ({error.strerror})", remedy=_remedy(error)) from error

    def load(self) -> State:
        """What is known of the generations."""
        try:
            return decode(self._disk.read(self._state_path))
        except FileNotFoundError:
            return self._rebuilt()
        except ValueError as error:
            why = str(error)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EFBIG):  # of something that is no such file
                raise
            why = str(error.strerror)
        state = self._rebuilt()
        aside = self._state_path.with_name(f"{self._state_path.name}.damaged")
        self._disk.replace(self._state_path, aside)
        self._notes.append(f"{self._state_path} was damaged ({why}), and is set aside as {aside.name}.")
        return self.save(state)

    def peek(self) -> State:
        """What is known, as far as it can be read. Changes nothing, and never raises."""
        try:
            return decode(self._disk.read(self._state_path))
        except (OSError, ValueError):
            with suppress(OSError):
                return self._rebuilt()
            return State()

    def save(self, state: State) -> State:
        """This is known from now on."""
        write_whole(self._state_path, encode(state), self._disk)
        return state

    def stored(self, number: int) -> OwnerFiles:
        """The files of a generation, which are those that `store` was given if they have the digest of its record."""
        return OwnerFiles(self._folder / f"{number:04}" / self._owner.main.name, self._disk)

    def next_number(self, state: State) -> int:
        """One that no generation ever had, as far as is known."""
        return max([0, *self._numbers(), *(record.number for record in state.records)]) + 1

    def store(self, state: State, record: Record, files: Files) -> State:
        """A new generation: its files are there whole before it is known."""
        new = self._folder / ".new"
        self._disk.remove_folder(new)
        self._disk.make_folder(new)
        for name, content in files.items():
            path = new / name
            make_folders(path.parent, self._disk)
            self._disk.write(path, content)
            self._disk.sync(path)
            self._disk.sync(path.parent)
        self._disk.replace(new, self.stored(record.number).main.parent)
        self._disk.sync(self._folder)
        state = self.save(state.with_new(record).trimmed())
        self._forget_others(state)
        return state

    def put(self, state: State, number: int) -> State:
        """The owner's files are those of a generation now, all of them, even if the power is cut meanwhile.

        BadInputError: what is there instead of them cannot be read.
        """
        before, files = self._owner.read(), self.stored(number).read()
        self.save(replace(state, writing=Writing(number, digests(before))))
        try:
            self._owner.put(files)
        except OSError:
            with suppress(OSError):
                self._owner.put(before)
            with suppress(OSError):
                self.save(state)
            raise
        return self.save(state)

    def _complete(self) -> None:
        """Do what somebody who was killed has left half done."""
        state = self.load()
        if state.writing is None:
            return
        try:
            now, files = digests(self._owner.read()), self._whole(state, state.writing.number)
            if _halfway(now, state.writing.before, digests(files)):
                self._owner.put(files)
        except (ApplianceError, OSError) as error:
            self._notes.append(f"A change of the configuration that was interrupted cannot be completed. {error}")
        self.save(replace(state, writing=None))

    def _whole(self, state: State, number: int) -> Files:
        record, files = state.record(number), self.stored(number).read()
        if record is None or record.digest != digest_of(files):
            raise BadInputError(str(self._folder), f"generation {number} is damaged")
        return files

    def _forget_others(self, state: State) -> None:
        for number in self._numbers():
            if state.record(number) is None:
                old = self._folder / ".old"  # one that is half gone must not be taken for a whole one
                self._disk.remove_folder(old)
                self._disk.replace(self.stored(number).main.parent, old)
                self._disk.remove_folder(old)

    def _numbers(self) -> list[int]:
        return [int(name) for name in self._disk.names(self._folder) if _NUMBER.fullmatch(name)]

    def _rebuilt(self) -> State:
        found = []
        for number in sorted(self._numbers()):
            with suppress(ApplianceError):
                if files := self.stored(number).read():
                    found.append((number, files))
        return unknown(found)


def _halfway(now: dict[str, str], before: dict[str, str], after: dict[str, str]) -> bool:
    """Whether each file is as it was or as it is to be."""
    return all(now.get(name) in (before.get(name), after.get(name)) for name in {*now, *before, *after})


def _remedy(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "Use sudo, or log in as somebody in the group appliance"
    return "Make room, or check the disk"
