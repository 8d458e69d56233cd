"""A version of the appliance in a folder of its own: the code, and the environment that it runs in.

A version counts from the moment that it holds `complete`, which is written last, when all else is on the disk. One
without it was cut off, and is made anew.
"""

import hashlib
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from appliance import files
from appliance.errors import ApplianceError
from appliance.installation.process import Program

CODE = ("appliance", "config", "docs", "models", "systemd", "LICENSE", "README.md", "install.sh", "pyproject.toml")
"""What is copied from a checkout."""

FROM_THE_SYSTEM = ("pyaudio", "systemd-python")
"""Packages that Debian has compiled: no other wheels of them exist, and no device needs a compiler for them."""

COMPLETE = "complete"

AGAIN = "Run install.sh again: it goes on from here"


LOCKS = ("run", "local-llm")
"""What a version may be made of, as lock files in config/: what runs, and that with a model in the box."""


def version_of(checkout: Path, lock: str) -> str:
    """The name of the version that is made from a checkout; another one for whatever is different."""
    digest = hashlib.sha256()
    for path in _files(checkout):
        mode = path.stat().st_mode & 0o100
        digest.update(f"{path.relative_to(checkout)} {mode} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    digest.update(f"{sys.version_info[:2]} {lock}".encode())
    number = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["version"]
    return f"{number}-{digest.hexdigest()[:12]}"


def is_complete(version: Path) -> bool:
    """Whether it has everything."""
    return (version / COMPLETE).is_file()


def lock_of(version: Path) -> str:
    """The lock file that a complete version was made with; the first one, if it is not complete."""
    return (version / COMPLETE).read_text().strip() if is_complete(version) else LOCKS[0]


def make(checkout: Path, version: Path, lock: str, pip: "Pip") -> None:
    """Make a version from a checkout, in place of what was left of one that was cut off."""
    shutil.rmtree(version, ignore_errors=True)
    copy_code(checkout, version)
    pip.make_environment(version, lock)
    os.sync()
    files.write_safely(version / COMPLETE, f"{lock}\n".encode())


def copy_code(checkout: Path, version: Path) -> None:
    """Copy what a version has from a checkout, for everybody to read."""
    for path in _files(checkout):
        copy = version / path.relative_to(checkout)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _files(checkout: Path) -> Iterator[Path]:
    for name in CODE:
        top = checkout / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


class Pip:
    """What fills environments: the package index or, offline, a folder of packages."""

    def __init__(self, cache: Path, packages: Path | None = None) -> None:
        self._options = ["--disable-pip-version-check", "--no-input", "--quiet", "--cache-dir", str(cache)]
        self._sources = ["--no-index", "--find-links", str(packages)] if packages else []

    def make_environment(self, version: Path, lock: str) -> None:
        """Make the environment of a version."""
        self.make_builder(version)
        self._pip(version, "install", "--require-hashes", "--no-deps", "-r", self.requirements(version, lock))
        self._pip(version, "install", "--no-deps", "--editable", version)
        self._run(version, version / ".venv/bin/python", "-m", "compileall", "-q", version / "appliance")
        # Only now, so that none of the system's packages is taken for one of ours.
        settings = version / ".venv/pyvenv.cfg"
        settings.write_text(re.sub("(?m)^(include-system-site-packages).*", r"\1 = true", settings.read_text()))

    def make_builder(self, version: Path) -> None:
        """Make an environment that has what builds packages, and nothing else yet."""
        self._run(version, sys.executable, "-m", "venv", version / ".venv")
        self._pip(version, "install", "--require-hashes", "-r", version / "config/build.lock")

    def download(self, version: Path, lock: str, into: Path) -> None:
        """Fetch all packages that an environment is made of."""
        self.make_builder(version)
        for locked in (version / "config/build.lock", self.requirements(version, lock)):
            self._pip(version, "download", "--require-hashes", "--no-deps", "--dest", into, "-r", locked)

    def requirements(self, version: Path, lock: str) -> Path:
        """A file with the locked packages that do not come from the system."""
        locked = (version / f"config/{lock}.lock").read_text()
        names = "|".join(map(re.escape, FROM_THE_SYSTEM))
        path = version / ".venv/requirements"
        path.write_text(re.sub(rf"(?m)^({names})==.*\n( .*\n)*", "", locked))
        return path

    def _pip(self, version: Path, verb: str, *arguments: str | Path) -> None:
        pip = (version / ".venv/bin/python", "-m", "pip", verb, "--no-build-isolation")
        self._run(version, *pip, *self._options, *self._sources, *arguments)

    def _run(self, version: Path, *command: str | Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        Program(version, environment).run(*command, doing="Python packages", remedy=AGAIN)


def remove_others(versions: Path, keep: Sequence[Path]) -> list[str]:
    """Remove all versions that `keep` does not name or lead to, and say which."""
    kept = {path.resolve() for path in keep}
    others = [path for path in sorted(versions.iterdir()) if path.resolve() not in kept]
    for path in others:
        (path / COMPLETE).unlink(missing_ok=True)  # first: what is half removed is not complete
        try:
            shutil.rmtree(path)
        except OSError as error:
            raise ApplianceError(str(path), f"cannot be removed: {error.strerror}", remedy=AGAIN) from error
    return [path.name for path in others]
