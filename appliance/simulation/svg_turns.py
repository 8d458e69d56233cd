"""The turns of a timeline: what was said in each, and what its answer waited for."""

from collections.abc import Sequence

from appliance.simulation.drawing import FAINT, Rows, shorten, width_of, wrap
from appliance.simulation.sheet import Sheet
from appliance.simulation.timeline import PastTurn

_LINE = 15
_BLOCK = 330
_MOST_ROWS = 4
_MOST_BARS = 12
_BAR = 18
_BAR_LEFT, _BAR_WIDTH = 300, 300

_STAGES = {"end of speech": "#b0bec5", "speech-to-text": "#b39ddb", "thinking": "#ffcc80", "voice": "#a5d6a7"}


def conversation(sheet: Sheet, turns: Sequence[PastTurn]) -> None:
    """A block of text for each turn, from where it began, as far as there is room."""
    rows = Rows(_MOST_ROWS)
    blocks = [(turn, _block(turn)) for turn in turns]
    height = max((len(lines) for _, lines in blocks), default=0) * _LINE + 10
    left_out = 0
    for turn, lines in blocks:
        width = max(width_of(line) for line in lines) + 12
        x = min(sheet.x(turn.at), sheet.width - width)
        row = rows.place(x, x + width)
        if row is None:
            left_out += 1
            continue
        y = sheet.y + row * height
        sheet.drawing.line(x, y, x, y + len(lines) * _LINE, FAINT)
        for number, line in enumerate(lines):
            sheet.drawing.text(x + 5, y + number * _LINE + 11, line, bold=number == 0)
    if blocks:
        sheet.name("turns", sheet.y + 11, f"{left_out} left out" if left_out else "")
    sheet.y += len(rows) * height + 10


def _block(turn: PastTurn) -> list[str]:
    heard = "nothing heard" if turn.heard is None else f"“{turn.heard}”"
    lines = wrap(f"{turn.generation}  {heard}", _BLOCK, 2)
    if turn.intent is not None:
        lines.append(shorten(f"intent: {turn.intent}", _BLOCK))
    if turn.reply:
        lines += wrap(f"reply: “{turn.reply}”" + (" (cut off)" if turn.cut else ""), _BLOCK, 4)
    return lines


def stages(sheet: Sheet, turns: Sequence[PastTurn]) -> None:
    """A bar for each answer, or for the slowest ones, divided into what it waited for."""
    answered = [turn for turn in turns if turn.answer]
    slowest = sorted(answered, key=_seconds, reverse=True)[:_MOST_BARS]
    if not slowest:
        return
    title = "From the last word to the first sound of the answer"
    if len(slowest) < len(answered):
        title += f": the {len(slowest)} slowest of {len(answered)}"
    sheet.drawing.text(20, sheet.y + 14, title, size=14, bold=True)
    sheet.legend(sheet.y + 14, _STAGES)
    sheet.y += 26
    scale = _BAR_WIDTH / max(map(_seconds, slowest))
    for turn in sorted(slowest, key=lambda turn: turn.generation):
        _bar(sheet, turn, scale)
    sheet.y += 10


def _seconds(turn: PastTurn) -> float:
    return turn.answer.seconds if turn.answer else 0.0


def _bar(sheet: Sheet, turn: PastTurn, scale: float) -> None:
    drawing, text = sheet.drawing, sheet.y + 13
    drawing.text(20, text, shorten(f"{turn.generation}  “{turn.heard or ''}”", _BAR_LEFT - 30))
    x = float(_BAR_LEFT)
    for stage in turn.stages:
        width = max(stage.seconds * scale, 0)
        drawing.box(x, sheet.y, width, _BAR, _STAGES[stage.name], f"{stage.name}: {stage.seconds:.3f} s")
        x += width
    total = f"{_seconds(turn):.2f} s"
    drawing.text(x + 8, text, total, bold=True)
    parts = " + ".join(f"{stage.name} {stage.seconds:.2f}" for stage in turn.stages)
    drawing.text(x + 8 + width_of(total) + 10, text, f"= {parts}", 11, FAINT)
    sheet.y += _BAR + 6
