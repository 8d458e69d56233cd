"""The server of a language model that does what a scenario says, on a port of this machine that nobody else reaches."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Self

from aiohttp import web

from appliance.simulation.scenario import Doing, Llm

MODEL = "simulated"

PACE = 1.0
"""Seconds between two words of a slow one."""

_HOST = "127.0.0.1"


class SimulatedModel:
    """Belongs to the event loop, between entering and leaving. Nothing answers on its port before it is started."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._doing = Doing.STOP
        self._says: Sequence[str] = ()
        self._changed = asyncio.Event()
        self._steps: asyncio.Queue[Llm] = asyncio.Queue()
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self._start()  # which finds a port
        await self._stop()
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._following
        await self._stop()

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"http://{_HOST}:{self._port}/v1"

    def do(self, step: Llm) -> None:
        """From now on it does that, also with the answers under way. From any thread."""
        self._loop.call_soon_threadsafe(self._steps.put_nowait, step)

    async def _follow(self) -> None:
        while True:
            step = await self._steps.get()
            self._doing = step.does
            if step.says:
                self._says = [f"{word} " for word in step.says.split()]
            self._changed.set()
            self._changed = asyncio.Event()
            if step.does is Doing.STOP:
                await self._stop()
            else:
                await self._start()

    async def _start(self) -> None:
        if self._runner is not None:
            return
        application = web.Application()
        application.router.add_get("/v1/models", self._models)
        application.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, _HOST, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        """As by a power cut: what is under way breaks off."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for connection in runner.server.connections if runner.server else ():
            if connection.transport is not None:
                connection.transport.abort()
        await runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        await self._unless_hanging()
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        await self._unless_hanging()
        if self._doing is Doing.FULL:
            return web.json_response({"error": {"message": "no slot is free", "code": 503}}, status=503)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for word in self._says:
            if self._doing is Doing.SLOW:
                await asyncio.sleep(PACE)
            await self._unless_hanging()
            await response.write(_event({"choices": [{"index": 0, "delta": {"content": word}}]}))
        await response.write(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _unless_hanging(self) -> None:
        while self._doing is Doing.HANG:
            await self._changed.wait()


def _event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
