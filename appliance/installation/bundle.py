"""A folder with everything that an installation fetches, for a machine without a network."""

import filecmp
import hashlib
import lzma
import os
import pwd
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import ApplianceError, BadInputError
from appliance.installation.process import Program
from appliance.installation.version import AGAIN, Pip, copy_code

INDEX = "Packages.xz"
"""The first name that apt looks for."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The folder: `debs` for apt, `packages` for pip, and `models`."""

    folder: Path

    @property
    def debs(self) -> Path:
        """What apt installs."""
        return self.folder / "debs"

    @property
    def packages(self) -> Path:
        """What pip installs."""
        return self.folder / "packages"

    @property
    def models(self) -> Path:
        """The model files."""
        return self.folder / "models"

    @property
    def again(self) -> str:
        """What to do about a bundle that lacks something."""
        return f"Make {self.folder} again on a machine of the same kind: ./install.sh --download {self.folder}"

    def require(self) -> None:
        """BadInputError: this is no bundle."""
        for folder in (self.debs, self.packages, self.models):
            if not folder.is_dir():
                raise BadInputError(str(folder), "there is no such folder", remedy=self.again)

    def copy_models(self, data: Path, user: str) -> None:
        """Copy the models that are not there yet."""
        owner = pwd.getpwnam(user)
        for path in sorted(self.models.rglob("*")):
            name = path.relative_to(self.folder)
            copy = data / name
            if path.is_dir() or any(part.startswith(".") for part in name.parts) or _is_whole(copy, path):
                continue
            for folder in reversed([each for each in copy.parents if not each.exists()]):
                folder.mkdir()
                os.chown(folder, owner.pw_uid, owner.pw_gid)
            new = copy.with_name(f".{copy.name}.new")
            shutil.copyfile(path, new)
            os.chown(new, owner.pw_uid, owner.pw_gid)
            new.replace(copy)
        os.sync()

    def fill(self, checkout: Path, lock: str) -> None:
        """Fetch what a version of the checkout needs, but for Debian's packages."""
        self.packages.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="appliance-") as name:
            version = Path(name)
            copy_code(checkout, version)
            Pip(self.folder / "cache").download(version, lock, self.packages)
            Pip(self.folder / "cache", self.packages).make_environment(version, lock)
            program = Program(version, {**os.environ, "APPLIANCE_DATA": str(self.folder)})
            if program.status(version / ".venv/bin/appliance", "models", "fetch") != 0:
                raise ApplianceError("models", "the reason is above", remedy=AGAIN)
        shutil.rmtree(self.folder / "cache", ignore_errors=True)


def index(debs: Path) -> None:
    """Write the index that makes a folder of Debian packages one that apt can install from."""
    with lzma.open(debs / INDEX, "wt") as file:
        for deb in sorted(debs.glob("*.deb")):
            fields = Program().output("dpkg-deb", "--field", deb).strip()
            digest = hashlib.sha256(deb.read_bytes()).hexdigest()
            file.write(f"{fields}\nFilename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n\n")


def _is_whole(copy: Path, path: Path) -> bool:
    return copy.is_file() and filecmp.cmp(path, copy, shallow=False)
