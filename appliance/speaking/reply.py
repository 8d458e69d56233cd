"""A reply on its way into the lane: the next clause is synthesised while the one before is played."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor

from appliance.audio.lane import Lane
from appliance.audio.resample import StreamResampler
from appliance.core.clauses import ClauseSplitter
from appliance.errors import ApplianceError
from appliance.speaking.voice import Voice

LOOKAHEAD = 2.0
"""Seconds of speech that are kept ready: enough to synthesise the next clause on a small board, and little enough
that an interruption finds the voice's worker free."""

STALLED = 6.0
"""Seconds in which a reply has to move on; then the speaker is taken for dead. One that fell silent is noticed after 2
to 2.5, and open again 3 after it is back."""


async def speak(
    text: AsyncIterator[str],
    generation: int,
    voice: Voice,
    lane: Lane,
    worker: Executor,
    progress: Callable[[], Awaitable[None]],
) -> None:
    """Put all of `text`, clause by clause as it comes, into the lane of `generation`, and finish it.

    The voice runs in `worker`, one piece at a time; `progress` returns when the lane has used up some of its samples.
    ApplianceError: it does not use up any more.
    """
    loop = asyncio.get_running_loop()
    resampler = StreamResampler(voice.rate, lane.rate)
    async for clause in _clauses(text):
        while lane.queued(generation) > LOOKAHEAD:
            await more_progress(generation, lane, progress)
        if not lane.is_open(generation):
            return  # nobody will hear the next clause
        lane.clause(generation, clause)
        pieces = voice.synthesise(clause)
        while (piece := await loop.run_in_executor(worker, next, pieces, None)) is not None:
            lane.put(generation, resampler.feed(piece))
    lane.put(generation, resampler.flush())
    lane.finish(generation)


async def more_progress(generation: int, lane: Lane, progress: Callable[[], Awaitable[None]]) -> None:
    """Wait until `progress` returns, or for STALLED seconds. ApplianceError: that long, and the reply is not paused."""
    try:
        await asyncio.wait_for(progress(), STALLED)
    except TimeoutError:
        if lane.waits(generation):
            raise ApplianceError("speaker", f"a reply has not moved on for {STALLED:g} s") from None


async def all_at_once(text: str) -> AsyncIterator[str]:
    """A text that is known from the beginning, as `speak` takes it."""
    yield text


async def _clauses(text: AsyncIterator[str]) -> AsyncIterator[str]:
    splitter = ClauseSplitter()
    async for piece in text:
        for clause in splitter.feed(piece):
            yield clause
    for clause in splitter.finish():
        yield clause
