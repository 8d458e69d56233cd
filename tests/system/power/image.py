"""The disk of a machine on which the appliance was installed and never ran, and one with what it is upgraded from."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.service_manager.bundle import bundle, checkout
from tests.service_manager.container import booted
from tests.service_manager.container import missing as no_container
from tests.system.debian import OVERLAY, SUITE, UNUSED, bootstrap, kept
from tests.system.debian import missing as no_machine

PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "dbus", "linux-image-amd64", "kmod", "qemu-guest-agent"),
    *("python3", "python3-venv", "python3-pyaudio", "python3-systemd"),
)

SIZE = "3G"

MAKING = 900.0
"""Seconds that one step may take."""

NOT_NEEDED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("e2scrub_reap.service", "getty@tty1.service", "serial-getty@ttyS0.service", "systemd-timesyncd.service"),
)
"""Units that only take time where all is emulated."""

FILES: Mapping[str, str] = {
    "etc/fstab": "/dev/vda / ext4 defaults 0 1\n/dev/vdb /srv ext4 ro 0 0\n",
    # Emulated, all is slow: what would be a fault on a board is none here.
    "etc/systemd/system/appliance.service.d/slow.conf": "[Service]\nTimeoutStartSec=600\nWatchdogSec=300\n",
    "etc/systemd/system.conf.d/slow.conf": "[Manager]\nDefaultTimeoutStartSec=600\nDefaultDeviceTimeoutSec=600\n",
}

MADE = "0.1.0", "0.1.1"
"""Versions that are there, the current one last."""

UPGRADE = """
rm -rf /run/upgrade
cp -r /srv/this /run/upgrade
sed -i 's/^version = .*/version = "{number}"/' /run/upgrade/pyproject.toml
bash /run/upgrade/install.sh --offline /srv/bundle >>{telling} 2>&1
"""
"""Installs a version on the board, and tells how far it is."""

OWNED: Mapping[str, str] = {
    "appliance.toml": "# What is mine.\nservice.confirm = 3\nwake.threshold = 0.5\nwake.refractory = 0.5\n",
    "appliance.toml.d/room.toml": "# What the room needs.\n[listening]\npause = 0.5\npreroll = 0.5\n",
}
"""What the owner has written before the first start."""

FORGET = """
systemctl stop appliance
cd /var/lib/appliance
find . -mindepth 1 -maxdepth 1 ! -name models ! -name weights -exec rm -r {} +
rm -rf /var/log/journal/* /var/cache/appliance
sync
"""
"""Undoes the first start, which is part of an installation."""

PACK = r"""
set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mke2fs -q -t ext4 -d "$2/root" "$3" "$4"
"""


@dataclass(frozen=True, slots=True)
class Image:
    """What a machine boots, and its disk, which nobody may change."""

    disk: Path
    sources: Path
    """What is below /srv, also as a disk."""
    sources_disk: Path
    kernel: Path
    initrd: Path


def missing() -> str:
    """Why none can be made here, or run; "" if it can."""
    if lacking := no_machine() or no_container():
        return lacking
    absent = [str(path) for path in (Path("/dev/fuse"), Path("/dev/loop-control")) if not path.exists()]
    return f"{' and '.join(absent)} not there, for a disk that loses what was not flushed" if absent else ""


def image(folder: Path, models: Path) -> Image:
    """Install this checkout in `folder`, with these models."""
    root = _system() / "root"
    sources = folder / "sources"
    checkout(sources / "this", {})
    shutil.copytree(bundle(models), sources / "bundle")
    shutil.copy(Path(__file__).with_name("editor.py"), sources)
    with booted(root, folder, {sources: "/srv"}) as container:
        for name, text in FILES.items():
            container.write(f"/{name}", text)
        container.check("systemctl", "mask", *NOT_NEEDED)
        for number in MADE:
            upgrade = UPGRADE.format(number=number, telling="/run/upgrading")
            container.check("sh", "-c", upgrade, timeout=MAKING)
        container.check("sh", "-e", "-c", FORGET)
        for name in ("anna", "ben"):
            container.check("useradd", "--groups=appliance", name)
        for name, text in OWNED.items():
            container.write(f"/etc/appliance/{name}", text)
    made = Image(folder / "disk", sources, folder / "srv", root / "vmlinuz", root / "initrd.img")
    _output("unshare", "--mount", "sh", "-c", PACK, "sh", str(root), str(folder), str(made.disk), SIZE)
    _output("mke2fs", "-q", "-t", "ext4", "-d", str(sources), str(made.sources_disk), "1G")
    return made


def _system() -> Path:
    def make(scratch: Path, folder: Path) -> None:
        bootstrap(folder / "root", scratch, PACKAGES, UNUSED, f"--essential-hook=sync-in {OVERLAY} /")

    overlay = [path.read_text() for path in sorted(OVERLAY.rglob("*")) if path.is_file()]
    return kept(["booting", SUITE, *PACKAGES, *UNUSED, *overlay], make)


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAKING, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[-3000:]}"
    return done.stdout
