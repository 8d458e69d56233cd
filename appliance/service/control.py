"""The control socket, served from a thread of its own: it works while the event loop of the appliance is blocked.

Rules:
- Only the holder of run.lock serves, so what lies in the socket's place was left by a process that was killed.
- Only the user of the appliance, and root, can connect.
- A connection is for one request, and has PATIENCE to make it. MOST of them that say nothing hold up another for no
  longer than that.
- Neither a client nor a request that fails ends the server.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.service.address import control_socket
from appliance.service.request import GESTURES, LONGEST, Answer, Condition, ListedServer, Servers, Status, encode, parse

_log = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds that a client may take to make its request, and to take the answer."""

MOST = 16
"""Connections at a time."""

CLOSE_TIMEOUT = 2.0
"""Seconds that a request may hold up the end of the server."""


class ControlServer:
    """Serves the control socket in `directory` while it is entered, or says in the log why it cannot.

    `press` is called, in the server's thread, each time that the button is to go down; `servers` tells there which
    servers of a language model are known, and `status` how the appliance is. None of them may wait for anything.
    """

    def __init__(
        self,
        directory: Path,
        press: Callable[[], None],
        servers: Callable[[], Sequence[ListedServer]] = tuple,
        status: Callable[[], Condition | None] = lambda: None,
    ) -> None:
        self._directory = directory
        self._press = press
        self._servers = servers
        self._status = status
        self._accepting = asyncio.Lock()
        self._entered = ExitStack()

    def __enter__(self) -> None:
        with ExitStack() as stack:
            try:
                listener = stack.enter_context(_listening(self._directory))
                loop = asyncio.new_event_loop()
            except OSError as error:
                # What cannot be controlled can still be spoken to.
                _log.warning("no control socket in %s: %s", self._directory, error.strerror)
                return
            serving = loop.create_task(self._serve(listener))
            thread = threading.Thread(target=_run, args=(loop, serving), name="control", daemon=True)
            thread.start()
            stack.callback(_stop, loop, serving, thread)
            self._entered = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._entered.close()

    async def _serve(self, listener: socket.socket) -> None:
        async with asyncio.TaskGroup() as workers:
            for _ in range(MOST):
                workers.create_task(self._work(listener))

    async def _work(self, listener: socket.socket) -> None:
        while True:
            async with self._accepting:
                # Not `loop.sock_accept`, which loses the connection that it has just accepted when it is cancelled.
                await _readable(listener)
                try:
                    connection, _ = listener.accept()
                except OSError as error:
                    _log.warning("the control socket cannot be served: %s", error.strerror)
                    await asyncio.sleep(PATIENCE)
                    continue
            with connection, suppress(OSError):  # of a client that is slow or gone
                connection.setblocking(False)
                await self._converse(connection)

    async def _converse(self, connection: socket.socket) -> None:
        async with asyncio.timeout(PATIENCE):
            line = await _line(connection)
        answer = encode(await self._answer(line))
        async with asyncio.timeout(PATIENCE):
            await asyncio.get_running_loop().sock_sendall(connection, answer)

    async def _answer(self, line: bytes) -> Answer:
        try:
            request = parse(line)
            if isinstance(request, Servers):
                return Answer(ok=True, servers=tuple(self._servers()))
            if isinstance(request, Status):
                return Answer(ok=True, status=self._status())
            for wait in GESTURES[request.gesture]:
                await asyncio.sleep(wait)
                self._press()
        except ApplianceError as error:
            return Answer(error=str(error))
        except Exception as error:  # noqa: BLE001  the next request may be one that works
            _log.exception("a request failed")
            return Answer(error=f"it failed: {error!r}")
        return Answer(ok=True)


@contextmanager
def _listening(directory: Path) -> Iterator[socket.socket]:
    with control_socket(directory) as address, socket.socket(socket.AF_UNIX) as listener:
        address.unlink(missing_ok=True)
        listener.bind(str(address))
        try:
            address.chmod(0o600)  # nobody can connect before it listens
            listener.listen()
            listener.setblocking(False)
            yield listener
        finally:
            with suppress(OSError):
                address.unlink()


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    with closing(loop), suppress(asyncio.CancelledError):
        loop.run_until_complete(serving)


def _stop(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None], thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(serving.cancel)
    thread.join(CLOSE_TIMEOUT)
    if thread.is_alive():
        _log.error("a request hangs, and is left as it is")


async def _readable(listener: socket.socket) -> None:
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(listener, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(listener)


async def _line(connection: socket.socket) -> bytes:
    """What comes before the end of a line, or all that comes; no more than is enough to see that it is too long."""
    received = b""
    while b"\n" not in received and len(received) <= LONGEST:
        more = await asyncio.get_running_loop().sock_recv(connection, LONGEST + 1)
        if not more:
            break
        received += more
    return received.partition(b"\n")[0]
