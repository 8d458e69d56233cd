"""The conversation, printed as it happens."""

import sys
from collections.abc import Callable
from typing import Protocol

from appliance.core.effects import Report
from appliance.core.turn import Phase


class Out(Protocol):
    """Where lines go."""

    def write(self, text: str, /) -> object:
        """Some more text."""

    def flush(self) -> object:
        """All of it has to be there now."""


class Console:
    """An observer that writes one line for whatever a person wants to follow; `stamp` words the time of it."""

    def __init__(self, stamp: Callable[[float], str], out: Out | None = None) -> None:
        self._stamp = stamp
        self._out = out or sys.stdout

    def report(self, report: Report) -> None:
        """A line of the conversation; what only the timeline needs is left out."""
        line = self._line(report)
        if line:
            self._out.write(f"{self._stamp(report.at)}  {line}\n")
            self._out.flush()

    def phase(self, phase: Phase, at: float) -> None:
        """The phases show in the lines already."""

    def _line(self, report: Report) -> str:
        data = report.data
        match report.kind:
            case "wake":
                return f"(wake word: {data['word']})" if data["word"] else f"({data['by']})"
            case "heard" if "meaning" in data:
                return f"(heard meanwhile: {data['text']})"
            case "heard":
                return f"you:     {data['text']}"
            case "reply_text" if data["text"]:
                return f"speaker: {data['text']}"
            case "interrupted":
                return "(interrupted)"
            case "notice":
                return f"({data['text']})"
            case _:
                return ""
