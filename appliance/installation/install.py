"""Installing a version, and removing all of it again.

Each step can be repeated, and what a power cut leaves is finished by the next run: a version that is not complete is
made anew, and while a new one has not yet been ready, `fallback` leads to the one before. At the next boot that one is
current again (appliance-settle.service); if the new one gets ready, `fallback` becomes `previous`. Its models change
with the version (`weights`).

Whoever installs may be gone before the end, with the terminal: nothing that is said may keep anything from being done.
"""

import os
import pwd
import shutil
import sys
from pathlib import Path
from typing import TextIO

from appliance import files
from appliance.errors import ApplianceError
from appliance.installation import unit, weights
from appliance.installation.bundle import Bundle
from appliance.installation.place import SERVICE, SETTLE, USER, Place
from appliance.installation.process import Program
from appliance.installation.version import AGAIN, Pip, is_complete, lock_of, make, remove_others, version_of

BAD_INPUT = 2
"""The status of a command that finds the configuration bad."""

STEPS = 254
"""The version of systemd from which on it knows growing pauses between restarts."""


def install(checkout: Path, place: Place, bundle: Bundle | None, lock: str | None) -> None:
    """Install the checkout's version and wait until it is ready; if it does not get there, go back.

    `lock` is what it is made of, as far as the owner said. ApplianceError: it is not installed, or not ready.
    """
    unit.require()
    version = _complete(checkout, place, bundle, lock or lock_of(place.current))
    _make_user(version)
    before = place.current.resolve() if place.current.is_symlink() else None
    weights.prepare(version, before, place)
    _fetch_models(version, place, bundle)
    _switch(version, before, place)
    _try(version, place)
    weights.remove_others(place)
    for name in remove_others(place.versions, [place.current, place.previous]):
        say(f"Removed version {name}")
    unit_status = unit.state().status
    say(f"The appliance runs, version {version.name}{f': {unit_status}' if unit_status else ''}")


def uninstall(place: Place, *, purge: bool) -> None:
    """Remove all of it; what is the owner's, models and user stay unless it is a `purge`."""
    if unit.state().active != "inactive":
        unit.control("stop", SERVICE)
    Program().output("systemctl", "disable", SERVICE, SETTLE)
    weights.keep(place)
    # Without `last_end`, the first start of what may be installed again is one.
    for path in [*place.links(), *place.restart_steps(), place.settle, place.last_end]:
        path.unlink(missing_ok=True)
    owners = (place.data, place.configuration, place.overrides)
    for folder in (place.home, place.cache, *(owners if purge else ())):
        _remove(folder)
    if purge and _is_user():
        for command in (("userdel", USER), ("groupdel", "appliance-owner")):
            Program().output(*command)
    unit.control("daemon-reload")
    kept = "" if purge else f". {place.configuration} and {place.data} are still here; --uninstall --purge removes them"
    say(f"The appliance is removed{kept}")


def say(line: str) -> None:
    """Tell how far it is, if somebody is still there."""
    tell(f"==> {line}", sys.stdout)


def tell(text: str, stream: TextIO | None) -> None:
    """Write a line, if that can still be read; `stream` is None if it was closed from the beginning."""
    if stream is None:
        return
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except OSError:
        # Python must not try again to write it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complete(checkout: Path, place: Place, bundle: Bundle | None, lock: str) -> Path:
    version = place.versions / version_of(checkout, lock)
    if is_complete(version):
        return version
    say(f"Version {version.name}, in {version}")
    place.versions.mkdir(parents=True, exist_ok=True)
    place.cache.mkdir(parents=True, exist_ok=True)
    make(checkout, version, lock, Pip(place.cache, bundle.packages if bundle else None))
    files.sync(place.versions)
    return version


def _make_user(version: Path) -> None:
    for command, file in (("systemd-sysusers", "sysusers.conf"), ("systemd-tmpfiles", "tmpfiles.conf")):
        create = ["--create"] if command == "systemd-tmpfiles" else []
        Program().run(command, *create, version / "systemd" / file, doing=f"user {USER}", remedy=AGAIN)


def _fetch_models(version: Path, place: Place, bundle: Bundle | None) -> None:
    data = weights.data_of(version, place)
    if bundle:
        bundle.copy_models(data, USER)
    say("Models")
    environment = {**os.environ, "HOME": str(place.data), "APPLIANCE_DATA": str(data)}
    command = version / ".venv/bin/appliance"
    status = Program(place.data, environment, USER).status(command, "models", "verify" if bundle else "fetch")
    if status == BAD_INPUT:
        say("The configuration is bad, as said above: the one before stays in force, and so do its models")
    elif status:
        raise ApplianceError("models", "the reason is above", remedy=bundle.again if bundle else AGAIN)


def _switch(version: Path, before: Path | None, place: Place) -> None:
    """Make a version current, with a way back to a different one that was."""
    if before == version:
        return
    if before and not place.fallback.is_symlink():
        files.link(place.fallback, before)
    files.link(place.current, version)


def _link(place: Place) -> None:
    links = place.links() | (place.restart_steps() if unit.number() >= STEPS else {})
    for path, target in links.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.link(path, target)
    files.write_safely(place.settle, (place.current / "systemd" / SETTLE).read_bytes())
    unit.control("daemon-reload")
    unit.control("enable", SERVICE, SETTLE)


def _try(version: Path, place: Place) -> None:
    """Have the current version run. ApplianceError: it does not, and if there was one before, that one is back."""
    if not (problem := _begin(place)):
        if place.fallback.is_symlink():
            files.rename(place.fallback, place.previous)
        return
    remedy = f"See why: journalctl --unit {SERVICE}"
    if not place.fallback.is_symlink():
        raise ApplianceError(f"version {version.name}", problem, remedy=f"{remedy}. {AGAIN}")
    files.rename(place.fallback, place.current)
    before = place.current.resolve().name
    say(f"Version {version.name}: {problem}. Going back to {before}")
    unit.control("daemon-reload")
    result = "is back, and ready" if not (again := unit.restart()) else f"is back, but {again}"
    raise ApplianceError(f"version {version.name}", f"{problem}; version {before} {result}", remedy=remedy)


def _begin(place: Place) -> str:
    """Start the current version, unless it runs; why it does not get ready, or ""."""
    try:
        _link(place)
        weights.lead(place)
        if unit.state().ready and not place.fallback.is_symlink():
            return ""
        say("Waiting until it is ready")
        return unit.restart()
    except (ApplianceError, OSError) as error:
        return str(error)


def _is_user() -> bool:
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return False
    return True


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ApplianceError(str(folder), f"cannot be removed: {error.strerror}", remedy="Run it again") from error
