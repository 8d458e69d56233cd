"""Logging into the journal of systemd, with fields to search it by; nothing of what was said is written there.

    journalctl -u appliance TURN=12
    journalctl -u appliance APPLIANCE_KIND=interrupted -o verbose

QUEST is the background job that a line comes from. TURN and GENERATION are one number, that of a turn and its response.
"""

import asyncio
import logging
import os
import re
import sys

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.service.firstsound import FirstSound

_log = logging.getLogger(__name__)

IDENTIFIER = "appliance"

_KINDS = {
    "wake": "woken",
    "heard": "words were heard",
    "intent": "what is wanted is known",
    "reply_start": "the reply begins",
    "interrupted": "interrupted",
    "reply_end": "the reply is over",
    "notice": "",
}
"""What is written of; not speech, which anything that sounds like one begins and ends a thousand times a day."""

_DATA = ("by", "word", "score", "intent", "meaning", "seconds", "cut")
"""What of a report is written; never its text, but for a notice."""

_QUEST = re.compile(r"quest (.+?-(\d+)|.+?)(?:: \w+)?")
"""The name of a quest's task; one that belongs to a turn ends with its number."""


def is_journal() -> bool:
    """Whether what this process writes as errors goes to the journal: then systemd has started it."""
    try:
        status = os.fstat(sys.__stderr__.fileno()) if sys.__stderr__ else None
    except (OSError, ValueError):
        status = None
    return status is not None and os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def log_to_journal(level: int) -> None:
    """From now on everything that is logged goes to the journal as it is, instead of as lines of text."""
    from systemd.journal import JournalHandler  # needs a library, which only a service needs

    handler = JournalHandler(SYSLOG_IDENTIFIER=IDENTIFIER, sender_function=_send)
    logging.basicConfig(level=level, format="%(message)s", handlers=[handler])


class JournalObserver:
    """An observer that writes of each turn what happens in it, and how long it took, but no words."""

    def __init__(self) -> None:
        # Written whatever the level of all else is: it is little, and the only trace of what the appliance did.
        _log.setLevel(logging.INFO)
        self._first_sound = FirstSound()

    def report(self, report: Report) -> None:
        """A line of the conversation."""
        first_sound = self._first_sound.after(report)
        if report.kind not in _KINDS:
            return
        data = {name: report.data[name] for name in _DATA if report.data.get(name) not in (None, "")}
        if first_sound is not None:
            data["first_sound"] = round(first_sound, 3)
        what = str(report.data["text"]) if report.kind == "notice" else _KINDS[report.kind]
        details = ", ".join(f"{name} {value}" for name, value in data.items())
        fields = {f"APPLIANCE_{name.upper()}": value for name, value in data.items()}
        number = report.generation
        _log.info(
            "turn %d: %s%s",
            number,
            what,
            details and f" ({details})",
            extra={"APPLIANCE_KIND": report.kind, "TURN": number, "GENERATION": number, **fields},
        )

    def phase(self, phase: Phase, at: float) -> None:
        """The phases show in the lines already."""


def _send(message: str, /, **fields: object) -> None:
    """What JournalHandler has made of a record, without what only Python understands, and with the quest."""
    from systemd.journal import send

    named = {name: value for name, value in fields.items() if name.isupper() and name not in _DROPPED}
    send(message, **{**_of_quest(fields.get("quest")), **named})


_DROPPED = ("CODE_ARGS", "EXCEPTION_INFO")
"""The message holds them already."""


def _of_quest(name: object) -> dict[str, object]:
    if name is None:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
        name = task.get_name() if task is not None else ""
    else:
        name = f"quest {name}"
    found = _QUEST.fullmatch(str(name))
    if found is None:
        return {}
    number = {"TURN": found[2], "GENERATION": found[2]} if found[2] else {}
    return {"QUEST": found[1], **number}
