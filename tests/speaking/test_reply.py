"""A reply on its way into a lane whose card stands still."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
from appliance.errors import ApplianceError
from appliance.simulation.clock import VirtualLoop
from appliance.speaking.reply import STALLED, all_at_once, speak

RATE = 16_000


class Slow:
    """A voice that needs ten seconds for each clause."""

    name = "slow"
    language = "en"
    rate = RATE

    def synthesise(self, clause: str) -> Iterator[Samples]:
        yield np.ones(10 * RATE, np.float32)


def play(scene: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene)


def speaking() -> tuple[Lane, "asyncio.Task[None]"]:
    """Two clauses, of which the second waits for the first."""
    loop = asyncio.get_running_loop()
    lane, progress = Lane(RATE, lambda _: None, loop.time), asyncio.Event()
    lane.begin_turn(1)
    lane.open(1)
    text = all_at_once("This is the first sentence of it. And this is the second one.")
    return lane, asyncio.create_task(speak(text, 1, Slow(), lane, ThreadPoolExecutor(1), lambda: wait(progress)))


async def wait(progress: asyncio.Event) -> None:
    await progress.wait()


def test_a_long_reply_that_no_card_takes_is_given_up() -> None:
    async def scene() -> None:
        _, task = speaking()
        began = asyncio.get_running_loop().time()
        with pytest.raises(ApplianceError, match="speaker: a reply has not moved on for 6 s"):
            await task
        assert asyncio.get_running_loop().time() - began == pytest.approx(STALLED)

    play(scene())


def test_one_that_is_paused_waits() -> None:
    async def scene() -> None:
        lane, task = speaking()
        lane.pause()
        await asyncio.sleep(10 * STALLED)
        assert not task.done()
        task.cancel()

    play(scene())
