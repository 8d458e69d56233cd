"""A language model in the box: keeps a process that serves it, and says where.

Rules:
- The process is as expendable as it is large. One that ends is begun anew, after a pause that grows.
- The server stays known between two of them, so that who asks hears that it cannot be reached.
- None is left behind: not by `close`, not by a `start` that is cancelled, and not by an appliance that is killed.
"""

import asyncio
import json
import logging
import os
import secrets
import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.thinking.discovery.addresses import url_of
from appliance.thinking.discovery.advertised import PATH
from appliance.thinking.local_server import KEY
from appliance.thinking.server import Server, Source

NAME = "the model in the box"

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds until a process that has ended is begun anew: twice as many each time..."""

STEADY = 60.0
"""... unless it ran for so many."""

GRACE = 1.0
"""Seconds that it gets to end when it is told to."""

POLL = 0.02
"""Seconds between two looks whether it listens yet."""

HOST = "127.0.0.1"
BEFORE_OTHERS = -1
"""The priority: the owner chose it, and what else may run on this machine is only a guess."""

INSTALL = (
    "Install the extra local-llm, in the folder of install.sh: for the service with sudo ./install.sh --local-llm, "
    "else with .venv/bin/pip install --require-hashes --no-build-isolation -r config/local-llm.lock"
)

_log = logging.getLogger(__name__)


def require_llama_cpp() -> None:
    """There is llama.cpp here, or an ApplianceError says how to get it."""
    if find_spec("xllamacpp") is None:
        raise ApplianceError("llm.local_model", "there is no llama.cpp here", remedy=INSTALL)


class LocalModel:
    """Serves `weights`. Belongs to the event loop; may only be used where that is in a thread that stays."""

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._process: asyncio.subprocess.Process | None = None
        self._servers: list[Server] = []
        self._news = asyncio.Event()
        self._told = ""
        self.key = secrets.token_urlsafe(24)
        """What it wants to see before it says anything, so that it serves nobody else on this machine."""
        self.version = 0
        """Another number each time that `servers` has changed."""

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._process is None else self._process.pid

    def servers(self) -> list[Server]:
        """The one that serves, or did; none before it ever listened."""
        return self._servers

    async def changed(self, since: int) -> int:
        """The `version`, as soon as it is another one than `since`."""
        while self.version == since:
            await self._news.wait()
        return self.version

    async def start(self) -> None:
        """Begin a process; returns once that listens, loaded or not. What goes wrong is for `keep` to see."""
        try:
            await self._start()
        except OSError as error:
            self._tell(f"could not be started: {error.strerror or error}")
        except BaseException:
            await self.close()
            raise

    async def keep(self) -> None:
        """See to it that there is always one, until it is cancelled."""
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        while True:
            began = loop.time()
            await self._until_over()
            if loop.time() - began >= STEADY:
                pause, self._told = FIRST_PAUSE, ""
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            await self.start()

    async def close(self) -> None:
        """End it; returns when it is gone."""
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(GRACE):
                await _over(process)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await _over(process)
        self._process = None

    async def _start(self) -> None:
        command = (sys.executable, "-P", "-m", "appliance.thinking.local_server", str(self._weights), str(os.getpid()))
        self._process = process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, KEY: self.key},  # which nobody else can read, as they could a command line
            start_new_session=True,  # Ctrl-C is for the appliance, which then ends it
        )
        said = await _said(process)
        if "port" not in said:
            return
        port = int(said["port"])
        while process.returncode is None:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(HOST, port)
                writer.close()
                self._set([Server(NAME, url_of(HOST, port, PATH), Source.LOCAL, BEFORE_OTHERS)])
                return
            await asyncio.sleep(POLL)

    async def _until_over(self) -> None:
        process = self._process
        if process is None:
            return
        said = await _said(process)
        status = await _over(process)
        self._process = None
        if said.get("loaded") is False:
            self._tell(f"could not be started: llama.cpp cannot load {self._weights}")
        else:
            self._tell(f"ended, by {signal.Signals(-status).name if status < 0 else f'itself, with status {status}'}")

    def _set(self, servers: list[Server]) -> None:
        self._servers = servers
        self.version += 1
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _tell(self, what: str) -> None:
        """Once, however often it happens in a row."""
        if what != self._told:
            self._told = what
            _log.error("%s %s. It is tried again until it works.", NAME, what)


async def _said(process: asyncio.subprocess.Process) -> dict[str, int]:
    """The next line of it; nothing when it has ended."""
    assert process.stdout is not None  # noqa: S101  for the type checker
    line = await process.stdout.readline()
    said: dict[str, int] = json.loads(line) if line.endswith(b"\n") else {}
    return said


async def _over(process: asyncio.subprocess.Process) -> int:
    """Its status, when it has ended and all that it said has been read, lest the loop complain of the pipe."""
    assert process.stdout is not None  # noqa: S101  for the type checker
    await process.stdout.read()
    return await process.wait()
