"""Tells systemd that the appliance is alive, as long as it really is; if it is not, systemd starts it again.

It is told from the event loop, so that a loop that does not turn is noticed by what does not come. What else has to be
true is decided here:

- The microphone and the speaker move sound, or are missing: what is not there is waited for, and is no fault.
- A card that is there and opens, or hangs while it is opened, and moves nothing for longer than healing may take, is
  a fault, and only a new process may help.
- One that is there and cannot be opened is held by another program, mostly, and then that would not help; but it may
  be this very process that holds it. So that is a fault too, after a much longer time.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from typing import Protocol

from appliance.service import notify

_log = logging.getLogger(__name__)

HEALING = 30.0
"""Seconds that a card which is there may move no sound: it is closed after 2, and opened again and again."""

HELD = 600.0
"""Seconds that a card which is there may not be opened."""

OFTEN = 3
"""How often it is told within the time that systemd gives."""

STOOD_STILL = 2.0
"""Seconds for which the event loop may not turn before that is logged: it is no fault yet, but would become one."""


class Beat(Protocol):
    """What was last seen of a sound card."""

    @property
    def open(self) -> bool:
        """It is open. One that moves nothing is so most of the time."""

    @property
    def missing(self) -> bool:
        """When it was tried last, there was none."""

    @property
    def hangs(self) -> bool:
        """It is being opened or closed, which does not come to an end."""

    @property
    def moved_at(self) -> float:
        """When a block of sound has last moved; before the first, when it all began."""


class Beats(Protocol):
    """What was last seen of both cards."""

    @property
    def microphone(self) -> Beat:
        """Where it hears."""

    @property
    def speaker(self) -> Beat:
        """Where it speaks."""


class Pulse:
    """Decides whether the appliance is alive. No clock: all times are given, in seconds, and never go back."""

    def __init__(self, now: float) -> None:
        """It begins now, and has as long as healing may take for its first block of sound."""
        self._cards = {"microphone": _Card(now), "speaker": _Card(now)}

    def wrong(self, now: float, beats: Beats | None) -> str:
        """Why it is not alive, or nothing. `beats` is None while there is nothing that could move sound."""
        if beats is not None:
            self._cards["microphone"].look(now, beats.microphone)
            self._cards["speaker"].look(now, beats.speaker)
        for role, card in self._cards.items():
            still = now - card.well_at
            if still > HELD or (still > HEALING and (beats is None or now - card.open_at <= HEALING)):
                return f"the {role} is there, and has moved no sound for {still:.0f} s"
        return ""


class _Card:
    def __init__(self, now: float) -> None:
        self.well_at = now
        """When it moved sound, or was missing."""
        self.open_at = -math.inf
        """When it was seen open, or hanging."""

    def look(self, now: float, beat: Beat) -> None:
        self.well_at = now if beat.missing and not beat.hangs else max(self.well_at, beat.moved_at)
        if beat.open or beat.hangs:
            self.open_at = now


class Watchdog:
    """Tells systemd that the appliance is alive, where systemd watches it.

    `starving` is told why as soon as that is not true any more, and "" when it is again.
    """

    def __init__(
        self,
        beats: Callable[[], Beats | None],
        starving: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.wrong = ""
        """Why systemd is not told at the moment, in one line."""
        self._beats = beats
        self._starving = starving
        self._clock = clock

    async def keep(self) -> None:
        """Until cancelled, or not at all where nobody watches."""
        limit = notify.watchdog_time()
        if limit is None:
            return
        pulse: Pulse | None = None
        due = self._clock()
        while True:
            beats, now = self._beats(), self._clock()
            if now - due > STOOD_STILL:
                _log.warning("the event loop stood still for %.1f s", now - due)
            if pulse is None and beats is not None:  # before that it is still starting
                pulse = Pulse(now)
            self._look(pulse.wrong(now, beats) if pulse is not None else "")
            due = now + limit / OFTEN
            await asyncio.sleep(limit / OFTEN)

    def _look(self, wrong: str) -> None:
        before = self.wrong
        self.wrong = wrong
        if not wrong:
            notify.alive()
            if before:
                self._starving("")
        elif not before:
            _log.error("%s: this needs a new start, which systemd will see to", wrong)
            notify.status(wrong)
            self._starving(wrong)
