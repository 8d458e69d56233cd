"""Server-sent events, out of bytes that may be cut anywhere. No input or output of its own.

Rules (https://html.spec.whatwg.org/multipage/server-sent-events.html, and one more):
- A line ends with CR LF, LF or CR; an empty line ends an event. A line that begins with a colon is a comment, which
  servers send to keep a connection open.
- An event without data is none. Of several lines of data, each but the last keeps its end.
- At the end of the stream, what there is of an event is one, although the standard drops it: the empty line after the
  last event is forgotten by some.
- What would not end is an error, and what came before it is not lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 1 << 20
"""Bytes of a line, and of the data of an event: thousands of times what a piece of an answer has."""

BOM = b"\xef\xbb\xbf"


class TooLongError(Exception):
    """A line, or the data of an event, has no end."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """What was sent at once."""

    data: str
    name: str = ""
    """Most servers name no event."""


class SseDecoder:
    """One stream. Each piece of it goes to `feed`, whose events have to be taken before the next one; then `finish`."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._first = True
        self._after_cr = False
        self._data: list[str] = []
        self._size = 0
        self._name = ""

    def feed(self, data: bytes) -> Iterator[SseEvent]:
        """The events that `data` completes. Raises TooLongError."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        for part in data.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            self._line += line
            if len(self._line) > LONGEST:
                raise TooLongError(f"a line is longer than {LONGEST:,} bytes")
            if line != part:
                yield from self._take_line()

    def finish(self) -> Iterator[SseEvent]:
        """The event that the end of the stream completes. Raises TooLongError."""
        if self._line:
            yield from self._take_line()
        yield from self._dispatch()

    def _take_line(self) -> Iterator[SseEvent]:
        line = bytes(self._line.removeprefix(BOM) if self._first else self._line)
        self._line.clear()
        self._first = False
        if not line:
            yield from self._dispatch()
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._size += len(value)
            if self._size > LONGEST:
                raise TooLongError(f"an event is longer than {LONGEST:,} bytes")
            self._data.append(value.decode(errors="replace"))
        elif field == b"event":
            self._name = value.decode(errors="replace")

    def _dispatch(self) -> Iterator[SseEvent]:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], "", 0
        if data:
            yield SseEvent("\n".join(data), name)
