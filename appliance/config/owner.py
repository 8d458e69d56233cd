"""The files in which the owner says how things are to be: the main one, and drop-ins in the folder beside it.

appliance.toml comes first, then the files appliance.toml.d/*.toml in the order of their names.
"""

from collections.abc import Mapping
from pathlib import Path

from appliance.config.disk import Disk, make_folders, write_whole
from appliance.config.layers import Source
from appliance.errors import SeveralProblemsError

Files = Mapping[str, bytes]
"""What is in each file, by its path from the folder of the main one."""


class OwnerFiles:
    """The files around `main`, which need not be there."""

    def __init__(self, main: Path, disk: Disk) -> None:
        self.main = main
        self.drop_ins = main.with_name(f"{main.name}.d")
        self._disk = disk

    def read(self) -> dict[str, bytes]:
        """Those that there are, as they are now. SeveralProblemsError: some cannot be read."""
        found: dict[str, bytes] = {}
        problems = []
        for name in self._names():
            path = self.path(name)
            if not name.isprintable():
                problems.append(f"{self.drop_ins}: the name {path.name!a} is not printable text")
                continue
            try:
                found[name] = self._disk.read(path)
            except (FileNotFoundError, NotADirectoryError):
                continue  # the main one need not be there, and others may go this very moment
            except OSError as error:
                problems.append(f"{path}: it cannot be read ({error.strerror})")
        if problems:
            raise SeveralProblemsError(str(self.main), problems)
        return found

    def put(self, files: Files) -> None:
        """Make these the ones that there are, one after the other. OSError."""
        now = self.read()
        for name, content in files.items():
            if now.get(name) != content:
                path = self.path(name)
                make_folders(path.parent, self._disk)
                write_whole(path, content, self._disk)
        for name in now.keys() - files.keys():
            path = self.path(name)
            self._disk.remove(path)
            self._disk.sync(path.parent)

    def path(self, name: str) -> Path:
        """Where a file is."""
        return self.main.parent / name

    def sources(self, files: Files) -> list[Source]:
        """The files as layers, each with its place, in their order."""
        return [Source(str(self.path(name)), files[name]) for name in self.in_order(files)]

    def in_order(self, files: Files) -> list[str]:
        """Their names, what goes before the others last."""
        return sorted(files, key=lambda name: (name != self.main.name, name))

    def _names(self) -> list[str]:
        try:
            drop_ins = self._disk.names(self.drop_ins)
        except NotADirectoryError:
            drop_ins = []
        except OSError as error:
            raise SeveralProblemsError(
                str(self.drop_ins), [f"{self.drop_ins}: it cannot be read ({error.strerror})"]
            ) from error
        wanted = [name for name in drop_ins if name.endswith(".toml") and not name.startswith(".")]
        return [self.main.name, *(f"{self.drop_ins.name}/{name}" for name in wanted)]
