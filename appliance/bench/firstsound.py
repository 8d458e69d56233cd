"""From the first clause of a reply, as it comes in words, to its first sample."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager

import numpy as np

from appliance.audio.lane import Lane
from appliance.core.clauses import ClauseSplitter
from appliance.errors import ApplianceError
from appliance.speaking.reply import speak
from appliance.speaking.voice import Voice

RATE = 48_000
STEP = 0.01
"""Seconds that the card plays at a time."""

PATIENCE = 30.0
"""Seconds that nothing takes."""


async def first_sound(words: AsyncGenerator[str, None], voice: Voice, worker: ThreadPoolExecutor) -> float:
    """Seconds from the first clause to the first sample that a card plays. The rest of the reply is not waited for."""
    splitter = ClauseSplitter()
    complete: list[float] = []

    async def noted() -> AsyncIterator[str]:
        async for piece in words:
            if splitter.feed(piece):
                complete.append(time.monotonic())
            yield piece

    lane = Lane(RATE, lambda _: None, time.monotonic)
    lane.begin_turn(1)
    lane.expect(1)
    lane.open(1)
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[float] = loop.create_future()
    async with aclosing(words):
        with _card(lane, lambda at: loop.call_soon_threadsafe(heard.set_result, at)):
            speaking = asyncio.create_task(speak(noted(), 1, voice, lane, worker, lambda: asyncio.sleep(STEP)))
            try:
                async with asyncio.timeout(PATIENCE):
                    at = await heard
            except TimeoutError:
                raise ApplianceError("bench llm", f"a reply does not sound within {PATIENCE:g} s") from None
            lane.hush()
            speaking.cancel()
            await asyncio.wait({speaking})
    return at - complete[0]


@contextmanager
def _card(lane: Lane, on_sound: Callable[[float], object]) -> Iterator[None]:
    """One that plays in real time, and says when the first sample that is not silence does."""
    over = threading.Event()

    def play() -> None:
        at = time.monotonic()
        told = False
        while not over.wait(max(at - time.monotonic(), 0.0)):
            block = lane.pull(round(STEP * RATE), at)
            if block is not None and not told and np.any(block):
                told = True
                on_sound(at + float(np.flatnonzero(block)[0]) / RATE)
            at += STEP

    thread = threading.Thread(target=play, name="card of the bench")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
