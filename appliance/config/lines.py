"""Where in a TOML text its keys are, which `tomllib` does not say.

The scanner walks over a text that `tomllib` has accepted, so it can take every short cut that valid TOML allows.
"""

import re
import tomllib
from collections.abc import Iterable

KeyPath = tuple[str | int, ...]
"""The way to a value: keys, and positions in lists, from the outside in."""

_GAP = re.compile(r"(?:[\s,]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^\s.=\]"\'#]+')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?""""{0,2}' + r"|'''.*?''''{0,2}" + r'|"(?:[^"\\]|\\.)*"' + r"|'[^']*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]*")


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[KeyPath, int] = {(): 0}
        self.sizes: dict[KeyPath, int] = {}  # of the arrays of tables so far

    def document(self) -> None:
        here: KeyPath = ()
        while self._past(_GAP) < len(self.text):
            if self.text[self.at] == "[":
                here = self._header()
            else:
                self._pair(here)

    def _past(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            start = self._past(_BLANK)
            key = self.text[start : self._past(_KEY)]
            keys.append(str(tomllib.loads(f"key = {key}")["key"]) if key[0] in "\"'" else key)
            if self.text[self._past(_BLANK)] != ".":
                return keys
            self.at += 1

    def _header(self) -> KeyPath:
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        path: KeyPath = ()
        for key in self._keys():
            if path in self.sizes:
                path += (self.sizes[path] - 1,)
            path += (key,)
            self.found.setdefault(path, start)
        self.at += brackets
        if brackets == 2:
            self.sizes[path] = self.sizes.get(path, 0) + 1
            path += (self.sizes[path] - 1,)
        self.found[path] = start
        return path

    def _pair(self, here: KeyPath) -> None:
        start = self.at
        for key in self._keys():
            here += (key,)
            self.found.setdefault(here, start)
        self.at += 1
        self._past(_BLANK)
        self._value(here)

    def _value(self, path: KeyPath) -> None:
        opening = self.text[self.at]
        if opening == "[":
            self.at += 1
            index = 0
            while self.text[self._past(_GAP)] != "]":
                self.found[*path, index] = self.at
                self._value((*path, index))
                index += 1
            self.at += 1
        elif opening == "{":
            self.at += 1
            while self.text[self._past(_GAP)] != "}":
                self._pair(path)
            self.at += 1
        else:
            self._past(_STRING if opening in "\"'" else _PLAIN)


def offsets(text: str) -> dict[KeyPath, int]:
    """The offset of every key, table and list item in a text that `tomllib` accepts."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.found


def line_at(text: str, offset: int) -> int:
    """The line, from 1, that `offset` is in."""
    return text.count("\n", 0, offset) + 1


def line_of(text: str, path: KeyPath) -> int:
    """The line, from 1, of what lies at `path`, or of the nearest thing around it that is written there."""
    found = offsets(text)
    while path not in found:
        path = path[:-1]
    return line_at(text, found[path])


def order_of(text: str, names: Iterable[str]) -> list[tuple[str, int]]:
    """The entries of the top-level lists `names`, as (name, position in its list), in the order of the text."""
    wanted = set(names)
    entries = [
        (offset, path[0], path[1])
        for path, offset in offsets(text).items()
        if len(path) == 2 and isinstance(path[0], str) and isinstance(path[1], int) and path[0] in wanted
    ]
    return [(name, index) for _, name, index in sorted(entries)]
