"""An HTTP server of the tests' own: it does with each connection exactly what a test says."""

import asyncio
import contextlib
import gc
import json
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from appliance.thinking.server import Server, Source

P = ParamSpec("P")

LONGEST_WAIT = 30.0
"""Seconds after which a test gives up on what it waits for."""


@dataclass
class Connection:
    """One connection, and the request that came over it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """It is over: the client has closed it, or the script is at its end."""

    async def read_request(self) -> None:
        """Take the request in; from then on `gone` is watched."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        self.path = " ".join(first.split()[:2])
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.body = await self.reader.readexactly(int(self.headers.get("content-length", 0)))

    async def watch(self) -> None:
        """Wait for the end of what the client sends."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1024):
                pass
        self.gone.set()

    async def send(self, data: bytes) -> None:
        """Send it as it is. ConnectionError when the client has gone."""
        if self.gone.is_set():
            raise ConnectionResetError
        self.writer.write(data)
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """Send it as a chunk of HTTP."""
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def begin(self, kind: str = "text/event-stream") -> None:
        """Send the headers of an answer in chunks."""
        await self.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    async def say(self, text: str) -> None:
        """Send a word, as a server that streams."""
        await self.event({"choices": [{"index": 0, "delta": {"content": text}}]})

    async def event(self, content: object) -> None:
        """Send an event."""
        await self.chunk(b"data: %s\n\n" % json.dumps(content).encode())

    async def finish(self) -> None:
        """End an answer as it ought to end."""
        await self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        await self.chunk(b"data: [DONE]\n\n")
        await self.send(b"0\r\n\r\n")

    async def answer(self, status: int, body: bytes = b"", *headers: str) -> None:
        """Send a whole answer."""
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
        await self.send("\r\n".join([*lines, "", ""]).encode() + body)

    async def hang(self) -> None:
        """Do nothing more until the client goes away."""
        await self.gone.wait()

    def reset(self) -> None:
        """Break it off, as a machine does that was switched off and is back."""
        connected = self.writer.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = Callable[[Connection], Awaitable[None]]


async def answers_hello(connection: Connection) -> None:
    """As a server that works: it has one model, and says hello."""
    if connection.path.endswith("/models"):
        await connection.answer(200, b'{"object": "list", "data": [{"id": "a model", "object": "model"}]}')
        return
    await connection.begin()
    for word in ("Good", " morning."):
        await connection.say(word)
    await connection.finish()


class Scripted:
    """A server on this machine, while it is entered. `script` gets each connection once its request is there."""

    def __init__(
        self,
        script: Script = answers_hello,
        *,
        host: str = "127.0.0.1",
        reads: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script = script
        self.connections: list[Connection] = []
        self._host = host
        self._reads = reads
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server
        self._news = asyncio.Condition()

    async def __aenter__(self) -> "Scripted":
        self._server = await asyncio.start_server(self._connected, self._host, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def server(self, model: str = "a model") -> Server:
        """It, as the appliance knows it."""
        scheme = "https" if self._tls else "http"
        return Server("a server", f"{scheme}://{self._host}:{self.port}/v1", Source.CONFIGURED, model=model)

    async def connection(self, number: int = 0) -> Connection:
        """The connection with this number, as soon as it is there and its request has come."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.connections) > number)
        return self.connections[number]

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(Connection(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: Connection) -> None:
        watching = None
        try:
            if self._reads:
                await connection.read_request()
                watching = asyncio.create_task(connection.watch())
            async with self._news:
                self.connections.append(connection)
                self._news.notify_all()
            await self.script(connection)
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the client went away
        finally:
            connection.writer.close()
            connection.gone.set()
            if watching:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)


def in_real_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run the test in an event loop. No task, no socket may be left, and asyncio may have nothing to complain of."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        complaints: list[dict[str, Any]] = []
        before = _sockets()

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
            async with asyncio.timeout(LONGEST_WAIT):
                await test(*args, **kwargs)
                await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

        gc.freeze()  # what was there before is none of our garbage
        asyncio.run(main())
        gc.collect()
        gc.unfreeze()
        assert complaints == [], complaints
        assert _sockets() == before

    return run


def _sockets() -> list[str]:
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(str(entry.readlink()))
    return sorted(link for link in links if link.startswith("socket:"))
