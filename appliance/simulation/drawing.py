"""The few shapes that a timeline is drawn with, as the text of a stand-alone SVG, and where labels find room."""

import unicodedata
from collections.abc import Iterable
from html import escape
from itertools import accumulate, takewhile

_FONT = "font-family=\"'DejaVu Sans', Verdana, 'Noto Sans', sans-serif\""
INK = "#263238"
FAINT = "#78909c"
_BOLD = ' font-weight="bold"'


class Drawing:
    """Collects shapes. All lengths are in pixels, from the upper left corner."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str, tip: str = "") -> None:
        """A filled box; `tip` shows when the mouse is on it."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect {place} fill="{fill}"><title>{_clean(tip)}</title></rect>')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, dash: str = "none") -> None:
        """A thin line."""
        place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line {place} stroke="{stroke}" stroke-dasharray="{dash}"/>')

    def dimension(self, x1: float, x2: float, y: float, stroke: str) -> None:
        """A level line between two arrow heads and two end marks, as in a technical drawing."""
        head = min(6.0, (x2 - x1) / 2)
        self.line(x1, y, x2, y, stroke)
        for x, inward in ((x1, head), (x2, -head)):
            self.line(x, y - 5, x, y + 5, stroke)
            self.shape([(x, y), (x + inward, y - 3), (x + inward, y + 3)], stroke)

    def shape(self, points: Iterable[tuple[float, float]], fill: str) -> None:
        """A filled polygon."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{fill}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 12,
        fill: str = INK,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """A line of text on the base line `y`."""
        style = f'font-size="{size:g}" fill="{fill}" text-anchor="{anchor}"{_BOLD if bold else ""}'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{_clean(text)}</text>')

    def svg(self, width: float, height: float, below: "Drawing") -> str:
        """The whole document, with the shapes of `below` under its own."""
        size = f'width="{width:.0f}" height="{height:.0f}"'
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}" {_FONT}>',
                f'<rect {size} fill="white"/>',
                *below.parts,
                *self.parts,
                "</svg>\n",
            )
        )


class Rows:
    """Where things of some width find room without covering one another: the uppermost row that is free there."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ends: list[float] = []

    def __len__(self) -> int:
        return len(self._ends)

    def place(self, begin: float, end: float) -> int | None:
        """The row for what reaches from `begin` to `end`; None if all rows are taken. Ask from left to right."""
        for row, taken in enumerate(self._ends):
            if taken <= begin:
                self._ends[row] = end
                return row
        if len(self._ends) == self._most:
            return None
        self._ends.append(end)
        return len(self._ends) - 1


def width_of(text: str, size: float = 12) -> float:
    """About how wide `text` will be, rather too much than too little."""
    return sum(size if unicodedata.east_asian_width(letter) in "WF" else 0.62 * size for letter in text)


def shorten(text: str, width: float, size: float = 12) -> str:
    """As much of `text` as fits `width`."""
    if width_of(text, size) <= width:
        return text
    ends = accumulate((width_of(letter, size) for letter in text), initial=width_of("…", size))
    fitting = sum(1 for _ in takewhile(lambda end: end <= width, ends)) - 1
    return text[: max(fitting, 0)].rstrip() + "…"


def wrap(text: str, width: float, most: int, size: float = 12) -> list[str]:
    """`text` in at most `most` lines that fit `width`."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for word in text.split():
        needed = width_of(f" {word}", size)
        if lines[-1] and used + needed > width and len(lines) < most:
            lines.append([])
            used = 0.0
        lines[-1].append(word)
        used += needed
    return [shorten(" ".join(line), width, size) for line in lines if line]


def _clean(text: str) -> str:
    """`text` without what XML has no way to say."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text), quote=False)
