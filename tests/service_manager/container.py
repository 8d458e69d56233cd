"""A Debian system that its own systemd has booted, in a container; what is done to it is lost with it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.system.debian import SUITE, bootstrap, kept

PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "dbus"),
    *("python3", "python3-venv", "python3-pyaudio"),  # without python3-systemd: that comes with the installation
    *("openssh-server", "pulseaudio", "libasound2-plugins"),
)

PYTHON = (3, 11)
"""The version of Python in that suite."""

UNUSED = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*")

BOOTING = 60.0
"""Seconds that it may take."""

LOOK = 0.1
"""Seconds between two looks at something that is waited for."""

UNSHARE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"),
)
"""What kills the tests kills what runs in these, and what kills its namespace of processes kills all that is in it."""

OPTIONS = ("--boot", "--register=no", "--keep-unit", "--console=read-only", "--link-journal=no")

START = r"""
set -e
mount -t tmpfs tmpfs /run  # nspawn takes another init's folder for a sign that it could be asked to help
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
shift 2
exec systemd-nspawn "$@"
"""


def missing() -> str:
    """Why no container can run here; "" if it can."""
    if os.geteuid() != 0:
        return "only root can run a system in a container"
    if sys.version_info[:2] != PYTHON:
        return "what is installed in it can only be fetched where Python is of the same version"
    lacking = [each for each in ("mmdebstrap", "systemd-nspawn", "unshare", "nsenter") if shutil.which(each) is None]
    return f"{' and '.join(lacking)} not installed: ./install.sh test does that" if lacking else ""


class Container:
    """A container that runs, seen from outside by the process id of its init."""

    def __init__(self, init: int) -> None:
        self._init = init

    def run(self, *command: str, given: str = "", timeout: float = 60.0) -> "subprocess.CompletedProcess[str]":
        """Run a command as root, and wait for its end."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        enter = ["nsenter", "--all", f"--target={self._init}", "--wdns=/root"]
        return subprocess.run(
            [*enter, *command],
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def kill(self) -> None:
        """End it at once, with all that runs in it."""
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.kill(self._init, signal.SIGKILL)

    def check(self, *command: str, given: str = "", timeout: float = 60.0) -> str:
        """What a command prints, which has to end with status 0."""
        done = self.run(*command, given=given, timeout=timeout)
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        """Make a file, and the folders that lead to it."""
        self.check("sh", "-c", 'mkdir -p "$(dirname "$1")" && cat >"$1"', "sh", path, given=text)

    def show(self, *properties: str) -> Mapping[str, str]:
        """What systemd says of the appliance."""
        lines = self.check("systemctl", "show", "appliance", f"--property={','.join(properties)}").splitlines()
        return dict(line.partition("=")[::2] for line in lines)

    def wait(self, what: str, condition: Callable[[], bool], timeout: float = 60.0) -> float:
        """Wait until a condition holds, and return the seconds that it took."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > timeout:
                raise TimeoutError(f"{what}: not within {timeout:g} s\n{self.log()}")
            time.sleep(LOOK)
        return time.monotonic() - began

    def log(self, lines: int = 40) -> str:
        """The last lines of the appliance's log."""
        return self.run(
            "journalctl", "--unit=appliance", "--no-pager", f"--lines={lines}", "--output=short-precise"
        ).stdout


@contextmanager
def booted(system: Path, folder: Path, binds: Mapping[Path, str]) -> Iterator[Container]:
    """A container that has booted, from here to the end of the block.

    `folder` keeps what is done to it; one that had it before boots with that. `binds`: what it sees of this machine.
    """
    for name in ("upper", "work", "root"):
        (folder / name).mkdir(exist_ok=True)
    see = [f"--bind-ro={path}:{place}" for path, place in binds.items()]
    with begun(folder, START, [str(system), str(folder)], see) as container:
        states = {"running\n", "degraded\n"}
        container.wait("boot", lambda: container.run("systemctl", "is-system-running").stdout in states, BOOTING)
        yield container


@contextmanager
def begun(folder: Path, start: str, arguments: Sequence[str], options: Sequence[str]) -> Iterator[Container]:
    """A container whose init has begun, with `folder`/root as its root directory, from here to the end of the block.

    `start`: a shell script that mounts what is needed, by its first `arguments`, and then becomes nspawn.
    """
    nspawn = [f"--directory={folder / 'root'}", "--machine=appliance", "--private-network", *OPTIONS, *options]
    command = [*UNSHARE, "sh", "-c", start, "sh", *arguments, *nspawn]
    with ExitStack() as stack:
        console = stack.enter_context((folder / "console").open("wb"))
        process = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        )
        stack.callback(process.kill)
        yield Container(_init_of(process, folder / "console"))


def _init_of(process: "subprocess.Popen[bytes]", console: Path) -> int:
    deadline = time.monotonic() + BOOTING
    while True:
        nspawn = _children(process.pid)
        # Its child is at first a copy of itself.
        found = [child for parent in nspawn for child in _children(parent) if _read(child, "comm") == "systemd\n"]
        if found:
            return found[0]
        if process.poll() is not None or time.monotonic() > deadline:
            raise OSError(f"the container does not start: {console.read_text(errors='replace')[-3000:]}")
        time.sleep(LOOK)


def _children(process: int) -> list[int]:
    return list(map(int, _read(process, f"task/{process}/children").split()))


def _read(process: int, name: str) -> str:
    """What the kernel says of a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def system() -> Path:
    """The root directory of a system that nobody may change, made now if it is not there."""

    def make(scratch: Path, folder: Path) -> None:
        bootstrap(folder / "root", scratch, PACKAGES, UNUSED)

    return kept(["root", SUITE, *PACKAGES], make) / "root"
