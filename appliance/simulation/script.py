"""When each step of a scenario begins, and when there is nothing left to wait for.

- A step with `at` begins at that time, wherever it stands in the file.
- A step with `after` waits for the next such moment at or after the time that the step before it in the file was due
  (the first: from the beginning), and is due `delay` later. No moment serves two neighbours. `ready` comes only once,
  and is never too early.
- What the language model does is nobody's neighbour: the step after it waits as if there were none.
- A press is due at the beginning of a block of sound, so that all that it causes comes at or after it.
- What is due when its time is already past, since a moment is told a little late, begins at once.
"""

import heapq
import threading
from dataclasses import dataclass

from appliance.audio.devices import HEARING_RATE
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.simulation.scenario import Llm, Moment, Press, Say, Scenario, Step

BLOCK = 160
"""Samples that the room advances by at once: 10 ms."""

CALM = 1.0
"""Seconds of an idle appliance in a quiet room that end the run."""
LATE_WAKE = 2.5
"""Seconds after the last step in which a wake word may still be recognised."""
PATIENCE = 15.0
"""Seconds of calm in which a moment that a step waits for must come."""
STUCK = 120.0
"""Seconds of quiet in which the appliance must have become idle."""

_MOMENTS = {"wake": Moment.WAKE, "reply_start": Moment.REPLY, "reply_end": Moment.SILENCE}


@dataclass(frozen=True, slots=True)
class Cue:
    """Step number `index` begins at the sample `begin` of the room."""

    index: int
    step: Say | Press | Llm
    begin: int


class Script:
    """Follows a scenario. An observer of the conductor; may be told what happens from any thread. Times in seconds."""

    def __init__(self, scenario: Scenario) -> None:
        self._place = scenario.place
        self._steps = scenario.steps
        self._duration = scenario.duration
        self._lock = threading.Lock()
        self._came: list[tuple[Moment, int]] = []
        self._due: dict[int, int] = {}  # the sample at which each step is due, as far as it is known
        self._used: dict[int, int] = {}  # which moment each step waited for
        self._waiting: list[tuple[int, int]] = []  # a heap of what is due but has not begun
        self._idle = False
        self._position = self._step_at = self._quiet_since = self._calm_since = 0
        self._stuck = False
        self._plan()

    def moment(self, name: Moment, at: float) -> None:
        """`name` has come."""
        with self._lock:
            self._idle = self._idle or name in (Moment.READY, Moment.IDLE)
            self._came.append((name, round(at * HEARING_RATE)))
            self._plan()

    def report(self, report: Report) -> None:
        """A line of the timeline, which may be a moment."""
        if report.kind in _MOMENTS:
            self.moment(_MOMENTS[report.kind], report.at)

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        if phase is Phase.IDLE:
            self.moment(Moment.IDLE, at)
        else:
            with self._lock:
                self._idle = False

    def starting(self, begin: int, end: int) -> list[Cue]:
        """What begins before the sample `end` and has not begun yet, none of it before `begin`, in order."""
        cues: list[Cue] = []
        with self._lock:
            while self._waiting and self._waiting[0][0] < end:
                due, index = heapq.heappop(self._waiting)
                cues.append(Cue(index, self._steps[index], max(due, begin)))
        return cues

    def over(self, position: int, *, speaking: bool, sounding: bool) -> bool:
        """Whether the run ends at the sample `position`. To be asked after every stretch of the room's sound.

        `speaking`: a step is under way; `sounding`: the speaker is not silent.
        """
        with self._lock:
            self._position = position
            if speaking:
                self._step_at = position
            if speaking or sounding:
                self._quiet_since = position
            if speaking or sounding or not self._idle:
                self._calm_since = position
            if self._duration is not None:
                return position >= round(self._duration * HEARING_RATE)
            if self._waiting:
                return False
            calm = (position - self._calm_since) / HEARING_RATE
            done = len(self._due) == len(self._steps)
            late = (position - self._step_at) / HEARING_RATE
            self._stuck = (position - self._quiet_since) / HEARING_RATE >= STUCK
            return self._stuck or calm >= PATIENCE or (done and calm >= CALM and late >= LATE_WAKE)

    def failures(self) -> list[str]:
        """A line for each step that has not begun, and one for an appliance that never became idle."""
        with self._lock:
            ended = f"before the run ended at {self._position / HEARING_RATE:.2f} s"
            waiting = {index for _, index in self._waiting}
            lines = [
                f"{step.place}: this step never began: "
                + (f"its time did not come {ended}" if index in waiting else f'no "{step.after}" came {ended}')
                for index, step in enumerate(self._steps)
                if index in waiting or index not in self._due
            ]
            if self._stuck:
                lines.append(f"{self._place}: the appliance did not become idle in {STUCK:g} s of quiet")
            return lines

    def _plan(self) -> None:
        """Finds out when steps are due, as far as that can be known."""
        for index, step in enumerate(self._steps):
            if index in self._due:
                continue
            came = self._awaited(index, step)
            if came is not None:
                due = came + round(step.delay * HEARING_RATE)
                if isinstance(step, Press):
                    due = -(-due // BLOCK) * BLOCK
                self._due[index] = due
                heapq.heappush(self._waiting, (due, index))

    def _awaited(self, index: int, step: Step) -> int | None:
        """The sample from which `step` counts its delay, if that is known."""
        if step.at is not None:
            return round(step.at * HEARING_RATE)
        before = next((n for n in reversed(range(index)) if not isinstance(self._steps[n], Llm)), None)
        if step.after is Moment.READY or before is None:
            since, used = 0, None
        elif before in self._due:
            since, used = self._due[before], self._used.get(before)
        else:
            return None
        for number, (name, at) in enumerate(self._came):
            if name is step.after and at >= since and number != used:
                self._used[index] = number
                return at
        return None
