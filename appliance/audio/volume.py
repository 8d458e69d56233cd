"""How loud the appliance speaks: as its user wants it, not too loud at night, and as loud as it is spoken to.

Rules:
- A level set by its user is kept; one in the configuration counts from when it was changed there.
- In quiet hours the level is the one for them at most. One that is set in them counts until they are over.
- A reply is softer after soft words, and a little louder after loud ones, than the user's words usually are.
"""

import json
import logging
import statistics
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np

from appliance.audio.devices import Samples, Source
from appliance.files import write_safely

LOUDEST = 10
STEP = 3.5
"""Decibels from one level to the next: 1 is 31 dB below 10, in a quiet room still to be understood."""

SOFTER, LOUDER = 12.0, 3.0
"""Decibels by which a reply may follow its user at most."""

SHARE = 0.6
"""Of the decibels by which the user is softer or louder than usual, the share that a reply follows."""

USUAL, ENOUGH = 30, 5
"""Utterances that say what is usual, and the fewest that do."""

_log = logging.getLogger(__name__)

Hours = tuple[time, time]
"""From when to when, perhaps over midnight."""


class Volume:
    """For any thread. `file` keeps the level that was set, if there is one; `now` gives the local time."""

    def __init__(self, now: Callable[[], datetime], file: Path | None = None) -> None:
        self._now = now
        self._file = file
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        """Held while the file is written, which the card's thread must not wait for."""
        self._configured, self._set = self._kept()
        self._hours: Hours | None = None
        self._quiet = LOUDEST
        self._tonight: tuple[datetime, int] | None = None
        """When the quiet hours end that it is for, and the level that was set in them."""
        self._follows = False
        self._usual: deque[float] = deque(maxlen=USUAL)
        self._lean = 0.0

    def configure(self, level: int, hours: Hours | None, quiet: int, *, follows: bool) -> None:
        """What the configuration says: the level, that in quiet hours, and whether replies follow the user's words."""
        with self._lock:
            is_new = level != self._configured
            if is_new:
                self._configured = self._set = level
            self._hours, self._quiet, self._follows = hours, quiet, follows
            self._tonight = None
            self._lean = self._lean if follows else 0.0
        if is_new:
            self._keep()

    @property
    def level(self) -> int:
        """The level now, 0 … 10; to be set from outside too."""
        with self._lock:
            return self._level()

    @level.setter
    def level(self, level: int) -> None:
        with self._lock:
            level = min(max(level, 0), LOUDEST)
            until = self._quiet_until()
            if until is not None:
                self._tonight = until, level
                return
            self._set = level
        self._keep()

    def follow(self, decibels: float) -> None:
        """The user has spoken as loud as that."""
        with self._lock:
            if self._follows and len(self._usual) >= ENOUGH:
                self._lean = min(max(SHARE * (decibels - statistics.median(self._usual)), -SOFTER), LOUDER)
            self._usual.append(decibels)

    def gain(self) -> float:
        """What samples are to be multiplied with now."""
        with self._lock:
            level = self._level()
            return 10 ** (min(STEP * (level - LOUDEST) + self._lean, 0.0) / 20) if level else 0.0

    def _level(self) -> int:
        until = self._quiet_until()
        if until is None:
            return self._set
        if self._tonight is not None and self._tonight[0] == until:
            return self._tonight[1]
        return min(self._set, self._quiet)

    def _quiet_until(self) -> datetime | None:
        """When the quiet hours end that it is now; None if it is none of them."""
        if self._hours is None:
            return None
        begin, end = self._hours
        now = self._now()
        today = now.time()
        if not (begin <= today < end if begin < end else today >= begin or today < end):
            return None
        day = now.date() if today < end else now.date() + timedelta(days=1)
        return datetime.combine(day, end)

    def _keep(self) -> None:
        if self._file is None:
            return
        with self._writing:
            with self._lock:
                kept = json.dumps({"configured": self._configured, "level": self._set})
            try:
                write_safely(self._file, kept.encode())
            except OSError as error:  # it is as loud as it should be all the same
                _log.error("the volume is lost with the next start: %s: %s", self._file, error.strerror)

    def _kept(self) -> tuple[int | None, int]:
        """What was configured when the level was set, and the level."""
        try:
            found = json.loads(self._file.read_bytes()) if self._file is not None else {}
            configured, level = found.get("configured"), found.get("level")
            if isinstance(configured, int) and isinstance(level, int) and 0 <= level <= LOUDEST:
                return configured, level
        except FileNotFoundError:
            pass
        except (OSError, ValueError, AttributeError):
            _log.warning("the volume that was set is lost: %s cannot be read", self._file)
        return None, LOUDEST


class AsLoud:
    """A source whose samples are multiplied with `gain`, as it is at each moment, without clicks."""

    def __init__(self, source: Source, gain: Callable[[], float]) -> None:
        self._source = source
        self._wanted = gain
        self._gain = gain()

    def pull(self, count: int, at: float) -> Samples | None:
        """As the source's."""
        samples = self._source.pull(count, at)
        before, self._gain = self._gain, self._wanted()
        if samples is None or before == self._gain == 1:
            return samples
        return samples * np.linspace(before, self._gain, count, dtype=np.float32)
