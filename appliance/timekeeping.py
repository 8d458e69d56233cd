"""Keeps the timers: rings when one is over, and remembers them over a restart. What is due, core/timers says."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from appliance.core.effects import Report
from appliance.core.timers import JUMP, Timer, Timers, ring
from appliance.core.turn import Phase
from appliance.files import write_safely
from appliance.thinking.phrases import Phrases

_log = logging.getLogger(__name__)

LOOK = 30.0
"""Seconds after which it looks at the clocks, though nothing is due."""

STOPS = frozenset(("wake", "interrupted"))
"""What is reported when somebody comes."""

BOOT = Path("/proc/sys/kernel/random/boot_id")


class Timekeeper:
    """Belongs to the event loop. `clock`: the steady one; `now`: the wall clock.

    `say` has a text said as soon as nothing else is. `file` keeps the timers, if there is one. As an observer of the
    conversation it knows when somebody comes.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        say: Callable[[str], None],
        phrases: Phrases,
        file: Path | None = None,
        boot: str | None = None,
    ) -> None:
        """`boot`: which start of the machine this is, since which the steady clock counts."""
        self._clock = clock
        self._now = now
        self._say = say
        self._phrases = phrases
        self._file = file
        self._boot = BOOT.read_text().strip() if boot is None and BOOT.exists() else boot or ""
        self._offset = self._wall() - clock()
        self._timers = self._kept()
        self._said: float | None = None
        self._news = asyncio.Event()
        self.rang: float | None = None
        """When somebody last had ringing timers stop, on the steady clock."""

    @property
    def running(self) -> tuple[Timer, ...]:
        """The timers, the first to end first."""
        return self._timers.running

    def start(self, name: str, seconds: int) -> None:
        """One more timer."""
        self._change(self._timers.started(name, seconds, self._clock()))

    def cancel(self, numbers: Sequence[int]) -> None:
        """Fewer."""
        self._change(self._timers.without(numbers))

    async def keep(self) -> None:
        """Ring whenever it is time, until cancelled."""
        while True:
            self._news.clear()
            due = self._look()
            wait = LOOK if due is None else min(LOOK, max(0.0, due - self._clock()))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    def report(self, report: Report) -> None:
        """Whoever comes while a timer rings has heard it."""
        if report.kind in STOPS and self._said is not None:
            self.rang, self._said = self._clock(), None
            self._change(self._timers.without([timer.number for timer in self._timers.over(self._clock())]))

    def phase(self, phase: Phase, at: float) -> None:
        """Nothing that matters here."""

    def _look(self) -> float | None:
        """Announce what is due; when to look again."""
        now = self._clock()
        offset = self._wall() - now
        if abs(offset - self._offset) > JUMP:
            self._offset = offset
            self._timers = self._timers.following(offset)
            self._keep()
        found = ring(self._timers, now, self._said)
        if found.missed:
            self._say(self._phrases.timers_missed(self._called(found.missed)))
        if found.done:
            self._said = now
            self._say(self._phrases.timers_done(self._called(found.done)))
        if not found.timers.over(now):
            self._said = None
        if found.timers != self._timers:
            self._timers = found.timers
            self._keep()
        return found.at

    def _called(self, timers: Sequence[Timer]) -> list[str]:
        return [self._phrases.timer_called(timer.name, timer.seconds) for timer in timers]

    def _wall(self) -> float:
        return self._now().timestamp()

    def _change(self, timers: Timers) -> None:
        self._timers = timers
        self._keep()
        self._news.set()

    def _keep(self) -> None:
        if self._file is None:
            return
        kept = {
            "boot": self._boot,
            "last": self._timers.last,
            "timers": [
                {
                    "number": timer.number,
                    "name": timer.name,
                    "seconds": timer.seconds,
                    "ends": timer.ends,
                    "wall": timer.ends + self._offset if timer.wall is None else timer.wall,
                    "follows": timer.wall is not None,
                }
                for timer in self._timers.running
            ],
        }
        try:
            write_safely(self._file, json.dumps(kept).encode())
        except OSError as error:  # they ring all the same
            _log.error("timers are lost with the next start: %s: %s", self._file, error.strerror)

    def _kept(self) -> Timers:
        try:
            if self._file is None:
                return Timers()
            kept = json.loads(self._file.read_bytes())
            same = bool(self._boot) and kept.get("boot") == self._boot
            return Timers((), int(kept["last"])).with_timers(self._timer(each, same=same) for each in kept["timers"])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            _log.warning("the timers that were set are lost: %s cannot be read", self._file)
        return Timers()

    def _timer(self, kept: Any, *, same: bool) -> Timer:
        """By the steady clock, if that counts on since it was set; else by the wall clock."""
        wall = float(kept["wall"])
        ends = float(kept["ends"]) if same else wall - self._offset
        follows = wall if kept["follows"] or not same else None
        return Timer(int(kept["number"]), str(kept["name"]), int(kept["seconds"]), ends, follows)
