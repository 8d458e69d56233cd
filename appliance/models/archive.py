"""Files out of a wheel or an archive, hashed while they are written to the disk for good."""

import hashlib
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from appliance.errors import ApplianceError
from appliance.models.manifest import File, is_below

_BLOCK = 1 << 20


def unpack_wheel(wheel: Path, files: Iterable[File], into: Path) -> None:
    """Write each member to its path below `into`. ApplianceError when one is not what the manifest says."""
    with _opened(wheel) as archive:
        members = {info.filename: info for info in archive.infolist()}
        for file in files:
            if file.member not in members:
                raise _unusable(wheel, f"there is no {file.member} in it")
            written = _write(archive, members[file.member], into, file.path)
            if (written.size, written.sha256) != (file.size, file.sha256):
                raise _unusable(wheel, f"the {file.member} in it is not the one that the manifest promises")


def unpack_archive(path: Path, name: str, into: Path) -> tuple[File, ...]:
    """Write what is in the single top folder of a zip to the folder `name` below `into`, and say what that was.

    ApplianceError, with nothing written, when it has no such folder, links, or paths that lead out of it.
    """
    with _opened(path) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        targets = {_below_top(path, info): info for info in infos}
        tops = {PurePosixPath(info.filename).parts[0] for info in infos}
        if len(tops) != 1:
            raise _unusable(
                path, f"it has not one folder with files in it, but: {', '.join(sorted(tops)) or 'nothing'}"
            )
        return tuple(_write(archive, info, into, f"{name}/{below}") for below, info in targets.items())


def _below_top(path: Path, info: ZipInfo) -> str:
    parts = PurePosixPath(info.filename).parts
    kind = stat.S_IFMT(info.external_attr >> 16)
    if not is_below(info.filename) or len(parts) < 2 or kind not in (0, stat.S_IFREG):
        raise _unusable(path, f"it has an entry that does not belong there: {info.filename!r}")
    return "/".join(parts[1:])


def _write(archive: ZipFile, info: ZipInfo, into: Path, name: str) -> File:
    target = into / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(info) as source, target.open("xb") as file:
        while block := source.read(_BLOCK):
            file.write(block)
            digest.update(block)
        file.flush()
        os.fsync(file.fileno())
        return File(name, file.tell(), digest.hexdigest())


@contextmanager
def _opened(path: Path) -> Iterator[ZipFile]:
    try:
        with ZipFile(path) as archive:
            yield archive
    except (BadZipFile, zlib.error, EOFError) as error:
        raise _unusable(path, f"it is damaged: {error}") from error


def _unusable(path: Path, found: str) -> ApplianceError:
    return ApplianceError(path.name, found, remedy="Nothing was put in place. Try later, or update the appliance")
