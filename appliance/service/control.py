"""The control socket, served from a thread of its own: it works while the event loop of the appliance is blocked.

Rules:
- Only the holder of run.lock serves, so what lies in the socket's place was left by a process that was killed.
- Only root, the user of the appliance and, where systemd has started it, the socket's group are served.
- A connection is for one request, and has PATIENCE to make it. MOST of them that say nothing hold up another for no
  longer than that, and no more than LONG of those whose answer takes its time are there at once.
- Neither a client nor a request that fails ends the server.
"""

import asyncio
import logging
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from appliance.errors import ApplianceError, BadInputError
from appliance.service.address import NAME, control_socket, own_place
from appliance.service.condition import Condition
from appliance.service.peer import require_control
from appliance.service.request import (
    GESTURES,
    LONGEST,
    Answer,
    Applied,
    Apply,
    Forget,
    ListedServer,
    Press,
    Request,
    Say,
    Servers,
    Status,
    Trust,
    Watch,
    encode,
    parse,
)
from appliance.service.trusting import forget, trust
from appliance.service.watching import Lines, Watchers
from appliance.thinking.truststore import TrustStore

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

PATIENCE = 0.5
"""Seconds that a client may take to make its request, and to take the answer."""

MOST = 16
"""Connections at a time."""

LONG = 6
"""Of them, those that watch, and as many that wait until a configuration is applied."""

STUCK = 30.0
"""Seconds after which one that watches, and takes nothing, is given up."""

LAST_WORD = 0.05
"""Seconds for answers that are known when the server ends."""

CLOSE_TIMEOUT = 2.0
"""Seconds that a request may hold up the end of the server."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What an appliance can be asked for.

    All but `apply` are called in the server's thread, and may not wait for anything; an ApplianceError is a refusal.
    """

    press: Callable[[], None]
    """The button goes down."""
    servers: Callable[[], Sequence[ListedServer]] = tuple
    """Which servers of a language model are known."""
    status: Callable[[], Condition | None] = lambda: None
    say: Callable[[str], None] | None = None
    """Have a text said, some time soon."""
    apply: Callable[[], Coroutine[Any, Any, Applied]] | None = None
    """Take over the configuration. In the event loop that the server was entered in, and as long as it takes."""
    watchers: Watchers | None = None
    release: Callable[[], None] = lambda: None
    """The button comes up."""


class ControlServer:
    """Serves the control socket of the appliance in `directory` while entered, or says in the log why it cannot."""

    def __init__(self, directory: Path, controls: Controls) -> None:
        self._place = own_place(directory)
        self._is_shared = self._place != directory / NAME
        self._controls = controls
        self._trust = TrustStore(directory, lambda: datetime.now().astimezone())
        self._home: asyncio.AbstractEventLoop | None = None
        self._group: int | None = None
        self._long: Counter[type[Request]] = Counter()
        self._accepting = asyncio.Lock()
        self._entered = ExitStack()

    def __enter__(self) -> Self:
        with suppress(RuntimeError):
            self._home = asyncio.get_running_loop()
        with ExitStack() as stack:
            try:
                self._group = self._place.parent.stat().st_gid if self._is_shared else None
                listener = stack.enter_context(_listening(self._place, self._group))
                loop = asyncio.new_event_loop()
            except OSError as error:
                # What cannot be controlled can still be spoken to.
                _log.warning("no control socket in %s: %s", self._place.parent, error.strerror)
                return self
            serving = loop.create_task(self._serve(listener))
            thread = threading.Thread(target=_run, args=(loop, serving), name="control", daemon=True)
            thread.start()
            stack.callback(_stop, loop, serving, thread)
            self._entered = stack.pop_all()
        return self

    async def finish(self) -> None:
        """Serve nobody any more; who waits for what the event loop has just done is still told."""
        await asyncio.to_thread(self._entered.close)

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
        with ExitStack() as meanwhile:
            request: Request | None = None
            try:
                require_control(connection, self._group)
                request = parse(line)
                if isinstance(request, Apply | Watch):
                    meanwhile.enter_context(self._taking_its_time(type(request)))
                answer = await self._answer(request)
            except ApplianceError as error:
                answer = Answer(error=str(error), bad_input=isinstance(error, BadInputError))
            except Exception as error:  # noqa: BLE001  the next request may be one that works
                _log.exception("a request failed")
                answer = Answer(error=f"it failed: {error!r}")
            await _send(connection, encode(answer), PATIENCE)
            if answer.ok and isinstance(request, Watch):
                await _show(connection, _able(self._controls.watchers))

    async def _answer(self, request: Request) -> Answer:
        controls = self._controls
        match request:
            case Press(gesture, seconds):
                for wait, held in GESTURES[gesture]:
                    await asyncio.sleep(wait)
                    controls.press()
                    try:
                        await asyncio.sleep(seconds or held)
                    finally:
                        controls.release()
            case Say(text):
                _able(controls.say)(text)
            case Servers():
                return Answer(ok=True, servers=tuple(controls.servers()), remembered=self._trust.known() or ())
            case Trust(name):
                return Answer(ok=True, said=await asyncio.to_thread(trust, name, self._trust, controls.servers()))
            case Forget(name):
                return Answer(ok=True, said=await asyncio.to_thread(forget, name, self._trust))
            case Status():
                return Answer(ok=True, status=controls.status())
            case Apply():
                return Answer(ok=True, applied=await self._at_home(_able(controls.apply)()))
            case Watch():
                _able(controls.watchers)
        return Answer(ok=True)

    async def _at_home(self, work: Coroutine[Any, Any, Applied]) -> Applied:
        """Do `work` in the event loop of the appliance."""
        if self._home is None:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._home))

    @contextmanager
    def _taking_its_time(self, kind: type[Request]) -> Iterator[None]:
        if self._long[kind] == LONG:
            what = "watched" if kind is Watch else "configured"
            raise ApplianceError("the appliance", f"is {what} by too many", remedy="Try again later")
        self._long[kind] += 1
        try:
            yield
        finally:
            self._long[kind] -= 1


def _able(control: _T | None) -> _T:
    if control is None:
        raise ApplianceError("the appliance", "was started in a way that cannot do this")
    return control


@contextmanager
def _listening(place: Path, group: int | None) -> Iterator[socket.socket]:
    with control_socket(place) as address, socket.socket(socket.AF_UNIX) as listener:
        address.unlink(missing_ok=True)
        listener.bind(str(address))
        try:
            # Nobody can connect before it listens.
            if group is not None and address.stat().st_gid != group:  # the sandbox knows no chown
                os.chown(address, -1, group)
            address.chmod(0o600 if group is None else 0o660)
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
    # Who waits for what has just come of a change is still told.
    loop.call_soon_threadsafe(lambda: loop.call_later(LAST_WORD, serving.cancel))
    thread.join(CLOSE_TIMEOUT)
    if thread.is_alive():
        _log.error("a request hangs, and is left as it is")


async def _show(connection: socket.socket, watchers: Watchers) -> None:
    with watchers.joined() as lines:
        showing = asyncio.create_task(_show_all(connection, lines))
        leaving = asyncio.create_task(_readable(connection))  # whoever watches says nothing more, but leaves
        try:
            await asyncio.wait({showing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            showing.cancel()
            leaving.cancel()
            await asyncio.gather(showing, leaving, return_exceptions=True)


async def _show_all(connection: socket.socket, lines: Lines) -> None:
    while True:
        await _send(connection, await lines.take(), STUCK)


async def _send(connection: socket.socket, content: bytes, patience: float) -> None:
    async with asyncio.timeout(patience):
        await asyncio.get_running_loop().sock_sendall(connection, content)


async def _readable(connection: socket.socket) -> None:
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


async def _line(connection: socket.socket) -> bytes:
    """What comes before the end of a line, or all that comes; no more than is enough to see that it is too long."""
    received = b""
    while b"\n" not in received and len(received) <= LONGEST:
        more = await asyncio.get_running_loop().sock_recv(connection, LONGEST + 1)
        if not more:
            break
        received += more
    return received.partition(b"\n")[0]
