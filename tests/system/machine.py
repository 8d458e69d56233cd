"""A virtual machine with a Debian system, and commands that run in it.

It is emulated, and its time is what its own processor does: a thousand million instructions are a second, and while all
there waits for a time, that comes at once. So nothing is late there because the host is slow or busy, sound least of
all, and speeds that are measured there are those of such a processor.
"""

import base64
import io
import json
import os
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.system.debian import Debian

PROCESSOR = ("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-cpu", "max", "-smp", "1", "-m", "1024")

KERNEL = "root=/dev/vda rw init=/usr/local/sbin/agent console=ttyS0 quiet panic=-1 mitigations=off"

STARTING = 60.0
"""Seconds after which an emulator that is not there has failed."""

LONGEST = 600.0
"""Seconds after which a machine that does not boot, or a command that does not end, has failed."""

LOOK = 0.1
"""Seconds between two looks whether a command has ended."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    status: int
    output: str
    errors: str


class Machine:
    """A machine that runs. OSError from all methods: it does not any more, with the last lines of its console."""

    def __init__(self, agent: io.BufferedRWPair, console: Path) -> None:
        self._agent = agent
        self._console = console
        self._ask("guest-sync", id=os.getpid())

    def run(self, *command: str, given: bytes = b"") -> Done:
        """Run a command as root, with `given` as its standard input, and wait for its end."""
        process = self.start(*command, given=given)
        deadline = time.monotonic() + LONGEST
        while not (state := self._ask("guest-exec-status", pid=process))["exited"]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{command} has not ended after {LONGEST:g} s")
            time.sleep(LOOK)
        output, errors = (base64.b64decode(state.get(name, "")).decode() for name in ("out-data", "err-data"))
        return Done(state["exitcode"] if "exitcode" in state else -state["signal"], output, errors)

    def start(self, *command: str, given: bytes = b"") -> int:
        """Start a command as `run` does; its process id."""
        asked = {"capture-output": True, "input-data": _packed(given)}
        return int(self._ask("guest-exec", path=command[0], arg=command[1:], **asked)["pid"])

    def check(self, *command: str, given: bytes = b"") -> str:
        """What a command prints, which has to end with status 0."""
        done = self.run(*command, given=given)
        assert done.status == 0, f"{command} ended with {done.status}: {done.output}{done.errors}"
        return done.output

    def copy(self, folder: Path, *names: str, into: str) -> None:
        """Copy what is called `names` in `folder`, and all below it, into a folder of the machine."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            for name in names:
                tar.add(folder / name, name, filter=lambda file: None if "__pycache__" in file.name else file)
        self.check("mkdir", "-p", into)
        self.check("tar", "-xz", "--no-same-owner", "-C", into, given=archive.getvalue())

    def _ask(self, what: str, **arguments: Any) -> Any:
        try:
            self._agent.write(json.dumps({"execute": what, "arguments": arguments}).encode() + b"\n")
            self._agent.flush()
            line = self._agent.readline()
        except OSError as error:
            raise self._gone(str(error)) from error
        if not line:
            raise self._gone("it has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise OSError(f"{what}: {answer['error']['desc']}")
        return answer["return"]

    def _gone(self, why: str) -> OSError:
        console = self._console.read_text(errors="replace") if self._console.exists() else ""
        return OSError(f"the machine does not answer: {why}\n{console[-3000:]}")


class Emulator:
    """An emulator that runs, and what its machine writes to the console."""

    def __init__(self, process: "subprocess.Popen[bytes]", agent: socket.socket, console: Path) -> None:
        self.process = process
        self._agent = agent
        self._console = console

    def machine(self) -> Machine:
        """The machine, as soon as it takes commands."""
        return Machine(self._agent.makefile("rwb"), self._console)


@contextmanager
def emulator(folder: Path, *options: str) -> Iterator[Emulator]:
    """An emulator with a serial console, an agent and `options`, from here to the end of the block.

    Its sockets lie in `folder`, so that must have a short name.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(folder / "agent"))
        listener.listen()
        listener.settimeout(STARTING)
        command = [
            *("setpriv", "--pdeathsig", "KILL"),  # what kills the tests kills it too
            *("qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot", *options),
            *("-serial", f"file:{folder / 'console'}"),
            *("-device", "virtio-serial", "-chardev", f"socket,id=agent,path={folder / 'agent'}"),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
        ]
        process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        stack.callback(process.kill)
        agent = stack.enter_context(listener.accept()[0])
        agent.settimeout(LONGEST)
        yield Emulator(process, agent, folder / "console")


@contextmanager
def running(system: Debian) -> Iterator[Machine]:
    """A machine that has booted, from here to the end of the block; what it writes to its disk is lost."""
    with tempfile.TemporaryDirectory(prefix="machine-") as folder:
        boot = ["-kernel", str(system.kernel), "-initrd", str(system.initrd), "-append", KERNEL]
        disk = f"file={system.disk},format=raw,if=virtio,snapshot=on"
        with emulator(Path(folder), *PROCESSOR, *boot, "-drive", disk) as started:
            yield started.machine()


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode()
