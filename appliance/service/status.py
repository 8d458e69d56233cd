"""How the appliance is, as far as that can be told without saying what was talked about."""

import time
from collections.abc import Callable

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.service.condition import LastAnswer
from appliance.thinking.mind import MODEL
from appliance.thinking.offline import UNKNOWN

SKILLS = "skills"
"""Who answers what the appliance can do by itself."""

NOBODY = "nobody"
"""Who answers what it cannot, when there is no language model that could."""


class StatusObserver:
    """Remembers what `appliance status` tells of the conversation. Told in the event loop, asked from any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._intent = ""
        self._answered: tuple[str, str, float] | None = None
        self.doing = Phase.IDLE

    @property
    def running(self) -> float:
        """Seconds since it began."""
        return self._now() - self._began

    @property
    def last_answer(self) -> LastAnswer | None:
        """What the last answer was, and who gave it."""
        answered = self._answered
        return None if answered is None else LastAnswer(answered[0], answered[1], self._now() - answered[2])

    def report(self, report: Report) -> None:
        """A line of the conversation."""
        if report.kind == "intent":
            self._intent = str(report.data["intent"])
        elif report.kind == "reply_text" and self._intent:
            own = NOBODY if self._intent in (MODEL, UNKNOWN) else SKILLS
            self._answered = (self._intent, str(report.data.get("by") or own), self._now())
            self._intent = ""

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        self.doing = phase
