"""Keeps the sound cards open: one that is lost is closed, and opened again by its name until it works.

Rules:
- Nothing that a card does ends the appliance. Only a name that fits several cards when it starts is refused.
- What is done to a card is done in a thread of its own, one after the other: a card that hangs holds up only itself.
- PortAudio makes its list of cards when its first user begins. For a card that the list does not know, the other has
  to be closed for a moment. That is done at once when the kernel has a new card, since then it will help; without such
  a sign (a card was busy, a sound server is back) only while no reply sounds, and for a tenth of the time at most.
- While there is no microphone, hearing gets silence, so that nobody waits for the end of what was said.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Microphone, MissingCardError, Source, Speaker
from appliance.audio.inventory import Change
from appliance.audio.kept import Beat, KeptCard, Use
from appliance.audio.lane import Lane
from appliance.errors import ApplianceError, BadInputError

_log = logging.getLogger(__name__)

CLOSE_TIMEOUT = 2.0
"""Seconds that a device may take to close, so that the whole appliance is gone in three."""

LONG = 10.0
"""Seconds without sound after which its return is worth a word."""

MOST_SILENCE = 5.0
"""Seconds of silence that hearing gets at once."""


@dataclass(frozen=True, slots=True)
class Beats:
    """Of both cards."""

    microphone: Beat
    speaker: Beat


class Sound:
    """A microphone and a speaker that may come and go. Belongs to the event loop.

    `hear` gets what the microphone hears; `change` says what PortAudio's list of cards lacks; `tell` gets what the
    owner has to know; `refuse` is called when a card cannot be had by its name, ever; `back` when both cards work again
    after LONG, with the seconds in which they did not. `source`: what the speaker plays, if not `lane` just as it is;
    `sounds` gets all that it plays.
    """

    def __init__(
        self,
        microphone: Microphone,
        speaker: Speaker,
        lane: Lane,
        hear: Callable[[Frame], None],
        clock: Callable[[], float],
        change: Callable[[], Change],
        tell: Callable[[str], None],
        refuse: Callable[[ApplianceError], None],
        back: Callable[[float], None] = lambda _: None,
        source: Source | None = None,
        sounds: Callable[[Frame], None] = lambda _: None,
    ) -> None:
        self.tried = asyncio.Event()
        """Both cards were tried, and are open where they are there."""
        self._lane = lane
        self._hear = hear
        self._clock = clock
        self._change = change
        self._tell = tell
        self._refuse = refuse
        self._back = back
        self._gone_at: float | None = None
        """Since when not both cards work."""
        self._loop = asyncio.get_running_loop()
        self._heard_until = clock()
        self._list_lags = False
        """The list of cards was not made anew, though both cards were closed: something hangs."""
        self._untried = 2
        self._microphone = KeptCard("microphone", microphone, microphone.start, clock, self._listen, lambda: None)
        self._speaker = KeptCard("speaker", speaker, partial(speaker.start, source or lane), clock, sounds, lane.lose)

    async def keep(self) -> None:
        """Open both cards, and keep them open until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep(self._speaker, self._microphone))
            tasks.create_task(self._keep(self._microphone, self._speaker))

    @property
    def works(self) -> tuple[bool, bool]:
        """Whether the microphone and the speaker do, as far as was told. From any thread."""
        return not self._microphone.health.is_lost, not self._speaker.health.is_lost

    @property
    def beats(self) -> Beats:
        """Whether the cards live, for a watchdog. Quick, and from any thread."""
        return Beats(self._microphone.beat, self._speaker.beat)

    async def close(self) -> None:
        """Close both cards, after `keep` has ended."""
        cards = (self._speaker, self._microphone)
        await asyncio.gather(*(close_device(card.role, card.device.stop, card.worker) for card in cards))

    async def _keep(self, card: KeptCard, other: KeptCard) -> None:
        error = await self._open(card)
        if isinstance(error, BadInputError):
            self._refuse(error)
            return
        if error is not None:
            self._lost(card, error)
        self._untried -= 1
        if not self._untried:
            self.tried.set()
        while True:
            while (use := card.use) is not None:
                await self._until_over(card, use)
                async with card.changing:  # whoever has closed it for a moment opens it again
                    if card.use is use:
                        self._lost(card, ApplianceError(f'{card.role} "{card.device.name}"', use.fault.result()))
                        await card.close()
            await asyncio.sleep(card.health.delay())
            if card is self._microphone:
                await card.do(self._listen_to_nothing)
            async with card.changing:
                if card.use is None:
                    await self._try(card, other)

    async def _until_over(self, card: KeptCard, use: Use) -> None:
        await asyncio.wait({use.moves, use.fault}, return_when=asyncio.FIRST_COMPLETED)
        if card.health.is_lost and not use.fault.done():
            await asyncio.wait({use.fault}, timeout=card.health.works(self._loop.time()))
            if not use.fault.done():
                card.health.told()
                after = self._loop.time() - card.health.lost_at
                self._tell(f'{card.role} "{card.device.name}": it works again, after {after:.1f} s.')
                self._note_return()
        await asyncio.wait({use.fault})

    def _note_return(self) -> None:
        if self._gone_at is None or not all(self.works):
            return
        after, self._gone_at = self._loop.time() - self._gone_at, None
        if after >= LONG:
            self._back(after)

    async def _try(self, card: KeptCard, other: KeptCard) -> None:
        began = self._loop.time()
        change = self._change()
        sign = change is not Change.NOTHING and not self._list_lags
        if card.health.rests(began) and not sign:
            return
        if other.use is None or change is not Change.RENUMBERED:
            await self._open(card)
        if card.use is None and other.use is not None and (sign or not self._sounds(other)):
            async with other.changing:
                if other.use is not None:
                    await self._look_again(card, other)
        if card.use is None:
            card.health.failed(began, self._loop.time())

    def _sounds(self, card: KeptCard) -> bool:
        return card is self._speaker and self._lane.speaks

    async def _look_again(self, card: KeptCard, other: KeptCard) -> None:
        await other.close()
        error = await self._open(other)
        if error is not None:
            self._lost(other, error)
        await self._open(card)
        self._list_lags = self._change() is not Change.NOTHING

    async def _open(self, card: KeptCard) -> ApplianceError | None:
        """Why it could not be opened, if so."""
        problem: ApplianceError | None = None
        try:
            await card.open()
        except ApplianceError as error:
            _log.info("the %s cannot be opened: %s", card.role, error)
            problem = error
        except Exception as error:  # noqa: BLE001  whatever a driver comes up with, the other card works
            _log.info("the %s cannot be opened", card.role, exc_info=True)
            problem = ApplianceError(card.role, f"it cannot be opened ({error!r})")
        card.missing = isinstance(problem, MissingCardError)
        return problem

    def _lost(self, card: KeptCard, error: ApplianceError) -> None:
        now = self._loop.time()
        if card.health.lost(now):
            self._gone_at = now if self._gone_at is None else self._gone_at
            self._tell(f"{error} It is tried again until it works.")

    def _listen(self, frame: Frame) -> None:
        self._heard_until = frame.at + len(frame.samples) / HEARING_RATE
        self._hear(frame)

    def _listen_to_nothing(self) -> None:
        now = self._clock()
        count = round(min(now - self._heard_until, MOST_SILENCE) * HEARING_RATE)
        if count > 0:
            self._listen(Frame(np.zeros(count, np.float32), now - count / HEARING_RATE))


async def close_device(name: str, stop: Callable[[], None], worker: ThreadPoolExecutor) -> None:
    """Stop a device in its `worker`; one that fails or hangs is reported, and holds up neither others nor the end."""
    try:
        await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(worker, stop), CLOSE_TIMEOUT)
    except TimeoutError:
        _log.error("the %s hangs, and is left as it is", name)
    except Exception:  # noqa: BLE001  whatever it is, the other devices have to be closed
        _log.exception("the %s could not be closed", name)
    finally:
        worker.shutdown(wait=False)
