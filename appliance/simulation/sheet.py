"""The sheet that a timeline is drawn on: lanes below one another, over one axis of time."""

from collections.abc import Mapping

from appliance.simulation.drawing import FAINT, Drawing, shorten, width_of

LEFT, RIGHT = 120, 30
"""Pixels beside the plot: the names of the lanes, and a margin."""

_NARROWEST, _WIDEST = 900, 1900
_PER_SECOND = 80
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400)
_APART = 60
_SHORTEST = 0.01
_GRID = "#e0e0e0"


class Sheet:
    """`y` is where the next lane begins; a lane moves it on by its height."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(seconds, _SHORTEST)
        self.plot = round(min(max(_PER_SECOND * self.seconds, _NARROWEST), _WIDEST))
        self.width = LEFT + self.plot + RIGHT
        self.drawing = Drawing()
        self.below = Drawing()
        """What lies under `drawing`: lines that go through several lanes."""
        self.y = 100.0

    def x(self, at: float) -> float:
        """Where the time `at` is."""
        return LEFT + self.plot * min(max(at / self.seconds, 0.0), 1.0)

    def head(self, title: str, facts: str) -> None:
        """The two lines on top."""
        self.drawing.text(20, 34, shorten(title, self.width - 40, 20), size=20, bold=True)
        self.drawing.text(20, 56, facts, fill=FAINT)

    def name(self, name: str, y: float, detail: str = "") -> None:
        """The name of a lane, left of it."""
        self.drawing.text(LEFT - 12, y, name, anchor="end", bold=True)
        self.drawing.text(LEFT - 12, y + 14, detail, size=10, fill=FAINT, anchor="end")

    def legend(self, y: float, colours: Mapping[str, str]) -> None:
        """What the colours mean, at the right edge."""
        x = float(self.width - RIGHT)
        for name, colour in reversed(list(colours.items())):
            x -= width_of(name, 11) + 26
            self.drawing.box(x, y - 10, 12, 12, colour, name)
            self.drawing.text(x + 17, y, name, 11, FAINT)

    def axis(self, top: float, bottom: float) -> None:
        """The times, above `top`, and lines from there to `bottom`."""
        step = next((tick for tick in _TICKS if self.plot * tick / self.seconds >= _APART), _TICKS[-1])
        for number in range(int(self.seconds / step) + 1):
            x = self.x(number * step)
            self.below.line(x, top - 12, x, bottom, _GRID)
            self.below.text(x, top - 16, _clock(number * step, step), size=11, fill=FAINT, anchor="middle")

    def svg(self) -> str:
        """The whole document."""
        return self.drawing.svg(self.width, self.y, self.below)


def _clock(at: float, step: float) -> str:
    if step < 10:
        return f"{at:.1f} s" if step < 1 else f"{at:.0f} s"
    minutes, seconds = divmod(round(at), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"
