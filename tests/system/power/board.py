"""Boards that can lose their power at any moment, and with it what is in the volatile cache of their disk.

One is a virtual machine: it boots a kernel of its own, and is slow, since it is emulated. The other is a container,
which is as fast as this machine, on a file system that this machine's kernel has mounted from such a disk. Neither has
a sound card: what is emulated would not hear as fast as it is spoken to.
"""

import random
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.service_manager.container import Container, begun
from tests.system.machine import LONGEST, Done, Emulator, Machine, emulator
from tests.system.power.disk import Disk
from tests.system.power.image import Image

PROCESSOR = ("-accel", "tcg,thread=multi,tb-size=512", "-cpu", "Nehalem", "-smp", "2", "-m", "1536")
"""One without AVX: that is emulated slowly."""

KERNEL = "root=/dev/vda rw console=ttyS0 quiet panic=-1 mitigations=off"

START = r"""
set -e
mount -t tmpfs tmpfs /run  # nspawn takes another init's folder for a sign that it could be asked to help
cd "$1"
qemu-storage-daemon --daemonize --blockdev driver=nbd,node-name=disk,server.type=unix,server.path=disk \
    --export type=fuse,id=disk,node-name=disk,mountpoint=file,writable=on
mount -o loop file root
shift
exec systemd-nspawn "$@"
"""

DYING = 30.0
"""Seconds in which a board without power is gone."""


class Powered(ABC):
    """A board that has power."""

    def __init__(self, disk: Disk, progress: Path) -> None:
        self._disk = disk
        self._progress = progress

    @abstractmethod
    def run(self, *command: str) -> Done:
        """Run a command as root, as soon as the board takes commands, and wait for its end."""

    @abstractmethod
    def start(self, *command: str) -> None:
        """The same, without waiting for its end."""

    @abstractmethod
    def _kill(self) -> None:
        """End all that runs there."""

    def check(self, *command: str) -> str:
        """What a command prints, which has to end with status 0."""
        done = self.run(*command)
        assert done.status == 0, f"{command} ended with {done.status}: {done.output}{done.errors}"
        return done.output

    def progress(self) -> list[str]:
        """What it has told, line by line."""
        return self._progress.read_text(errors="replace").splitlines() if self._progress.exists() else []

    def steps(self) -> int:
        """How often it has written to its disk, or flushed it, so far."""
        return self._disk.steps

    def cut_after_seconds(self, seconds: float) -> None:
        """Take its power away after so long."""
        assert not self._disk.wait(seconds), "the board has ended by itself"
        self._cut()

    def cut_after_steps(self, steps: int, limit: float) -> None:
        """Take its power away in a write to its disk or a flush, after so many; or after `limit` seconds."""
        self._disk.cut_after(steps)
        self._disk.wait(limit)
        self._cut()

    def _cut(self) -> None:
        self._disk.cut()
        assert self._disk.wait(DYING)
        self._kill()


class Board(ABC):
    """A board with a copy of the image as its disk, in `folder`."""

    slowness: float
    """How many times slower it is than the fastest."""
    telling: str
    """Where its programs write what is to be told."""

    def __init__(self, image: Image, folder: Path) -> None:
        self._image = image
        path = folder / "board"
        subprocess.run(["cp", "--sparse=always", str(image.disk), str(path)], check=True)
        self._disk = Disk(path)

    @contextmanager
    def powered(self) -> Iterator[Powered]:
        """It boots, and has power to the end of the block, if not less."""
        with tempfile.TemporaryDirectory(prefix="board-") as name:  # a short name: sockets lie in it
            self._disk.serve(Path(name) / "disk")
            with self._boots(Path(name)) as powered:
                yield powered

    def lose(self, chance: random.Random) -> tuple[int, int]:
        """How many blocks a power cut has taken, and of how many that were in the disk's cache only."""
        return self._disk.lose(chance)

    def close(self) -> None:
        """It is of no more use."""
        self._disk.close()

    @abstractmethod
    def _boots(self, folder: Path) -> AbstractContextManager[Powered]:
        """It boots, with the disk that is served in `folder`."""


class MachineBoard(Board):
    """A virtual machine. Its clock is the real one, so what happens at the same time may happen in any order."""

    slowness = 6.0
    telling = "/dev/ttyS1"

    @contextmanager
    def _boots(self, folder: Path) -> Iterator[Powered]:
        image = self._image
        boot = ["-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", KERNEL]
        disk = f"file=nbd+unix:///?socket={folder / 'disk'},format=raw,if=virtio,cache=writeback"
        sources = f"file={image.sources_disk},format=raw,if=virtio,readonly=on"
        serial = ["-chardev", f"file,id=progress,path={folder / 'progress'}", "-device", "isa-serial,chardev=progress"]
        with emulator(folder, *PROCESSOR, *boot, "-drive", disk, "-drive", sources, *serial) as started:
            yield PoweredMachine(started, self._disk, folder / "progress")


class PoweredMachine(Powered):
    """A virtual machine that has power."""

    def __init__(self, started: Emulator, disk: Disk, progress: Path) -> None:
        super().__init__(disk, progress)
        self._started = started
        self._machine: Machine | None = None

    def run(self, *command: str) -> Done:
        """Run a command."""
        return self._booted().run(*command)

    def start(self, *command: str) -> None:
        """Start a command."""
        self._booted().start(*command)

    def _booted(self) -> Machine:
        self._machine = self._machine or self._started.machine()
        return self._machine

    def _kill(self) -> None:
        self._started.process.kill()
        self._started.process.wait()


class ContainerBoard(Board):
    """A container."""

    slowness = 1.0
    telling = "/mnt/progress"

    @contextmanager
    def _boots(self, folder: Path) -> Iterator[Powered]:
        (folder / "root").mkdir()
        (folder / "file").touch()
        (folder / "told").mkdir()
        binds = [f"--bind-ro={self._image.sources}:/srv", f"--bind={folder / 'told'}:/mnt"]
        with begun(folder, START, [str(folder)], binds) as container:
            yield PoweredContainer(container, self._disk, folder / "told/progress")


class PoweredContainer(Powered):
    """A container that has power."""

    def __init__(self, container: Container, disk: Disk, progress: Path) -> None:
        super().__init__(disk, progress)
        self._container = container

    def run(self, *command: str) -> Done:
        """Run a command."""
        done = self._container.run(*command, timeout=LONGEST)
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *command: str) -> None:
        """Start a command."""
        self.check("systemd-run", "--quiet", "--collect", *command)

    def _kill(self) -> None:
        self._container.kill()
