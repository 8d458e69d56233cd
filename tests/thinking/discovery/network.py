"""Hosts with a network of their own, made of namespaces that a bridge in one more of them joins.

Nothing else of the machine is touched, and no packet leaves. All goes with the `Lan` that made it, whatever has failed
meanwhile; what a run left that was killed, the next one takes away. Needs root and `ip` (iproute2).
"""

import fcntl
import json
import os
import queue
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[3]
NAME = re.compile(r"(appliance-test-[0-9a-f]{8})-[a-z0-9]+")
LOCKS = Path("/run")
"""Beside the namespaces that they are for, so that runs that see each other's namespaces see the locks too."""

TIMEOUT = 20.0
"""Seconds that anything may take on a busy machine."""


def missing() -> str:
    """Why there can be no such network here; empty if there can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None:
        return "there is no ip here: install iproute2"
    trial = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True, check=False)
    return f"no network namespaces here: {trial.stderr.strip()}" if trial.returncode else ""


def ip(*arguments: str) -> str:
    """Run ip, and return what it says."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Lan:
    """A network, while it is entered."""

    def __init__(self) -> None:
        self._name = f"appliance-test-{secrets.token_hex(4)}"
        self._stack = ExitStack()
        self._switch = f"{self._name}-switch"

    def __enter__(self) -> Self:
        remove_leftovers()
        with self._stack:
            self._stack.enter_context(_locked(self._name))
            self._stack.enter_context(_namespace(self._switch))
            ip("-n", self._switch, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
            ip("-n", self._switch, "link", "set", "bridge", "up")
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def host(self, name: str, *addresses: str, cautious: bool = False) -> "Host":
        """A host whose interface eth0 has these addresses, like "10.0.0.1/24"; without any, it is not plugged in.

        One that is `cautious` takes its seconds to see whether anybody else has its IPv6 addresses.
        """
        host = self._stack.enter_context(_host(f"{self._name}-{name}"))
        if not cautious:
            host.start("sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad").output()
        self._wire(name)
        if addresses:
            host.plug_in(*addresses)
        return host

    def cut(self, name: str) -> None:
        """Nothing reaches the host of that name any longer, which does not notice."""
        ip("-n", self._switch, "link", "set", name, "nomaster")

    def join(self, name: str) -> None:
        """After a cut."""
        ip("-n", self._switch, "link", "set", name, "master", "bridge")

    def pull(self, name: str) -> None:
        """Pull the cable of the host of that name, which does notice."""
        ip("-n", self._switch, "link", "set", name, "down")

    def push(self, name: str) -> None:
        """After a pull."""
        ip("-n", self._switch, "link", "set", name, "up")

    def replug(self, name: str) -> None:
        """Replace the host's eth0 by a new one, which is not plugged in yet."""
        ip("-n", self._switch, "link", "delete", name)
        self._wire(name)

    def _wire(self, name: str) -> None:
        peer = ("peer", "name", "eth0", "netns", f"{self._name}-{name}")
        ip("-n", self._switch, "link", "add", name, "type", "veth", *peer)
        ip("-n", self._switch, "link", "set", name, "master", "bridge", "up")


class Host:
    """One of the network's hosts."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._children: list[Child] = []

    def ip(self, *arguments: str) -> str:
        """Run ip here."""
        return ip("-n", self.namespace, *arguments)

    def plug_in(self, *addresses: str) -> None:
        """Put the interface up, with these addresses besides those that it has."""
        self.ip("link", "set", "eth0", "up")
        for address in addresses:
            self.ip("address", "add", address, "dev", "eth0")

    def move(self, old: str, new: str) -> None:
        """Another address instead of the old one."""
        self.ip("address", "delete", old, "dev", "eth0")
        self.ip("address", "add", new, "dev", "eth0")

    def unplug(self) -> None:
        """Put the interface down."""
        self.ip("link", "set", "eth0", "down")

    def resolve_at(self, server: str, *more: str) -> None:
        """Programs that are started here from now on have this name server, and these lines in resolv.conf."""
        folder = Path("/etc/netns", self.namespace)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "resolv.conf").write_text("".join(f"{line}\n" for line in (f"nameserver {server}", *more)))

    def start(self, *command: str) -> "Child":
        """Start a program here."""
        child = Child(["ip", "netns", "exec", self.namespace, *command])
        self._children.append(child)
        return child

    def start_python(self, module: str, *arguments: str) -> "Child":
        """Start a module of the tests here."""
        return self.start(sys.executable, "-W", "error", "-m", module, *arguments)

    def close(self) -> None:
        """End all that was started here, and what that has started."""
        while processes := ip("netns", "pids", self.namespace).split():
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
        for child in self._children:
            child.kill()
        shutil.rmtree(Path("/etc/netns", self.namespace), ignore_errors=True)


class Child:
    """A program at a host, which says what it does in lines of JSON, and is told what to do in such."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        self._said: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        self._readers = [threading.Thread(target=read) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def tell(self, **what: Any) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def wait_for(self, wanted: Callable[[Any], bool], timeout: float = TIMEOUT) -> Any:
        """The first thing that it says, from now on, that is wanted. AssertionError: it did not in time."""
        deadline = time.monotonic() + timeout
        last: object = None
        while True:
            try:
                line = self._said.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"in {timeout:g} s it said last: {last}\n{self.errors()}") from None
            if line is None:
                raise AssertionError(f"it ended, and said last: {last}\n{self.errors()}")
            last = json.loads(line)
            if wanted(last):
                return last

    def say_nothing(self, seconds: float) -> None:
        """AssertionError: it said something within that time."""
        with suppress(queue.Empty):
            raise AssertionError(f"it said {self._said.get(timeout=seconds)}\n{self.errors()}")

    def output(self) -> str:
        """All that it writes to its end, which is near."""
        self.process.wait(TIMEOUT)
        return "".join(iter(lambda: self._said.get(timeout=TIMEOUT) or "", ""))

    def errors(self) -> str:
        """What it has written to standard error so far."""
        return "".join(self._errors)

    def finish(self) -> str:
        """Close its input and wait for its end, which has to be a good one; what it wrote to standard error."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(TIMEOUT)
        self.kill()
        assert status == 0, self.errors()
        return self.errors()

    def kill(self) -> None:
        """End it, and what it has started, without a word to the network."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._said.put(line)
        self._said.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)


def remove_leftovers() -> None:
    """Remove the hosts of test runs that are no more."""
    for line in ip("netns", "list").splitlines():
        if (match := NAME.match(line)) is None:
            continue
        with suppress(BlockingIOError, RuntimeError), _locked(match[1]):  # it is in use, or just gone
            Host(match[0]).close()
            ip("netns", "delete", match[0])


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Have a network for oneself. BlockingIOError: another run has it."""
    path = LOCKS / f"{name}.lock"
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            yield
        finally:
            path.unlink()


@contextmanager
def _host(namespace: str) -> Iterator[Host]:
    with _namespace(namespace):
        host = Host(namespace)
        try:
            yield host
        finally:
            host.close()


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        ip("netns", "delete", name)
