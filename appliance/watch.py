"""`appliance watch`: what the running appliance hears, says and does, live in a terminal, for instance over SSH.

Each event is a line; the last line of a terminal shows levels, scores and the phase, over and over. A terminal that
cannot do that, or a file, gets an event line for them now and then.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, TextIO

SELDOM = 5.0
"""Seconds between two lines of levels where they cannot take each other's place."""

AGAIN = 1.0
"""Seconds between two tries to find an appliance that has gone."""

BAR = 20
"""Columns of the level."""

FLOOR = -60.0
"""The level, in dB, at which the bar is empty."""

HOLD = 10
"""Lines of levels, a second's worth, of which the highest score is shown."""

_CLEAR = "\r\x1b[K"


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", data_directory: Callable[[], Path]
) -> None:
    """Register the command; `data_directory` says where the appliance is, once the command runs."""
    parser = commands.add_parser("watch", help="levels, wake words, states and the conversation, live, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="for programs: one line for each")
    parser.set_defaults(handler=lambda options: _watch(data_directory(), json=options.json))


def _watch(directory: Path, *, json: bool) -> int:
    screen = Screen(sys.stdout)
    show: Callable[[bytes], None] = screen.raw if json else View(screen).show
    try:
        for line in _lines(directory, screen):
            show(line)
    except KeyboardInterrupt:
        pass
    finally:
        screen.close()
    return 0


def _lines(directory: Path, screen: "Screen") -> Iterator[bytes]:
    """What the appliance tells, for ever; one that was there once, and has gone, is waited for."""
    from appliance.service.client import NotRunningError, asked
    from appliance.service.request import Watch

    was_there = False
    while True:
        try:
            with asked(directory, Watch()) as (_, lines):
                was_there = True
                yield from _until_gone(lines)
            screen.notice("the appliance has gone, and is waited for")
        except NotRunningError:
            if not was_there:
                raise
        time.sleep(AGAIN)


def _until_gone(lines: BinaryIO) -> Iterator[bytes]:
    try:
        yield from lines
    except OSError:
        return


class Screen:
    """Lines, and under them, on a terminal that can do that, one that changes."""

    def __init__(self, out: TextIO) -> None:
        import os

        self._out = out
        self.is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._live = ""

    def line(self, text: str) -> None:
        """One more line. What it says is for people, and not for their terminal."""
        safe = "".join(character if character.isprintable() else "?" for character in text)
        self._write(f"{_CLEAR if self._live else ''}{safe}\n{self._live}")

    def live(self, text: str) -> None:
        """What the last line says from now on."""
        self._live = _cut(text, _columns() - 1)
        self._write(_CLEAR + self._live)

    def raw(self, line: bytes) -> None:
        """A line as it is."""
        self._write(line.decode(errors="replace"))

    def notice(self, text: str) -> None:
        """Something about the watching itself, which programs get apart from all else."""
        sys.stderr.write(f"{_CLEAR if self._live else ''}{text}\n")

    def close(self) -> None:
        """The cursor goes where the next command expects it."""
        if self._live:
            self._live = ""
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "ascii"
        self._out.write(text.encode(encoding, "replace").decode(encoding))
        self._out.flush()


class View:
    """Words what the appliance tells, for people."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._phase = ""
        self._scores: list[Mapping[str, float]] = []
        self._next_level = clock()
        from appliance.console import Console

        self._console = Console(_wall_clock, _Said(screen))

    def show(self, line: bytes) -> None:
        """Show one line of it; one that cannot be understood is left out."""
        import msgspec

        try:
            told = msgspec.json.decode(line, type=dict[str, object])
        except msgspec.DecodeError:
            return
        kind, at = str(told.pop("kind", "")), told.pop("at", 0.0)
        at = float(at) if isinstance(at, int | float) else 0.0
        match kind:
            case "level":
                self._level(at, told)
            case "phase":
                self._phase = str(told.get("phase"))
                if not self._screen.is_live:
                    self._screen.line(f"{_wall_clock(at)}  [{self._phase}]")
            case "lost":
                self._screen.line(f"          (this connection is too slow: {told.get('lines')} lines are lost)")
            case _:
                self._event(kind, at, told)

    def _event(self, kind: str, at: float, told: Mapping[str, object]) -> None:
        from appliance.core.effects import Report

        try:
            self._console.report(Report(kind, at, 0, told))
        except KeyError:  # of another version
            self._screen.line(f"{_wall_clock(at)}  ({kind})")

    def _level(self, at: float, told: Mapping[str, object]) -> None:
        scores = told.get("scores")
        self._scores = [*self._scores, scores if isinstance(scores, dict) else {}][-HOLD:]
        text = f"{_bar(told.get('rms'))} {told.get('rms')} dB, peak {told.get('peak')} dB{self._best()}"
        if self._screen.is_live:
            self._screen.live(f"{self._phase:<10}{text}")
        elif self._clock() >= self._next_level:
            self._next_level = self._clock() + SELDOM
            self._screen.line(f"{_wall_clock(at)}  {text}")

    def _best(self) -> str:
        words = dict.fromkeys(word for scores in self._scores for word in scores)
        best = {word: max(scores.get(word, 0.0) for scores in self._scores) for word in words}
        return "".join(f"  {word} {score:.2f}" for word, score in best.items())


class _Said:
    """Where the console writes to, that words the conversation: each of its lines becomes one of the screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def write(self, text: str) -> None:
        for line in text.splitlines():
            self._screen.line(line)

    def flush(self) -> None:
        """The screen does."""


def _bar(level: object) -> str:
    share = (float(level) - FLOOR) / -FLOOR if isinstance(level, int | float) else 0.0
    full = round(BAR * min(max(share, 0.0), 1.0))
    return "#" * full + "." * (BAR - full)


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def _cut(text: str, columns: int) -> str:
    """`text` in one line of a terminal; a second one could not be wiped away."""
    import unicodedata

    width = 0
    for index, character in enumerate(text):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > columns:
            return text[:index]
    return text


def _wall_clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
