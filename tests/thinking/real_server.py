"""A real llama.cpp server with real weights, in a process of its own: it can be stopped, and it can die.

Run as a program it serves until its input ends, and says in a line of JSON where.
"""

import json
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from appliance.models.directory import data_directory, models_in
from appliance.models.manifest import load_manifest
from appliance.thinking.local_server import parameters
from appliance.thinking.server import Server, Source

ROOT = Path(__file__).parents[2]
NAME = "llm/SmolLM2-135M-Instruct.Q4_1.gguf"
START = 60.0
"""Seconds that it may take on a busy machine."""


def missing() -> str:
    """Why there can be no such server here; empty if there can."""
    if find_spec("xllamacpp") is None:
        return "there is no llama.cpp here: install the extra local-llm"
    if not model_file().is_file():
        return f"there is no language model here: appliance models fetch {NAME}"
    return ""


def model_file() -> Path:
    """The weights."""
    return models_in(data_directory()) / load_manifest().find(NAME).name


class RealServer:
    """One on this machine, while it is entered.

    `context` is in tokens; one that is `endless` talks for as long as it may.
    """

    def __init__(self, *, context: int = 1024, endless: bool = False) -> None:
        self._settings = {"host": "127.0.0.1", "context": context, "endless": endless}
        self._process: subprocess.Popen[str]
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.die()

    def start(self) -> None:
        """Until it serves; again after it has died, where it was."""
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", __name__, json.dumps({**self._settings, "port": self.port})]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout is not None
        self.port = json.loads(self._process.stdout.readline())["port"]

    def die(self) -> None:
        """Without a word to anybody."""
        self._process.kill()
        self._process.communicate()

    def server(self, name: str = "a server", priority: int = 0) -> Server:
        """It, as the appliance knows it."""
        return Server(name, f"http://127.0.0.1:{self.port}/v1", Source.CONFIGURED, priority)

    def busy(self) -> bool:
        """Whether it works on an answer."""
        return any(slot["is_processing"] for slot in json.loads(self._get("/slots")))

    def generated(self) -> int:
        """The tokens of all the answers that are over."""
        metrics = dict(line.rsplit(" ", 1) for line in self._get("/metrics").splitlines() if line[:1] != "#")
        return int(metrics["llamacpp:tokens_predicted_total"])

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=START) as answer:
            text: str = answer.read().decode()
        return text


def main(settings: dict[str, Any]) -> None:
    """Serve until the input ends."""
    import xllamacpp

    wishes = parameters(xllamacpp, model_file())
    wishes.hostnames = [settings["host"]]
    wishes.port = settings["port"]
    wishes.n_ctx = settings["context"]
    wishes.cpuparams.n_threads = wishes.cpuparams_batch.n_threads = 1
    wishes.endpoint_slots = wishes.endpoint_metrics = True
    wishes.sampling.temp = 0.0
    wishes.sampling.ignore_eos = settings["endless"]
    server = _serving(xllamacpp, wishes)
    sys.stdout.write(json.dumps({"port": int(server.listening_address.rpartition(":")[2])}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def _serving(xllamacpp: Any, wishes: Any) -> Any:
    """The server; the port may not be free at once where another one has just died."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        with suppress(RuntimeError):
            return xllamacpp.Server(wishes)
        time.sleep(0.1)
    return xllamacpp.Server(wishes)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
