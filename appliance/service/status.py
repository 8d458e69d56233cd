"""How the appliance is, as far as that can be told without saying what was talked about."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.errors import ApplianceError
from appliance.service.condition import ButtonStatus, CardStatus, InterruptionStatus, LastAnswer, TurnStatus
from appliance.service.firstsound import FirstSound
from appliance.thinking.mind import MODEL
from appliance.thinking.offline import UNKNOWN

SKILLS = "skills"
"""Who answers what the appliance can do by itself."""

NOBODY = "nobody"
"""Who answers what it cannot, when there is no language model that could."""

TURNS = 5
"""How many are remembered."""


class StatusObserver:
    """Remembers what `appliance status` tells of the conversation. Told in the event loop, asked from any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._intent = ""
        self._answered: tuple[str, str, float] | None = None
        self._first_sound = FirstSound()
        # In both, `ago` is still when it was. What another thread reads is replaced, and never changed.
        self._turns: tuple[TurnStatus, ...] = ()
        self._interruption: InterruptionStatus | None = None
        self._interrupted = (0, 0.0)
        """The generation, and when on the clock of the reports."""
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

    @property
    def turns(self) -> tuple[TurnStatus, ...]:
        """The last ones, the newest first."""
        now = self._now()
        return tuple(replace(turn, ago=now - turn.ago) for turn in reversed(self._turns))

    @property
    def last_interruption(self) -> InterruptionStatus | None:
        """The last reply that was cut off."""
        last = self._interruption
        return None if last is None else replace(last, ago=self._now() - last.ago)

    def report(self, report: Report) -> None:
        """A line of the conversation."""
        data = report.data
        first_sound = self._first_sound.after(report)
        match report.kind:
            case "wake":
                turn = TurnStatus(report.generation, self._now(), str(data["by"]))
                self._turns = (*self._turns, turn)[-TURNS:]
            case "intent":
                self._intent = str(data["intent"])
                self._change(report, intent=self._intent)
            case "reply_text" if self._intent:
                own = NOBODY if self._intent in (MODEL, UNKNOWN) else SKILLS
                self._answered = (self._intent, str(data.get("by") or own), self._now())
                self._change(report, by=self._answered[1])
                self._intent = ""
            case "reply_start" if first_sound is not None:
                self._change(report, first_sound=first_sound)
            case "interrupted":
                self._change(report, interrupted_by=str(data["by"]))
                self._interruption = InterruptionStatus(str(data["by"]), self._now())
                self._interrupted = (report.generation, report.at)
            case "silent" if self._interruption is not None and self._interrupted[0] == report.generation:
                silent_after = max(0.0, report.at - self._interrupted[1])
                self._interruption = replace(self._interruption, silent_after=silent_after)
                self._interrupted = (0, 0.0)

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        self.doing = phase

    def _change(self, report: Report, **news: object) -> None:
        self._turns = tuple(
            replace(turn, **news) if turn.generation == report.generation else turn for turn in self._turns
        )


def button_status(*, works: bool, trouble: ApplianceError | None) -> ButtonStatus:
    """How a button is that works, or has this trouble, or neither."""
    if trouble is not None:
        return ButtonStatus("broken", trouble.found, trouble.remedy)
    return ButtonStatus("works" if works else "none")


def button_problem(button: ButtonStatus) -> str:
    """What is wrong with the button, in one line; nothing if that is nothing."""
    return f"the button does not work: {button.why}" if button.state == "broken" else ""


def card_problem(role: str, card: CardStatus) -> str:
    """What is wrong with a card, in one line; nothing if it works."""
    return "" if card.works else f'the {role} "{card.name}" does not work, and is tried again until it does'
