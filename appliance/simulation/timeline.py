"""What happened in the room, line by line, turn by turn; timeline.json."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from appliance.audio.devices import HEARING_RATE
from appliance.core.effects import Report
from appliance.core.turn import Phase


@dataclass(frozen=True, slots=True)
class Latency:
    """A stretch of waiting, in seconds of room time."""

    name: str
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One generation: what was heard and said, and when, as far as it came to it."""

    generation: int
    at: float
    heard: str | None
    intent: str | None
    reply: str | None
    cut: bool
    answer: Latency | None
    """From the last voice of the user to the first sample of the reply."""
    stages: tuple[Latency, ...]
    """The parts of `answer`, gapless: waiting for the end of the speech, speech-to-text, thinking, voice."""
    hush: Latency | None
    """From the interruption of the reply, if it sounded, to silence."""


_STAGES = {
    "decided": "end of speech",
    "heard": "speech-to-text",
    "answered": "thinking",
    "reply_start": "voice",
}


class Timeline:
    """An observer of the conductor that remembers all."""

    def __init__(self) -> None:
        self._reports: list[Report] = []
        self.phases: list[tuple[float, Phase]] = []
        """Each change of the conversation's phase, in order."""

    def report(self, report: Report) -> None:
        """A line of the timeline."""
        self._reports.append(report)

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        self.phases.append((at, phase))

    def reports(self, kind: str = "") -> list[Report]:
        """All reports, or those of one kind, by time; those of the same time as they came."""
        return sorted((each for each in self._reports if kind in ("", each.kind)), key=lambda each: each.at)

    def write(self, path: Path) -> None:
        """timeline.json: a list with one entry a line, by time."""
        entries = [
            {"t": _to_the_sample(each.at), "kind": each.kind, "generation": each.generation, **each.data}
            for each in self.reports()
        ]
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        path.write_text(f"[\n{lines}\n]\n", "utf-8")

    def turns(self) -> list[PastTurn]:
        """All turns so far, in order."""
        by_generation: dict[int, list[Report]] = {}
        for report in self._reports:
            by_generation.setdefault(report.generation, []).append(report)
        return [
            _turn(generation, reports)
            for generation, reports in sorted(by_generation.items())
            if any(each.kind == "wake" for each in reports)
        ]


def _to_the_sample(at: float) -> float:
    return round(round(at * HEARING_RATE) / HEARING_RATE, 7)


def _turn(generation: int, reports: Sequence[Report]) -> PastTurn:
    # What was only overheard during a reply is no question, and says what it meant instead.
    last = {each.kind: each for each in reports if "meaning" not in each.data}
    times = {kind: each.at for kind, each in last.items()}
    # Speech is noticed in every phase; the utterance is what ended by a decision, and the last one is what was heard.
    utterances = [each for each in reports if each.kind == "speech_end" and "decided" in each.data]
    stages: list[Latency] = []
    answer = hush = None
    if utterances and "reply_start" in times:
        begin = spoken = utterances[-1].at
        times["decided"] = cast("float", utterances[-1].data["decided"])
        answered = [times[kind] for kind in ("intent", "reply_text") if kind in times]
        if answered:  # an apology has no intent, and what comes as it is worded has its words later
            times["answered"] = answered[0]
        for kind, name in _STAGES.items():
            if kind in times:
                stages.append(Latency(name, begin, times[kind]))
                begin = times[kind]
        answer = Latency("answer", spoken, begin)
    if times.keys() >= {"interrupted", "reply_start", "silent"}:
        hush = Latency("silent", times["interrupted"], times["silent"])
    return PastTurn(
        generation=generation,
        at=next(each.at for each in reports if each.kind == "wake"),
        heard=_text(last.get("heard"), "text"),
        intent=_text(last.get("intent"), "intent"),
        reply=_text(last.get("reply_text"), "text"),
        cut="reply_end" in last and bool(last["reply_end"].data.get("cut")),
        answer=answer,
        stages=tuple(stages),
        hush=hush,
    )


def _text(report: Report | None, key: str) -> str | None:
    return None if report is None else str(report.data.get(key, ""))
