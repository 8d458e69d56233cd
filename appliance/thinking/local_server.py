"""llama.cpp, serving one model on this machine: a program of its own, which may crash, and takes its memory along.

It says its port in a line of JSON, and in another one that the model is loaded, or that it cannot be. Until then it
answers that it is loading. It ends with its parent, however that ends.
"""

import ctypes
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

KEY = "APPLIANCE_MODEL_KEY"
"""The variable of the environment with the key that whoever asks has to show."""

CONTEXT = 2048
"""Tokens that the conversation and the answer may have together: the memory for them is taken at once."""

BATCH = 32
"""Tokens of a question, between two of which it sees that nobody waits any more."""

NICENESS = 10
"""Hearing comes first."""

EXPENDABLE = 500
"""When memory runs out, this one goes before the appliance does."""

_PR_SET_PDEATHSIG = 1


def parameters(xllamacpp: Any, weights: Path) -> Any:
    """What llama.cpp is told, but for the port."""
    wishes = xllamacpp.CommonParams()
    wishes.model.path = str(weights)
    wishes.hostnames = ["127.0.0.1"]
    wishes.n_ctx = CONTEXT
    wishes.n_batch = BATCH
    wishes.n_parallel = 1
    wishes.cpuparams.n_threads = wishes.cpuparams_batch.n_threads = max(len(os.sched_getaffinity(0)) - 1, 1)
    wishes.cache_ram_mib = 0  # of earlier conversations, for which it would take gigabytes
    wishes.endpoint_slots = False  # what is asked is nobody else's business
    wishes.ui = False
    wishes.verbosity = -1
    return wishes


def main(weights: Path, parent: int) -> None:
    """Serve until the parent is no more."""
    _end_with(parent)
    said = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever llama.cpp prints is not for the parent
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(f"{EXPENDABLE}")
    import xllamacpp

    wishes = parameters(xllamacpp, weights)
    wishes.port = free_port()
    wishes.api_keys = [os.environ.pop(KEY)]
    _say(said, port=wishes.port)
    try:
        server = xllamacpp.Server(wishes)
    except RuntimeError:  # whose text says nothing
        _say(said, loaded=False)
        sys.exit(1)
    _say(said, loaded=True)
    while server:  # which serves as long as somebody holds it
        signal.pause()


def free_port() -> int:
    """A port that nobody has. llama.cpp has to be told one, or it would not say its own before the model is loaded."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def _end_with(parent: int) -> None:
    """The kernel sees to it, since no thread here runs while a model is loaded."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:  # it has ended already
        sys.exit(1)


def _say(said: TextIO, **what: object) -> None:
    said.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
