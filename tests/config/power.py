"""A disk in memory that loses its power: after a number of operations, and with what was not synced in doubt."""

import errno
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.config.disk import FILE_MODE, Disk


class PowerCutError(BaseException):
    """Nothing goes on after this."""


@dataclass
class File:
    now: bytes = b""
    safe: bytes = b""


@dataclass
class Folder:
    now: dict[str, "File | Folder"] = field(default_factory=dict)
    safe: dict[str, "File | Folder"] = field(default_factory=dict)
    pending: list[dict[str, "File | Folder | None"]] = field(default_factory=list)
    """What has happened to the names since the last sync; each of them happens as a whole or not at all."""


class FakeDisk(Disk):
    """Holds `files`. `left` operations work, and the one after them raises PowerCutError."""

    def __init__(self, files: dict[Path, bytes] | None = None, left: int = 10**9) -> None:
        self.root = Folder()
        self.left = left
        self.done = 0
        self.read_only = False
        for path, content in (files or {}).items():
            self._folder(path.parent, make=True).now[path.name] = File(content, content)
        _settle(self.root)

    def rebooted(self, chance: random.Random | None, left: int = 10**9) -> "FakeDisk":
        """What is there after a power cut: only what was synced, or else what `chance` adds to that."""
        after = FakeDisk(left=left)
        after.root = _survivor(self.root, chance)
        return after

    def contents(self, folder: Path) -> dict[str, bytes]:
        """All files in a folder."""
        found = self._find(folder)
        return {name: each.now for name, each in found.now.items() if isinstance(each, File)} if found else {}

    def read(self, path: Path) -> bytes:
        node = self._node(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        if isinstance(node, Folder):
            raise OSError(errno.EINVAL, "it is not a file")
        return node.now

    def names(self, folder: Path) -> list[str]:
        node = self._node(folder)
        if isinstance(node, File):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(folder))
        return sorted(node.now) if node else []

    def exists(self, path: Path) -> bool:
        return self._node(path) is not None

    def mode(self, path: Path) -> int:
        return FILE_MODE

    def make_folder(self, path: Path) -> None:
        self._spend()
        self._change(path.parent, {path.name: Folder()})

    def write(self, path: Path, content: bytes, mode: int = FILE_MODE) -> None:
        self._spend()
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, "File exists", str(path))
        self._change(path.parent, {path.name: File(content)})

    def sync(self, path: Path) -> None:
        self._spend()
        node = self._node(path)
        if isinstance(node, File):
            node.safe = node.now
        elif node is not None:
            node.safe = dict(node.now)
            node.pending.clear()

    def replace(self, path: Path, target: Path) -> None:
        self._spend()
        assert path.parent == target.parent
        node = self._node(path)
        assert node is not None
        self._change(path.parent, {target.name: node, path.name: None})

    def remove(self, path: Path) -> None:
        self._spend()
        self._change(path.parent, {path.name: None})

    def remove_folder(self, path: Path) -> None:
        if self.exists(path):
            self._spend()
            self._change(path.parent, {path.name: None})

    @contextmanager
    def lock(self, path: Path, patience: float) -> Iterator[None]:
        yield

    def _spend(self) -> None:
        if self.read_only:
            raise OSError(errno.EROFS, "Read-only file system")
        if self.left == 0:
            raise PowerCutError
        self.left -= 1
        self.done += 1

    def _change(self, folder: Path, names: dict[str, File | Folder | None]) -> None:
        here = self._folder(folder)
        here.pending.append(names)
        _apply(here.now, names)

    def _folder(self, path: Path, *, make: bool = False) -> Folder:
        here = self.root
        for part in path.parts:
            if make:
                here.now.setdefault(part, Folder())
            inner = here.now.get(part)
            if not isinstance(inner, Folder):
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
            here = inner
        return here

    def _find(self, path: Path) -> Folder | None:
        node = self._node(path)
        return node if isinstance(node, Folder) else None

    def _node(self, path: Path) -> File | Folder | None:
        here: File | Folder | None = self.root
        for part in path.parts:
            here = here.now.get(part) if isinstance(here, Folder) else None
        return here


def _apply(names: dict[str, File | Folder], change: dict[str, File | Folder | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _settle(folder: Folder) -> None:
    folder.safe = dict(folder.now)
    for node in folder.now.values():
        if isinstance(node, Folder):
            _settle(node)


def _survivor(folder: Folder, chance: random.Random | None) -> Folder:
    names = dict(folder.safe)
    for change in folder.pending:
        if chance is not None and chance.random() < 0.5:
            _apply(names, change)
    after = Folder()
    for name, node in names.items():
        after.now[name] = _survivor(node, chance) if isinstance(node, Folder) else _surviving_file(node, chance)
    after.safe = dict(after.now)
    return after


def _surviving_file(file: File, chance: random.Random | None) -> File:
    content = file.safe
    if chance is not None and file.now != file.safe:
        content = chance.choice([file.safe, file.now, file.now[: len(file.now) // 2], bytes(len(file.now))])
    return File(content, content)
