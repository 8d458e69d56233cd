"""A sound card that is opened and closed by a thread of its own, and what is known of it."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from appliance.audio.devices import Frame, Microphone, Speaker
from appliance.audio.healing import Health

_log = logging.getLogger(__name__)

HANGS = 5.0
"""Seconds after which a card that is being opened or closed is said to hang."""

Start = Callable[[Callable[[Frame], None], Callable[[str], None]], None]


@dataclass(frozen=True, slots=True)
class Beat:
    """Whether a card lives."""

    moved_at: float
    """When it moved a block of sound last, never the silence that stands in for it; before the first, when all began.
    In seconds of the clock."""
    open: bool
    missing: bool
    """When it was tried last, there was none. One that was there was busy, or failed, or was opened."""
    hangs: bool
    """It is being opened or closed, which does not come to an end."""


class Use:
    """A card from its opening to its closing. What its threads say arrives in the event loop."""

    def __init__(self, consume: Callable[[Frame], None], on_fault: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._consume = consume
        self._on_fault = on_fault
        self._has_moved = False
        self.moves: asyncio.Future[Any] = self._loop.create_future()
        """The first block of sound has moved."""
        self.fault: asyncio.Future[Any] = self._loop.create_future()
        """No more will, and why."""

    def take(self, frame: Frame) -> None:
        """The card has moved this. From one of its threads."""
        if not self._has_moved:
            self._has_moved = True
            self._loop.call_soon_threadsafe(self.moves.set_result, None)
        self._consume(frame)

    def fail(self, why: str) -> None:
        """It moves no more. From any thread."""
        self._on_fault()
        self._loop.call_soon_threadsafe(self.end, why)

    def end(self, why: str) -> None:
        """It is over, unless it was before."""
        if not self.fault.done():
            self.fault.set_result(why)


class KeptCard:
    """A device, and all that is known of it."""

    def __init__(
        self,
        role: str,
        device: Microphone | Speaker,
        start: Start,
        clock: Callable[[], float],
        consume: Callable[[Frame], None],
        on_lost: Callable[[], None],
    ) -> None:
        self.role = role
        self.device = device
        self.health = Health()
        self.missing = False
        """When it was tried last, there was none."""
        self.hangs = False
        """What is done to it takes much too long."""
        self.changing = asyncio.Lock()
        """Held while it is closed, and opened again."""
        self.use: Use | None = None
        """None while it is not open."""
        self._start = start
        self._clock = clock
        self._moved_at = clock()
        self._consume = consume
        self._on_lost = on_lost
        self.worker = ThreadPoolExecutor(1, role)  # not the loop's own, whose end the end of the loop waits for

    @property
    def beat(self) -> Beat:
        """Whether it lives. From any thread."""
        return Beat(self._moved_at, self.use is not None, self.missing, self.hangs)

    async def open(self) -> None:
        """Raises why it cannot be had."""
        use = Use(self._take, self._on_lost)
        await self.do(partial(self._start, use.take, use.fail))
        self.use = use

    async def close(self) -> None:
        """It is closed, or failed to be, when this returns."""
        use, self.use = self.use, None
        try:
            await self.do(self.device.stop)
        except Exception:  # noqa: BLE001  it is opened anew in any case
            _log.exception("the %s could not be closed", self.role)
        self._on_lost()
        if use is not None:
            use.end("closed")

    async def do(self, work: Callable[[], None]) -> None:
        """Do `work` in the card's thread, after all that was begun there before."""
        loop = asyncio.get_running_loop()
        hangs = loop.call_later(HANGS, self._note_that_it_hangs)
        try:
            await loop.run_in_executor(self.worker, work)
        finally:
            hangs.cancel()
            self.hangs = False

    def _take(self, frame: Frame) -> None:
        self._moved_at = self._clock()
        self._consume(frame)

    def _note_that_it_hangs(self) -> None:
        self.hangs = True
        _log.error("the %s hangs, and is waited for", self.role)
