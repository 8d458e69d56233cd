"""timeline.svg: who is heard, both sound tracks, what the appliance was doing, and where the time went."""

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

from appliance.core.turn import Phase
from appliance.simulation.drawing import FAINT, INK, Rows, shorten, width_of
from appliance.simulation.room import Done
from appliance.simulation.scenario import Llm, Press, Say
from appliance.simulation.sheet import Sheet
from appliance.simulation.svg_turns import conversation, stages
from appliance.simulation.timeline import PastTurn, Timeline
from appliance.simulation.tracks import Outline, outline

_SMALL = 11
_ROW = 20
_LINE = 15
_WAVE = 64
_MOST_ROWS = 5
_MOST_LINES = 40
"""More lines through the tracks than these would hide them."""
_COLUMNS = 1900
_FAINTEST = 0.02
"""The peak that fills a track at least: noise alone must not look like speech."""

_SAID, _PRESSED = "#d1c4e9", "#ffab91"
_WOKE, _CUT = "#1565c0", "#c62828"
_HEARD, _PLAYED = "#546e7a", "#2e7d32"
_PHASES = {
    Phase.IDLE: "#eceff1",
    Phase.LISTENING: "#90caf9",
    Phase.THINKING: "#ffcc80",
    Phase.SPEAKING: "#a5d6a7",
    Phase.PAUSED: "#fff59d",
}


def draw(title: str, timeline: Timeline, done: Sequence[Done], track: Path, note: str = "") -> str:
    """The picture of a run as the text of an SVG. `track` is its room.wav; `note` goes below the title."""
    tracks = outline(track, _COLUMNS)
    sheet = Sheet(tracks.seconds)
    turns = timeline.turns()
    sheet.head(title, " · ".join([*_facts(sheet.seconds, turns), *([note] if note else [])]))
    sheet.legend(56, {phase.value: colour for phase, colour in _PHASES.items()})
    top = sheet.y
    _people(sheet, sorted(done, key=lambda each: each.begin))
    lines = _marks(sheet, timeline)
    _wave(sheet, "microphone", _HEARD, tracks, 0)
    _phases(sheet, timeline)
    _waits(sheet, turns)
    _wave(sheet, "speaker", _PLAYED, tracks, 1)
    sheet.axis(top, sheet.y)
    for x, y, colour in lines if len(lines) <= _MOST_LINES else []:
        sheet.below.line(x, y, x, sheet.y, colour, dash="4 3")
    _notices(sheet, timeline)
    conversation(sheet, turns)
    stages(sheet, turns)
    return sheet.svg()


def _facts(seconds: float, turns: Sequence[PastTurn]) -> list[str]:
    facts = [f"{seconds:.1f} s in the room", "1 turn" if len(turns) == 1 else f"{len(turns)} turns"]
    waits = [turn.answer.seconds for turn in turns if turn.answer]
    if waits:
        facts.append(f"answer after {statistics.median(waits):.2f} s (median), {max(waits):.2f} s (longest)")
    return facts


def _people(sheet: Sheet, done: Sequence[Done]) -> None:
    """Who speaks, and who presses the button."""
    rows = Rows(_MOST_ROWS)
    drawn = -1.0
    crowded = False
    for each in done:
        begin, end = sheet.x(each.begin), sheet.x(each.end)
        if end < drawn + 1:
            continue  # nobody could tell it from the one before
        drawn = begin
        label = _label(each.step)
        short = shorten(label, sheet.width - begin - 4, _SMALL)
        row = rows.place(begin, max(end, begin + width_of(short, _SMALL) + 8))
        crowded = crowded or row is None
        y = sheet.y + (_MOST_ROWS if row is None else row) * _ROW
        colour = _SAID if isinstance(each.step, Say) else _PRESSED
        tip = f"{label}, {each.begin:.3f} s to {each.end:.3f} s"
        sheet.drawing.box(begin, y, max(end - begin, 1), _ROW - 2, colour, tip)
        if row is not None:
            sheet.drawing.text(begin + 4, y + 13, short, _SMALL)
    sheet.name("people", sheet.y + 13)
    sheet.y += max(len(rows) + crowded, 1) * _ROW + 6


def _label(step: Say | Press | Llm) -> str:
    if isinstance(step, Press):
        return "button"
    if isinstance(step, Llm):
        return f"language model: {step.does}"
    return f"“{step.text}”" if step.file is None else step.file.name


def _marks(sheet: Sheet, timeline: Timeline) -> list[tuple[float, float, str]]:
    """The labels of wake words and interruptions. Gives the lines that belong to them as x, y and colour."""
    rows = Rows(_MOST_ROWS)
    lines: list[tuple[float, float, str]] = []
    cuts = {each.at for each in timeline.reports("interrupted")}
    for each in timeline.reports():
        if each.kind == "interrupted":
            label, colour = f"interrupted ({each.data.get('by')})", _CUT
        elif each.kind == "wake" and each.data.get("word") and each.at not in cuts:
            label, colour = f"wake: {each.data['word']}", _WOKE
        else:
            continue
        x = sheet.x(each.at)
        row = _put(sheet, rows, x, label, colour)
        if row is not None:
            lines.append((x, sheet.y + row * _LINE, colour))
    sheet.y += len(rows) * _LINE + 4
    return lines


def _put(sheet: Sheet, rows: Rows, x: float, label: str, colour: str) -> int | None:
    """Writes `label` beside `x`, in a row that is free there; gives the row, None if there is none."""
    label = shorten(label, sheet.plot / 2, _SMALL)
    width = width_of(label, _SMALL) + 8
    begin = min(x, sheet.width - width)
    row = rows.place(begin, begin + width)
    if row is not None:
        sheet.drawing.text(begin + 4, sheet.y + row * _LINE + 11, label, _SMALL, colour)
    return row


def _wave(sheet: Sheet, name: str, colour: str, tracks: Outline, track: int) -> None:
    """The outline of a track, scaled to its peak."""
    lowest, highest = tracks.lowest[track], tracks.highest[track]
    peak = max(highest.max(initial=0), -lowest.min(initial=0), 1 / 32768)
    middle, scale = sheet.y + _WAVE / 2, _WAVE / 2 / max(peak, _FAINTEST)
    xs = [sheet.x(column * tracks.step) for column in range(len(highest))]
    upper = zip(xs, middle - highest * scale - 0.4, strict=True)
    lower = zip(reversed(xs), middle - lowest[::-1] * scale + 0.4, strict=True)
    sheet.drawing.shape([*upper, *lower], colour)
    sheet.name(name, middle, f"peak {20 * math.log10(peak):.0f} dBFS")
    sheet.y += _WAVE + 8


def _phases(sheet: Sheet, timeline: Timeline) -> None:
    """What the appliance was doing."""
    for begin, end, phase in _spans(timeline, sheet.seconds):
        left, width = sheet.x(begin), sheet.x(end) - sheet.x(begin)
        if width < 0.5:
            continue
        tip = f"{phase.value}, {begin:.3f} s to {end:.3f} s"
        sheet.drawing.box(left, sheet.y, width, _ROW, _PHASES[phase], tip)
        if width > width_of(phase.value, _SMALL):
            sheet.drawing.text(left + width / 2, sheet.y + 14, phase.value, _SMALL, anchor="middle")
    sheet.name("appliance", sheet.y + 14)
    sheet.y += _ROW + 6


def _spans(timeline: Timeline, seconds: float) -> list[tuple[float, float, Phase]]:
    """The phases as stretches. Until the first sample of its reply sounds, the appliance seems to be thinking."""
    before = [Phase.IDLE, *(phase for _, phase in timeline.phases)]
    changes: list[tuple[float, Phase]] = [
        (at, Phase.THINKING if phase is Phase.SPEAKING and was is not Phase.PAUSED else phase)
        for was, (at, phase) in zip(before, timeline.phases, strict=False)
    ]
    changes += [(each.at, Phase.SPEAKING) for each in timeline.reports("reply_start")]
    ordered = [(0.0, Phase.IDLE), *sorted(changes, key=itemgetter(0)), (seconds, Phase.IDLE)]
    firsts = [after for before, after in pairwise(ordered) if after[1] is not before[1]]
    return [
        (begin, end, phase) for (begin, phase), (end, _) in pairwise([ordered[0], *firsts, ordered[-1]]) if end > begin
    ]


def _waits(sheet: Sheet, turns: Sequence[PastTurn]) -> None:
    """How long the user waited, for an answer or for silence."""
    rows = Rows(3)
    for turn in turns:
        for wait, colour in ((turn.answer, INK), (turn.hush, _CUT)):
            if wait is None:
                continue
            begin, end = sheet.x(wait.begin), sheet.x(wait.end)
            label = f"{wait.seconds:.2f} s"
            half = max(end - begin, width_of(label, _SMALL)) / 2 + 4
            middle = (begin + end) / 2
            row = rows.place(middle - half, middle + half)
            if row is not None:
                y = sheet.y + row * 30 + 18
                sheet.drawing.dimension(begin, end, y, colour)
                sheet.drawing.text(middle, y - 7, label, _SMALL, colour, "middle", bold=True)
    sheet.name("latency", sheet.y + 20)
    sheet.y += max(len(rows), 1) * 30


def _notices(sheet: Sheet, timeline: Timeline) -> None:
    rows = Rows(_MOST_ROWS)
    for each in timeline.reports("notice"):
        _put(sheet, rows, sheet.x(each.at), f"▸ {each.data.get('text')}", FAINT)
    if rows:
        sheet.name("notices", sheet.y + 11)
    sheet.y += len(rows) * _LINE + 12
