"""When a sample sounds: a card's own count of samples, held against the wall clock."""

SLEW = 0.0003
"""How far stamps may depart from the count, as a share of the time that passed. Quartz is off by a third of it."""

SETTLING = 1.0
SETTLING_SLEW = 0.2
"""For the first seconds, in which cards fill their buffers, stamps may depart from the count by more."""

LOST = 0.1
"""Seconds by which the wall clock must be ahead of the count before samples are taken for lost."""

PATIENCE = 0.5
"""Seconds for which it must be, so that a thread that was merely held up, and catches up, changes nothing."""


class SampleClock:
    """Stamps samples with seconds that never run backwards, and follow the count as long as none is lost.

    The wall clock is read by threads that are often late, and a card's quartz drifts from it by some 0.1 s in an hour.
    So the stamps follow the count, bend slowly towards the wall clock, and jump only over lost samples.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._started = False
        self._index = 0
        self._time = 0.0
        self._behind_since: float | None = None
        self._least_behind = 0.0

    def stamp(self, index: int, seen: float) -> float:
        """The time of sample `index`, which by the wall clock is at `seen`. To be asked in rising order."""
        passed = (index - self._index) / self._rate
        counted = self._time + passed if self._started else seen
        self._started = True
        behind = seen - counted
        limit = passed * (SLEW if index > SETTLING * self._rate else SETTLING_SLEW)
        self._index = index
        self._time = counted + (self._lost(behind, counted) or min(max(behind, -limit), limit))
        return self._time

    def _lost(self, behind: float, counted: float) -> float:
        """Seconds that were lost, once that is certain."""
        if behind < LOST:
            self._behind_since = None
            return 0.0
        if self._behind_since is None:
            self._behind_since = counted
            self._least_behind = behind
        self._least_behind = min(self._least_behind, behind)
        if counted - self._behind_since < PATIENCE:
            return 0.0
        self._behind_since = None
        return self._least_behind
