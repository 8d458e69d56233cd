"""Servers of a language model for the bench, each in a process of its own, since it must not wait for what it measures.

Run as a program it serves until its input ends, and says its port once it does.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.thinking.local_server import parameters

REAL = "llm/SmolLM2-135M-Instruct.Q4_1.gguf"
"""The model that a real server has, below the folder of the models."""

FIRST = 0.05
"""Seconds until the first word of the one that only pretends, and..."""
NEXT = 0.01
"""... from word to word."""

ANSWERS = (
    "The sky is blue because the air scatters the light of the sun. It scatters blue light more than red light.",
    "Ada Lovelace was an English mathematician, born in 1815. She wrote what is called the first program.",
    "That's a good question! Most cats sleep for about fifteen hours a day, and kittens for even longer.",
    "You need two eggs, some flour and a little milk. Stir it well, and let it rest for half an hour.",
)
"""By the number that ends the question."""


class ModelServer:
    """A program that serves, and can be ended without a word. `weights` are for llama.cpp; without any it pretends."""

    def __init__(self, weights: Path | None) -> None:
        self._weights = str(weights) if weights else ""
        self._process: subprocess.Popen[str]
        self.port = 0

    def start(self) -> None:
        """Until it serves; again after its end, where it was."""
        command = [sys.executable, "-m", "appliance.bench.llmserver", str(self.port), self._weights]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603  ours
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None  # noqa: S101  for the type checker
        said = self._process.stdout.readline()
        if not said:
            self.end()
            raise ApplianceError("bench llm", "the server of the language model does not start")
        self.port = int(said)

    def end(self) -> None:
        """As in a power cut."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def serving(weights: Path | None = None) -> Iterator[ModelServer]:
    """A server that serves."""
    server = ModelServer(weights)
    server.start()
    try:
        yield server
    finally:
        server.end()


def real_weights(models: Path) -> Path | None:
    """The weights for a real server, if the extra and the model for it are installed."""
    weights = models / REAL
    return weights if find_spec("xllamacpp") is not None and weights.is_file() else None


async def _pretend(port: int) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", port)
    _say(server.sockets[0].getsockname()[1])
    await asyncio.to_thread(sys.stdin.read)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        if length is None:
            await _send(writer, "application/json", json.dumps({"data": [{"id": "a model"}]}))
        else:
            asked = json.loads(await reader.readexactly(int(length[1])))["messages"][-1]["content"]
            await _send(writer, "text/event-stream", "")
            await asyncio.sleep(FIRST)
            for word in ANSWERS[int(asked.rpartition(" ")[2]) % len(ANSWERS)].split():
                await _send(writer, "", f"data: {json.dumps({'choices': [{'delta': {'content': f'{word} '}}]})}\n\n")
                await asyncio.sleep(NEXT)
            await _send(writer, "", "data: [DONE]\n\n")
    writer.close()


async def _send(writer: asyncio.StreamWriter, kind: str, body: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n" if kind else ""
    writer.write((head + body).encode())
    await writer.drain()


def _serve_really(port: int, weights: str) -> None:
    import xllamacpp

    wishes = parameters(xllamacpp, Path(weights))
    wishes.port = port
    wishes.sampling.temp = 0.0
    server = xllamacpp.Server(wishes)
    _say(server.listening_address.rpartition(":")[2])
    sys.stdin.read()


def _say(port: object) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[2]:
        _serve_really(int(sys.argv[1]), sys.argv[2])
    else:
        asyncio.run(_pretend(int(sys.argv[1])))
