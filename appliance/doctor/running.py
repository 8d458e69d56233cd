"""The sound of the running appliance, which has the cards: it says a sentence, and tells what it hears meanwhile.

Whoever has a conversation with it is not disturbed: then there is no trial, and that is said.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from appliance.core.turn import Phase
from appliance.doctor.check import Finding, bad, good
from appliance.doctor.levels import MIXER, RISE, Levels, recorded
from appliance.service.client import ask, asked
from appliance.service.condition import Condition
from appliance.service.request import Say, Watch
from appliance.thinking.phrases import PHRASES

BEFORE = 15
"""Lines of levels, of a tenth of a second each, that show how loud the room is."""

AFTER = 5
"""Lines after the end of the sentence that may still hold some of it: sound takes its time through the cards."""

LOUDEST = 3
"""How many lines a sentence fills at least."""

LONGEST = 8.0
"""Seconds within which the sentence is over; a small board words it in two."""

PAUSE = 3.0
"""Seconds between two lines. Once for the room, and once after LONGEST: so all is over within 15 s."""

FAINT = -75.0
"""dB that a microphone which works records, even in a silent room."""


def tried(condition: Condition, directory: Path) -> Iterator[Finding]:
    """What is found out about both cards."""
    microphone, speaker = condition.microphone, condition.speaker
    room = _listen(directory) if microphone.works else _Heard()
    said = _Heard(room.busy)
    if speaker.works and not room.busy:
        said = _say(PHRASES[condition.language].READY, directory, hears=bool(room.lines))
    if microphone.works:
        yield recorded(microphone.name, _levels([*room.lines, *said.lines]))
    else:
        yield bad("microphone", f'"{microphone.name}" does not work', "See whether it is plugged in: arecord -l")
    if speaker.works:
        yield _spoken(speaker.name, said)
    else:
        yield bad("speaker", f'"{speaker.name}" does not work', "See whether it is plugged in: aplay -l")
    if room.lines and said.lines:
        yield from _heard_itself(room, said)


@dataclass
class _Heard:
    """What came while it was listened to."""

    busy: str = ""
    """What somebody does with it meanwhile, so that there can be no verdict."""
    lines: list[Levels] = field(default_factory=list)
    began: bool = False
    """The sentence sounds."""
    complaint: str = ""
    """What the appliance itself says is wrong."""

    @property
    def loudness(self) -> float:
        """What the loudest of the lines reach."""
        return sorted(line.loudness for line in self.lines)[-LOUDEST:][0]


def _listen(directory: Path) -> _Heard:
    """How loud the room is."""
    room = _Heard()
    for line in _lines(directory, PAUSE):
        if line["kind"] == "level":
            room.lines.append(_level(line))
        room.busy = room.busy or _busy(line)
        if len(room.lines) == BEFORE:
            break
    return room


def _say(text: str, directory: Path, *, hears: bool) -> _Heard:
    """What comes while it says `text`; `hears`: whether there will be levels."""
    said = _Heard()
    turn: int | None = None
    left: int | None = None
    for number, line in enumerate(_lines(directory, LONGEST)):
        if number == 0:  # its phase, before anything can be missed
            said.busy = _busy(line)
            if said.busy:
                break
            ask(directory, Say(text))
            continue
        match line["kind"]:
            case "wake" | "interrupted":
                said.busy = _busy(line)
                break
            case "reply_text" if line["text"] == text:
                turn = line["generation"]
            case "notice":
                said.complaint = line["text"]
            case "reply_start" if line["generation"] == turn:
                said.began = True
            case "reply_end" if line["generation"] == turn:
                left = AFTER if hears else 0
            case "level" if said.began:
                said.lines.append(_level(line))
                left = None if left is None else left - 1
        if left == 0:
            break
    return said


def _lines(directory: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """What it tells within so many seconds."""
    deadline = time.monotonic() + seconds
    with asked(directory, Watch(), pause=PAUSE) as (_, lines):
        while time.monotonic() < deadline:
            try:
                line = msgspec.json.decode(lines.readline(), type=dict[str, Any])
            except (OSError, msgspec.DecodeError):
                return
            yield line


def _busy(line: dict[str, Any]) -> str:
    match line["kind"]:
        case "phase" if line["phase"] != Phase.IDLE.value:
            return f"it is {line['phase']}"
        case "wake" | "interrupted":
            return "somebody began to talk to it"
    return ""


def _spoken(name: str, said: _Heard) -> Finding:
    if said.began:
        return good("speaker", f'"{name}" has said a sentence')
    if said.busy:
        return good("speaker", f'"{name}" is open, and was not tried, since {said.busy}. Try again when it is done')
    why = f": {said.complaint}" if said.complaint else ""
    remedy = "Plug it in again, or use another card; and see: journalctl --unit appliance --lines 30"
    return bad("speaker", f'"{name}" is open, but the sentence that was to be said did not sound{why}', remedy)


def _heard_itself(room: _Heard, said: _Heard) -> Iterator[Finding]:
    name, rise = "hears itself", said.loudness - room.loudness
    if rise >= RISE:
        yield good(name, f"the sentence stood out by {rise:.0f} dB")
    elif said.busy:
        yield good(name, f"that cannot be told, since {said.busy}. Try again when it is done")
    elif said.loudness < FAINT:
        yield bad(name, f"it hears next to nothing ({said.loudness:.0f} dB)", f"{MIXER}. Is it muted, or unplugged?")
    else:
        remedy = "Turn the speaker up: alsamixer. With headphones, or a microphone that takes echoes off, this is right"
        yield bad(name, f"the sentence was not heard ({rise:+.0f} dB over {room.loudness:.0f} dB)", remedy)


def _level(line: dict[str, Any]) -> Levels:
    return Levels(line["rms"], line["peak"])


def _levels(lines: list[Levels]) -> Levels | None:
    if not lines:
        return None
    return Levels(float(np.median([line.loudness for line in lines])), max(line.peak for line in lines))
