"""Timers: which there are, when they ring, and what becomes of them when a clock jumps or the power fails.

Rules:
- While the machine runs, a timer goes by the steady clock, so no jump of the wall clock moves it.
- After a start of the machine, of which the steady clock knows nothing, it goes by the wall clock, and follows that
  when it jumps: a board without a clock of its own starts in the past, and is put right minutes later.
- What is over rings until somebody comes, or for RINGING seconds: its text is due at once, and again every AGAIN.
- What was over long ago when that was noticed, because the power was out, is told once, and rings no more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

MOST = 20
"""Timers at once; nobody wants to hear more of them listed."""

LONGEST = 24 * 3600
"""Seconds of a timer at most."""

AGAIN = 6.0
"""Seconds from one announcement of what is over to the next: two to say it, and four to come, or to call, in."""

RINGING = 300.0
"""Seconds of ringing; whoever has not come by then is not at home."""

LATE = 60.0
"""Seconds after its end from which on a timer was missed."""

JUMP = 1.0
"""Seconds by which the two clocks may drift apart before that counts as a jump."""


@dataclass(frozen=True, slots=True)
class Timer:
    """One timer. `name` is empty where it has none."""

    number: int
    """No two have the same."""
    name: str
    seconds: int
    """How long it was set for."""
    ends: float
    """On the steady clock."""
    wall: float | None = None
    """The end on the wall clock, in seconds, if that is what it goes by."""
    rang: float | None = None
    """When it was first announced, on the steady clock."""


@dataclass(frozen=True, slots=True)
class Timers:
    """All of them, the first to end first. Each change gives a new one."""

    running: tuple[Timer, ...] = ()
    last: int = 0
    """The highest number so far."""

    def started(self, name: str, seconds: int, now: float) -> "Timers":
        """One more."""
        number = self.last + 1
        return Timers(self.running, number).with_timers([Timer(number, name, seconds, now + seconds)])

    def with_timers(self, timers: Iterable[Timer]) -> "Timers":
        """These too."""
        return self._with((*self.running, *timers), self.last)

    def without(self, numbers: Sequence[int]) -> "Timers":
        """Fewer."""
        return self._with(tuple(timer for timer in self.running if timer.number not in numbers), self.last)

    def following(self, offset: float) -> "Timers":
        """As they are when the wall clock is `offset` before the steady one."""
        return self._with(
            tuple(
                replace(timer, ends=timer.wall - offset) if timer.wall is not None and timer.rang is None else timer
                for timer in self.running
            ),
            self.last,
        )

    def over(self, now: float) -> tuple[Timer, ...]:
        """Those whose time is up."""
        return tuple(timer for timer in self.running if timer.ends <= now)

    def next_end(self, now: float) -> float | None:
        """When the next one is over that is not yet."""
        return min((timer.ends for timer in self.running if timer.ends > now), default=None)

    def _with(self, timers: tuple[Timer, ...], last: int) -> "Timers":
        return Timers(tuple(sorted(timers, key=lambda timer: (timer.ends, timer.number))), last)


@dataclass(frozen=True, slots=True)
class Ring:
    """What is to be done about timers that are over."""

    timers: Timers
    done: tuple[Timer, ...] = ()
    """Are to be announced now, and again."""
    missed: tuple[Timer, ...] = ()
    """Are to be announced now, and never again."""
    given_up: tuple[Timer, ...] = ()
    """Nobody came."""
    at: float | None = None
    """When to look again, on the steady clock; None if only a change can bring something new."""


def ring(timers: Timers, now: float, said: float | None) -> Ring:
    """What is due at `now`; `said` is when something was last announced, if that is still going on."""
    over = timers.over(now)
    missed = tuple(timer for timer in over if timer.rang is None and now - timer.ends >= LATE)
    given_up = tuple(timer for timer in over if timer.rang is not None and now - timer.rang >= RINGING)
    left = timers.without([timer.number for timer in (*missed, *given_up)])
    rings = left.over(now)
    new = any(timer.rang is None for timer in rings)
    due = bool(rings) and (new or said is None or now - said >= AGAIN)
    if due:
        rung = {timer.number: replace(timer, rang=now) for timer in rings if timer.rang is None}
        left = replace(left, running=tuple(rung.get(timer.number, timer) for timer in left.running))
        rings = left.over(now)
    moments = [moment for moment in (left.next_end(now),) if moment is not None]
    if rings:
        again = now if due or said is None else said
        moments += [again + AGAIN, *(timer.rang + RINGING for timer in rings if timer.rang is not None)]
    return Ring(left, rings if due else (), missed, given_up, min(moments, default=None))
