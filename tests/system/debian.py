"""A Debian system on a disk image, made once and kept in the user's cache for as long as its recipe is the same."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

SUITE = "bookworm"
"""The oldest with a Python that the appliance runs on."""

PACKAGES = ("linux-image-amd64", "kmod", "qemu-guest-agent", "python3-numpy", "python3-pyaudio")

OVERLAY = Path(__file__).with_name("root")
"""Files that are laid over the system after its essential packages, and before the rest."""

UNUSED = (
    "/usr/share/doc/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/lib/modules/*/kernel/drivers/gpu/*",
    "/lib/modules/*/kernel/drivers/media/*",
    "/lib/modules/*/kernel/drivers/net/ethernet/*",
    "/lib/modules/*/kernel/drivers/net/wireless/*",
)
"""What is left out, for it takes long to write."""

SIZE = "2G"

MAKING = 900.0
"""Seconds that one step may take."""


class Debian:
    """A system that was made: its disk, which nobody may change, and what boots it."""

    def __init__(self, folder: Path) -> None:
        self.disk = folder / "disk"
        self.kernel = folder / "vmlinuz"
        self.initrd = folder / "initrd"


def missing() -> str:
    """Why no system can be made here, or run; "" if it can."""
    if os.uname().machine != "x86_64":
        return "only made for x86-64"
    if os.geteuid() != 0:
        return "only root can make a Debian system"
    programs = ("mmdebstrap", "mke2fs", "qemu-system-x86_64", "setpriv")
    lacking = [program for program in programs if shutil.which(program) is None]
    return f"{' and '.join(lacking)} not installed: ./install.sh test does that" if lacking else ""


def debian() -> Debian:
    """The system of the recipe, made now if it is not there."""
    files = sorted(path for path in OVERLAY.rglob("*") if path.is_file())
    overlay = [f"{path.relative_to(OVERLAY)} {path.stat().st_mode & 0o100} {path.read_text()}" for path in files]
    return Debian(kept([*_recipe(PACKAGES, UNUSED), SUITE, SIZE, *overlay], _make))


def kept(recipe: Sequence[str], make: Callable[[Path, Path], None]) -> Path:
    """The folder that was made by a recipe, the same for every checkout; made now if it is not there.

    `make` gets a folder for what is of no more use afterwards, and the one to fill.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voice-appliance/systems"
    made = cache / hashlib.sha256("\0".join(recipe).encode()).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_dir():
            with tempfile.TemporaryDirectory(prefix="making-", dir=cache) as temporary:
                folder = Path(temporary) / "made"
                folder.mkdir()
                make(Path(temporary), folder)
                folder.rename(made)
    return made


def bootstrap(root: Path, scratch: Path, packages: Sequence[str], unused: Sequence[str], *options: str) -> None:
    """Make the root directory of a system with these packages."""
    acquire = scratch / "apt.conf"
    settings = _output("apt-config", "dump", "--no-empty", "Acquire").splitlines(keepends=True)
    acquire.write_text("".join(line for line in settings if not line.startswith("Acquire::IndexTargets")))
    _output(*_recipe(packages, unused), *options, f"--aptopt={acquire}", SUITE, str(root), *_mirror())


def _recipe(packages: Sequence[str], unused: Sequence[str]) -> list[str]:
    recipe = ["mmdebstrap", "--mode=root", "--variant=minbase", "--dpkgopt=force-unsafe-io"]
    return [*recipe, *(f"--dpkgopt=path-exclude={path}" for path in unused), f"--include={','.join(packages)}"]


def _make(scratch: Path, folder: Path) -> None:
    root, made = scratch / "root", Debian(folder)
    bootstrap(root, scratch, PACKAGES, UNUSED, f"--essential-hook=sync-in {OVERLAY} /")
    _output("mke2fs", "-q", "-t", "ext4", "-d", str(root), str(made.disk), SIZE)
    shutil.copy(root / "vmlinuz", made.kernel)
    shutil.copy(root / "initrd.img", made.initrd)


def _mirror() -> list[str]:
    """The mirror of Debian that apt uses here; none, for mmdebstrap's own choice, on another distribution."""
    fields = "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)"
    for line in _output("apt-get", "indextargets", "--format", fields, "Created-By: Packages").splitlines():
        origin, codename, component, address = line.split(maxsplit=3)
        if (origin, component) == ("Debian", "main") and "-" not in codename:  # not its updates
            return [f"deb {address} {SUITE} main"]
    return []


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAKING, check=False)
    if done.returncode != 0:
        raise OSError(f"{command[0]} failed: {done.stderr[-3000:]}")
    return done.stdout
