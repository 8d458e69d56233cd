"""A stream of text -> clauses that can be spoken one by one, the first of them soon.

A clause ends with its sentence or its line. The first one also ends at a comma or the like, so that the first sound
comes early; a later one only if it would get too long. Every decision depends on the text alone, and waits until no
further text could change it: how the text was cut into pieces makes no difference.
"""

import re
from collections.abc import Iterator
from itertools import accumulate

EARLY = 20
"""Letters from which on the first clause ends at a comma: about a second of speech, in which the next is made."""

LONGEST = 120
"""Letters of a clause at most: about six seconds of speech, which a voice has to make in one go."""

SYLLABLE = 3
"""Letters that a character of a script of syllables counts as."""

_STOPS = ".!?…。！？"
_OPENERS = "\"'“‘„«([{「『（*_¿¡"
_CLOSERS = "\"'”’»)]}」』）*_"
_MARK = re.compile(
    rf"(?P<stop>[{re.escape(_STOPS)}]+[{re.escape(_CLOSERS)}]*)|(?P<line>\n)"
    rf"|(?P<pause>[,;:]+[{re.escape(_CLOSERS)}]*(?=\s)|(?<=\s)[–-](?=\s)|—|[，、；：])"
)
_SYLLABLES = re.compile("[\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_NEXT = re.compile(r"\S")
_LAST_SPACE = re.compile(r"\s\S*$")
_WIDE_STOP = re.compile("[。！？]")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_TITLES = ("dr", "mr", "mrs", "ms", "mx", "prof", "rev", "hon", "gen", "col", "sgt", "capt", "lt", "jr", "sr", "ph.d")
_OTHER_TITLES = ("hr", "hrn", "fr", "frl", "dipl.-ing", "sra", "srta", "dra", "ud", "uds", "sig", "dott", "avv", "mgr")
_NAMES = ("st", "mt", "ave", "blvd", "rd", "inc", "ltd", "co", "corp", "dept", "str")
_ABBREVIATIONS = frozenset(
    (*_TITLES, *_OTHER_TITLES, *_NAMES, "vs", "etc", "approx", "est", "bzw", "evtl", "ggf", "vgl")
)
_MONTHS = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez")
_OTHER_NUMBERED = ("tel", "abs", "kap", "bd", "pág", "pag", "núm", "num", "art", "cap")
_BEFORE_NUMBERS = frozenset((*_MONTHS, *_OTHER_NUMBERED, "no", "nr", "p", "pp", "vol", "fig", "ch", "sec", "ca"))
_DAY = re.compile(r"(?<![^\s(])\d{1,2}\.$")
_GERMAN_MONTHS = (
    *("januar", "jänner", "februar", "märz", "april", "mai", "juni"),
    *("juli", "august", "september", "oktober", "november", "dezember"),
)
_AFTER_ORDINALS = frozenset((*_GERMAN_MONTHS, "jahrhundert", "jahrhunderts", "weltkrieg", "geburtstag"))
"""In German, a number with a full stop is an ordinal: "am 3. Oktober"."""
_LETTERS = re.compile(r"[^\W\d_]+")


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
    longest = _fitting(text)
    for mark in _MARK.finditer(text):
        end = mark.end()
        if end > longest:
            break
        following = _NEXT.search(text, end)
        if mark["line"] or "\n" in text[end : following.start() if following else None]:
            return end
        if following is None:
            return len(text) if final else None
        if mark["stop"] == "." and _DAY.search(text, 0, end) and not final and _may_be_ordinal(text, following.start()):
            return None
        if mark["stop"] and _ends_sentence(text, mark["stop"], end, following):
            return end
        if mark["pause"]:
            if first and _letters(text[:end]) >= EARLY:
                return end
            pause = end
    if len(text) > longest:
        return _best(text, pause, longest)
    return len(text) if final and text else None


def _may_be_ordinal(text: str, begin: int) -> bool:
    """Whether `text` ends with the beginning of a word that an ordinal stands before."""
    word = _LETTERS.match(text, begin)
    return (
        word is not None
        and word.end() == len(text)
        and any(each.startswith(word[0].lower()) for each in _AFTER_ORDINALS)
    )


def _ends_sentence(text: str, stop: str, end: int, following: re.Match[str]) -> bool:
    if _WIDE_STOP.search(stop):
        return True
    if following.start() == end or following[0].islower():
        return False
    if stop != ".":
        return True
    word = text[: end - 1].rpartition(" ")[2].lstrip(_OPENERS).lower()
    after = _LETTERS.match(text, following.start())
    return not (
        word in _ABBREVIATIONS
        or (_DAY.search(text, 0, end) and after and after[0].lower() in _AFTER_ORDINALS)
        or _INITIALS.fullmatch(word)
        or (word in _BEFORE_NUMBERS and following[0].isdigit())
        or text[: end - 1].isdecimal()
    )


def _fitting(text: str) -> int:
    """How many characters of `text` make up no more than the longest clause."""
    if not _SYLLABLES.search(text, 0, LONGEST):
        return min(len(text), LONGEST)
    letters = accumulate(map(_letters, text[: LONGEST + 1]))
    return sum(count <= LONGEST for count in letters)


def _letters(text: str) -> int:
    return len(text) + (SYLLABLE - 1) * len(_SYLLABLES.findall(text))


def _best(text: str, pause: int, longest: int) -> int:
    """The best place before `longest`: the last pause, or between two words, or in the middle of something endless."""
    if _letters(text[:pause]) >= EARLY:
        return pause
    space = _LAST_SPACE.search(text[: longest + 1])
    return space.start() if space else longest
