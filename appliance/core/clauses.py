"""A stream of text -> clauses that can be spoken one by one, the first of them soon.

A clause ends with its sentence or its line. The first one also ends at a comma or the like, so that the first sound
comes early; a later one only if it would get too long. Every decision depends on the text alone, and waits until no
further text could change it: how the text was cut into pieces makes no difference.
"""

import re
from collections.abc import Iterator

EARLY = 20
"""Characters from which on the first clause ends at a comma: about a second of speech, in which the next is made."""

LONGEST = 120
"""Characters of a clause at most: about six seconds of speech, which a voice has to make in one go."""

_STOPS = ".!?…。！？"
_OPENERS = "\"'“‘„«([{「『（*_"
_CLOSERS = "\"'”’»)]}」』）*_"
_MARK = re.compile(
    rf"(?P<stop>[{re.escape(_STOPS)}]+[{re.escape(_CLOSERS)}]*)|(?P<line>\n)"
    rf"|(?P<pause>[,;:]+[{re.escape(_CLOSERS)}]*(?=\s)|(?<=\s)[–-](?=\s)|—|[，、；：])"
)
_NEXT = re.compile(r"\S")
_LAST_SPACE = re.compile(r"\s\S*$")
_WIDE_STOP = re.compile("[。！？]")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_TITLES = ("dr", "mr", "mrs", "ms", "mx", "prof", "rev", "hon", "gen", "col", "sgt", "capt", "lt", "jr", "sr", "ph.d")
_NAMES = ("st", "mt", "ave", "blvd", "rd", "inc", "ltd", "co", "corp", "dept")
_ABBREVIATIONS = frozenset((*_TITLES, *_NAMES, "vs", "etc", "approx", "est"))
_MONTHS = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
_BEFORE_NUMBERS = frozenset((*_MONTHS, "no", "nr", "p", "pp", "vol", "fig", "ch", "sec", "ca"))


class ClauseSplitter:
    """Cuts one text that arrives piece by piece. Nothing but white space at the ends of clauses is lost."""

    def __init__(self) -> None:
        self._rest = ""
        self._first = True

    def feed(self, text: str) -> list[str]:
        """The clauses that `text` completes."""
        self._rest += text
        return list(self._cut(final=False))

    def finish(self) -> list[str]:
        """The text is over: what is left of it."""
        return list(self._cut(final=True))

    def _cut(self, *, final: bool) -> Iterator[str]:
        self._rest = self._rest.strip() if final else self._rest.lstrip()
        while (end := _end(self._rest, first=self._first, final=final)) is not None:
            clause, self._rest = self._rest[:end].rstrip(), self._rest[end:].lstrip()
            self._first = False
            yield clause


def is_whole(text: str) -> bool:
    """Whether `text`, which may go on, ends with the end of a sentence, as far as that can be told."""
    text = text.rstrip()
    is_number = text.endswith(".") and text[-2:-1].isdecimal()  # which may go on: 3.50
    if is_number or not text.rstrip(_CLOSERS).endswith(tuple(_STOPS)):
        return False
    return "".join(ClauseSplitter().feed(f"{text} A")).endswith(text.split()[-1])


def is_spoken(text: str) -> bool:
    """Whether there is anything in `text` that a voice makes a sound of."""
    return any(letter.isalnum() for letter in text)


def _end(text: str, *, first: bool, final: bool) -> int | None:
    """Where the clause at the start of `text` ends, if that is certain."""
    pause = 0
    for mark in _MARK.finditer(text):
        end = mark.end()
        if end > LONGEST:
            break
        following = _NEXT.search(text, end)
        if mark["line"] or "\n" in text[end : following.start() if following else None]:
            return end
        if following is None:
            return len(text) if final else None
        if mark["stop"] and _ends_sentence(text, mark["stop"], end, following):
            return end
        if mark["pause"]:
            if first and end >= EARLY:
                return end
            pause = end
    if len(text) > LONGEST:
        return _best(text, pause)
    return len(text) if final and text else None


def _ends_sentence(text: str, stop: str, end: int, following: re.Match[str]) -> bool:
    if _WIDE_STOP.search(stop):
        return True
    if following.start() == end or following[0].islower():
        return False
    if stop != ".":
        return True
    word = text[: end - 1].rpartition(" ")[2].lstrip(_OPENERS).lower()
    return not (
        word in _ABBREVIATIONS
        or _INITIALS.fullmatch(word)
        or (word in _BEFORE_NUMBERS and following[0].isdigit())
        or text[: end - 1].isdecimal()
    )


def _best(text: str, pause: int) -> int:
    """The best place before `LONGEST`: the last pause, or between two words, or in the middle of something endless."""
    if pause >= EARLY:
        return pause
    space = _LAST_SPACE.search(text[: LONGEST + 1])
    return space.start() if space else LONGEST
