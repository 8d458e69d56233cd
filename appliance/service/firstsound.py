"""How long the user waits for a reply."""

from appliance.core.effects import Report


class FirstSound:
    """Follows the reports of a conversation."""

    def __init__(self) -> None:
        self._speech_ended = 0.0
        self._asked = (0, 0.0)
        """A generation, and the end of the speech that it answers."""

    def after(self, report: Report) -> float | None:
        """Seconds from the end of speech to the first sound, if this report is of that; otherwise None."""
        if report.kind == "speech_end":
            self._speech_ended = report.at
        elif report.kind == "heard" and "meaning" not in report.data:
            self._asked = (report.generation, self._speech_ended)
        elif report.kind == "reply_start" and self._asked[0] == report.generation:
            return max(0.0, report.at - self._asked[1])
        return None
