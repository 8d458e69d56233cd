"""How fast a language model's words are heard, what our way to it costs, and how soon one that comes back is used."""

import asyncio
import json
import re
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from appliance.bench.figures import Figure, Result, percentile
from appliance.bench.firstsound import first_sound
from appliance.bench.llmserver import ModelServer, real_weights, serving
from appliance.config.schema import Settings
from appliance.core.clauses import ClauseSplitter
from appliance.errors import ApplianceError
from appliance.speaking.piper import load_voice
from appliance.speaking.voice import Voice
from appliance.thinking.history import History
from appliance.thinking.lan import Wishes, lan_model
from appliance.thinking.lan_model import LanModel
from appliance.thinking.phrases import PHRASES
from appliance.thinking.prompt import messages
from appliance.thinking.question import TOKENS
from appliance.thinking.standing import State

SOUNDS, CLAUSES, RETURNS = 20, 30, 5
"""How often each is measured."""

AWAY = 1.5
"""Seconds that a server is away, at least."""

PAUSE = 0.2
"""Seconds in which a real server sees that nobody wants more of an answer."""

PATIENCE = 30.0
"""Seconds for what takes a tenth of that even on a small board."""

INSTRUCTIONS = "You are the voice of a smart speaker."
QUESTION = "Why is the sky blue?"

_CONTENT = re.compile(rb'"content": ?("(?:[^"\\\\]|\\\\.)*")')


@dataclass(frozen=True, slots=True)
class _Clauses:
    """Seconds to the end of the first clause, of the server itself and by our way, one after the other."""

    direct: list[float]
    ours: list[float]


def measure(settings: Settings, models: Path) -> Result:
    """Ask a server that only pretends; and a real one too, where there is one."""
    voice = load_voice(models, settings.voice_name)
    with serving() as server:
        sounds, clauses, returns = asyncio.run(_measure(server, voice))
    figures = [
        Figure("first clause to sound, p50", percentile(sounds, 0.5) * 1000, "ms", 250),
        Figure("first clause to sound, p95", percentile(sounds, 0.95) * 1000, "ms"),
        *_clauses_figures("", clauses),
        Figure("back to used, p50", percentile(returns, 0.5), "s"),
        Figure("back to used, slowest", max(returns), "s", 2),
    ]
    if (weights := real_weights(models)) is not None:
        with serving(weights) as server:
            figures += _clauses_figures("real server: ", asyncio.run(_measure_clauses(server)))
    return Result(
        "llm",
        f"A server of its own process that says a word every 10 ms from 50 ms on. {SOUNDS} replies by the installed "
        "voice, from the word that completes the first clause to the first sample that a card takes, which plays 10 "
        f"ms at a time. The first clause of {CLAUSES} answers over a bare connection and by our way in turns, which "
        f"includes the trial of the server before each. {RETURNS} times the server is ended and comes back after "
        f'{AWAY:g} s, until it may be asked. "Real server": llama.cpp with the small model, if both are installed',
        tuple(figures),
    )


def _clauses_figures(which: str, clauses: _Clauses) -> list[Figure]:
    direct, ours = (percentile(seconds, 0.5) * 1000 for seconds in (clauses.direct, clauses.ours))
    return [
        Figure(f"{which}first clause of the server, p50", direct, "ms"),
        Figure(f"{which}first clause by our way, p50", ours, "ms"),
        Figure(f"{which}our way over the server's", ours / direct, "times"),
    ]


async def _measure(server: ModelServer, voice: Voice) -> tuple[list[float], _Clauses, list[float]]:
    with ThreadPoolExecutor(1) as worker:
        async with _model(server) as model:
            sounds = [await first_sound(model.words(_asked(each)), voice, worker) for each in range(SOUNDS + 1)][1:]
    clauses = await _measure_clauses(server)
    async with _model(server) as model:
        returns = [await _return(server, model) for _ in range(RETURNS)]
    return sounds, clauses, returns


async def _measure_clauses(server: ModelServer) -> _Clauses:
    clauses = _Clauses([], [])
    async with _model(server) as model:
        for number in range(2 * (CLAUSES // 2 + 1)):
            for ours in (False, True) if number % 2 else (True, False):  # the second one finds the question prepared
                took = await (_our_first_clause(model, number) if ours else _first_clause(server, number))
                (clauses.ours if ours else clauses.direct).append(took)
                await asyncio.sleep(PAUSE)
    return _Clauses(clauses.direct[2:], clauses.ours[2:])


async def _our_first_clause(model: LanModel, number: int) -> float:
    began = time.monotonic()
    async with aclosing(model.words(_asked(number))) as pieces:
        async for _ in pieces:
            if model.answered_by:
                break
    return time.monotonic() - began


async def _first_clause(server: ModelServer, number: int) -> float:
    """Seconds to the first clause of the same answer, over a connection without anything of ours."""
    told = [asdict(each) for each in messages(INSTRUCTIONS, _asked(number).exchanges, 0)]
    body = json.dumps({"messages": told, "stream": True, "max_tokens": TOKENS}).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(head.encode() + body)
    came = b""
    while not ClauseSplitter().feed("".join(json.loads(content) for content in _CONTENT.findall(came))):
        if not (more := await reader.read(4096)):
            raise ApplianceError("bench llm", "the server of the language model does not answer")
        came += more
    took = time.monotonic() - began
    writer.close()
    await writer.wait_closed()
    return took


async def _return(server: ModelServer, model: LanModel) -> float:
    """Seconds from a server that serves again to one that may be asked."""
    await asyncio.to_thread(server.end)
    async with asyncio.timeout(PATIENCE):
        async with aclosing(model.words(_asked(0))) as pieces:  # somebody asks, and hears that it is away
            async for _ in pieces:
                pass
        await asyncio.sleep(AWAY)
        await asyncio.to_thread(server.start)
        began = time.monotonic()
        while model.sights()[0].state is not State.READY:  # noqa: ASYNC110  of the bench alone
            await asyncio.sleep(0.005)
    return time.monotonic() - began


def _asked(number: int) -> History:
    history = History()
    history.ask(1, f"{QUESTION} {number}")
    return history


@asynccontextmanager
async def _model(server: ModelServer) -> AsyncIterator[LanModel]:
    wishes = Wishes([f"127.0.0.1:{server.port}"], False, "", None, None, INSTRUCTIONS, "", 0, PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        async with lan_model(wishes, PHRASES["en"], Path(folder), lambda: datetime.now().astimezone()) as model:
            yield model
