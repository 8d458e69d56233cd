"""The models of several versions side by side: a version may have other files than another one for the same model.

Each version has a tree of its own, of hard links, so that what is the same lies on the disk once. `models` in the data
directory leads to `current/weights`, and `weights` in a version to its tree. So whatever makes a version current, be it
the installation or, after a power cut, appliance-settle.service, gives it its models by the same renaming.
"""

import os
import shutil
import sys
from pathlib import Path

from appliance import files
from appliance.installation.place import USER, Place
from appliance.installation.process import Program
from appliance.installation.version import AGAIN

LINK = "weights"
"""In a version: leads to its tree."""

REPLACED = "replaced"
"""Beside the trees: the folder that was `models` before versions had trees."""


def data_of(version: Path, place: Place) -> Path:
    """The data directory in which a version's models are fetched: `models` in it is the version's tree."""
    return place.weights / version.name


def prepare(version: Path, before: Path | None, place: Place) -> None:
    """Give a version a tree with all models that are here; what is in it already stays.

    `before`, the current version if there is one, goes on with what it has. ApplianceError: it cannot be done.
    """
    if before and before != version and not place.models.is_symlink():
        _prepare(before, version, place)
    _prepare(version, version, place)


def lead(place: Place) -> None:
    """Have `models` lead to the tree of whichever version is current."""
    target = place.current / LINK
    if place.models.is_symlink():
        if place.models.readlink() == target:
            return
    elif place.models.exists():
        # All in it is in the trees too. If the power fails before the link is there, appliance-settle.service makes it.
        _remove(place.weights / REPLACED)
        files.rename(place.models, place.weights / REPLACED)
    files.link(place.models, target)


def remove_others(place: Place) -> None:
    """Remove the trees of all versions but the current one, and one that could have to come back."""
    kept = {link.resolve().name for link in (place.current, place.fallback)}
    for path in place.weights.iterdir():
        if path.name not in kept:
            _remove(path)


def keep(place: Place) -> None:
    """Have `models` be a folder with the current version's models, for when there are no versions any more."""
    tree = (place.current / LINK).resolve()
    if tree.is_dir() and (place.models.is_symlink() or not place.models.exists()):
        place.models.unlink(missing_ok=True)
        files.rename(tree, place.models)
    if place.models.is_dir() and not place.models.is_symlink():
        _remove(place.weights)


def fill(old: Path, new: Path) -> None:
    """Link all files of a tree, if there is one, into another one, except those that it has."""
    new.mkdir(parents=True, exist_ok=True)
    for path in old.iterdir() if old.is_dir() else ():
        copy = new / path.name
        if path.name.startswith("."):
            continue  # downloads under way, and the lock of whoever fetches
        if _is_folder(path) and (_is_folder(copy) or not os.path.lexists(copy)):
            fill(path, copy)
        elif not os.path.lexists(copy):
            os.link(path, copy, follow_symlinks=False)


def _prepare(version: Path, program: Path, place: Place) -> None:
    tree = data_of(version, place) / place.models.name
    if not place.models.is_dir() or place.models.resolve() != tree.resolve():
        _link_as_user(program, place.models, tree)
    os.sync()
    files.link(version / LINK, tree)


def _link_as_user(program: Path, old: Path, new: Path) -> None:
    """By a process of the user, for what the user may change is no place for root to follow names in."""
    command = (program / ".venv/bin/python", "-I", "-m", "appliance.installation.weights", old, new)
    Program(Path("/"), user=USER).run(*command, doing="models", remedy=AGAIN)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """`fill`, for `_link_as_user`."""
    os.umask(0o007)  # the group's, as is all else in the data directory
    fill(Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
