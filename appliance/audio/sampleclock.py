"""When a sample sounds: a card's own count of samples, held against the wall clock."""

SLEW = 0.0003
"""How far stamps may depart from the count, as a share of the time that passed. Quartz is off by a third of it."""

SETTLING = 1.0
SETTLING_SLEW = 0.2
"""For the first seconds, in which cards fill their buffers, stamps may depart from the count by more."""

LOST = 0.015
"""Seconds between wall clock and count from which on samples are taken for lost, or for swallowed at once."""

PATIENCE = 0.5
"""Seconds for which it must last, so that a thread that was merely held up, and catches up, changes nothing."""


class SampleClock:
    """Stamps samples with seconds that never run backwards, and follow the count as long as none is lost.

    The wall clock is read by threads that are often late, and a card's quartz drifts from it by some 0.1 s in an hour.
    So the stamps follow the count, and bend slowly towards the wall clock. They jump over samples that were lost, and
    slow down after a card took samples faster than it can have played them, as happens when its buffer ran dry.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._started = False
        self._index = 0
        self._time = 0.0
        self._settled_from = SETTLING * rate
        self._off_since: float | None = None
        self._least_off = 0.0

    def stamp(self, index: int, seen: float) -> float:
        """The time of sample `index`, which by the wall clock is at `seen`. To be asked in rising order."""
        passed = (index - self._index) / self._rate
        counted = self._time + passed if self._started else seen
        self._started = True
        off = seen - counted
        limit = passed * (SLEW if index > self._settled_from else SETTLING_SLEW)
        step = min(max(off, -limit), limit)
        if self._is_off(off, counted):
            if off > 0:
                step = self._least_off
            else:
                self._settled_from = index + SETTLING * self._rate
        self._index = index
        self._time = counted + step
        return self._time

    def _is_off(self, off: float, counted: float) -> bool:
        """Whether the clocks have been apart for long enough; `_least_off` is by how much at least."""
        if self._off_since is None or abs(off) < LOST or (off > 0) != (self._least_off > 0):
            self._off_since = counted if abs(off) >= LOST else None
            self._least_off = off
            return False
        self._least_off = min(self._least_off, off, key=abs)
        if counted - self._off_since < PATIENCE:
            return False
        self._off_since = None
        return True
