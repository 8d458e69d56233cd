"""The chooser and the real client, with real sockets: what a trial leaves behind, and how long a recovery takes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

from appliance.thinking.choosing import Chooser
from appliance.thinking.llm import LlmClient
from appliance.thinking.search import Search
from appliance.thinking.server import Server, Source
from appliance.thinking.standing import State
from tests.thinking.lan import a_store, in_background

MODELS = b'{"data": [{"id": "a model"}]}'
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(MODELS), MODELS)


class Listener:
    """Answers, or hangs without a word."""

    def __init__(self, log: list[str], name: str, *, hangs: bool = False) -> None:
        self.log = log
        self.name = name
        self.hangs = hangs

    @asynccontextmanager
    async def at(self, port: int) -> AsyncIterator[None]:
        """It is there."""
        listener = await asyncio.start_server(self.serve, "127.0.0.1", port)
        try:
            yield
        finally:
            listener.close()
            await listener.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.log.append(f"{self.name} is asked")
        with suppress(ConnectionError):
            if not self.hangs:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(OK)
            await reader.read()
        self.log.append(f"{self.name} is left")
        writer.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def at(name: str, port: int, priority: int = 0) -> Server:
    return Server(name, f"http://127.0.0.1:{port}/v1", Source.CONFIGURED, priority)


def test_a_trial_that_takes_too_long_is_closed_before_the_next_one_begins(tmp_path: Path) -> None:
    async def main() -> None:
        log: list[str] = []
        ports = [free_port() for _ in range(3)]
        async with (
            LlmClient() as client,
            Listener(log, "den", hangs=True).at(ports[0]),
            Listener(log, "attic").at(ports[2]),
        ):
            servers = [at("den", ports[0], 0), at("nobody", ports[1], 1), at("attic", ports[2], 2)]
            chooser = Chooser(client, lambda: servers, a_store(tmp_path), Random(1))  # noqa: S311
            before = descriptors()
            assert await Search(chooser, lambda: None).find_instance() == servers[2]
            assert log[:3] == ["den is asked", "den is left", "attic is asked"]
            assert len(asyncio.all_tasks()) <= 3, "ours, and those of the listeners"
            while descriptors() > before:  # noqa: ASYNC110  the listeners' own ends
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_a_server_that_comes_back_is_there_within_two_seconds(tmp_path: Path) -> None:
    async def main() -> None:
        port = free_port()
        server = at("den", port)
        async with LlmClient() as client:
            chooser = Chooser(client, lambda: [server], a_store(tmp_path), Random(1))  # noqa: S311
            with in_background(chooser):
                while not any(sight.state is State.BENCHED for sight in chooser.sights()):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                async with asyncio.timeout(2.0), Listener([], "den").at(port):
                    while not any(sight.state is State.READY for sight in chooser.sights()):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                    assert await Search(chooser, lambda: None).find_instance() == server

    asyncio.run(main())
