"""What interrupts a reply, and what was heard of it.

Rules of speech during a reply:
- Speech without words, a back-channel ("mm-hmm", "okay"), or an echo of what the reply itself has just said are false
  alarms: the reply goes on.
- "stop" is meant, unless the reply itself has just said it. So is any other order that is known, and what is too short
  to be told from a likeness.
- Everything else is new, and has to be answered.

Rules of what was heard: a clause counts whole when its last sample has sounded. Of one that was cut, the share of its
letters is taken to be the share of its samples, and a word that may have been cut was not heard.

Rules of what the appliance says itself: a wake word that sounds like what is being said just then, by the share of its
letters and with a margin, is its own.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

_WORD = re.compile(r"[가-힣]|[^\W_가-힣]+(?:['’][^\W_가-힣]+)*")
"""A word; of Korean, a syllable, since recognisers part its words where they like."""
_JAMO = re.compile("[\u1100-\u11ff]")
_DRAWN_OUT = re.compile(r"(.)\1+")
_ONE_WORD_MORE = re.compile(r"\S*\s*\S*")

_ALIKE = 2 / 3
"""Share of the letters that an echo has right. Of 187 pieces of Piper's speech, as Moonshine wrote them, 164 have that
(134 of 143 from 0.9 s on), and so have 37 of 4905 questions that people ask, 1413 of them in the words of the reply."""

_TOO_SHORT = 7
"""Letters below which a likeness is none: "mind" is not "fine"."""

_RECENT = 1.2
"""How much longer than its echo the end of the reply may be that is searched for it: recognisers leave words out."""

_UNEVEN = 0.1
"""Share of a clause by which a word may be elsewhere than its letters say: numbers and pauses take longer."""

_LATE = 15
"""Letters, a second of speech, that the reply may have said after what it is compared with."""

_LATE_WORDS = 2
"""Words of the same kind, for what must be just the same: the one under way, and the one after it."""

_LATE_SYLLABLES = 6
"""The same in Korean."""


@dataclass(frozen=True, slots=True)
class Gates:
    """Which triggers may interrupt a reply."""

    button: bool = True
    wake_word: bool = True
    stop_word: bool = True
    speech: bool = True


class Meaning(Enum):
    """What was said during a reply, as far as the reply is concerned."""

    NOTHING = "nothing"
    """There were no words in it: a cough, a door."""
    BACK_CHANNEL = "back-channel"
    """The listener is still there: "mm-hmm", "okay", "go on"."""
    ECHO = "echo"
    """The appliance has heard itself."""
    STOP = "stop"
    """The reply is not wanted any more, and nothing else is."""
    ORDER = "order"
    """Something that the appliance can do or answer by itself."""
    WORDS = "words"
    """Something else, to be answered."""


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """A clause of a reply, and its samples in it: from `begin` on, up to but without `end`."""

    text: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class HeardText:
    """A reply that was spoken up to some point."""

    heard: str
    """The words at its beginning that were heard for certain."""
    said: str
    """The words at its beginning that an echo may hold: with the one that was cut, and the one after it."""
    rest: str
    """How to go on: from the beginning of the clause that was cut, so that it can be understood."""


def heard_text(clauses: Sequence[SpokenClause], played: int, reply: str) -> HeardText:
    """What was heard of `reply` after `played` samples of it.

    `clauses` follow one another in the reply and in its samples; those that were not made yet may be missing.
    """
    ends = [0, *(at + 1 for at, char in enumerate(reply) if not char.isspace())]
    """Where the reply ends after so many letters."""
    begin = cut = 0
    for clause in clauses if played > 0 else ():
        letters = len("".join(clause.text.split()))
        if played < clause.end:
            cut = max(0, played - clause.begin) * letters // max(1, clause.end - clause.begin)
            break
        begin = min(begin + letters, len(ends) - 1)
    end = ends[min(begin + cut, len(ends) - 1)]
    said = _ONE_WORD_MORE.match(reply, end) if played > 0 else None
    while ends[begin] < end < len(reply) and not reply[end].isspace():
        end -= 1
    return HeardText(
        heard=reply[:end].strip(),
        said=reply[: said.end()].strip() if said else "",
        rest=reply[ends[begin] :].strip(),
    )


def said_between(clauses: Sequence[SpokenClause], begin: int, end: int) -> str:
    """The words that the samples of a reply from `begin` up to `end` may hold, whole ones."""
    said = []
    for clause in clauses:
        length = clause.end - clause.begin
        margin = int(_UNEVEN * length)
        first, last = begin - margin - clause.begin, end + margin - clause.begin
        places = [at for at, char in enumerate(clause.text) if not char.isspace()]
        if last <= 0 or first >= length or begin >= end or not length or not places:
            continue
        from_letter = max(0, first) * len(places) // length
        to_letter = -(-min(last, length) * len(places) // length)
        start, stop = places[min(from_letter, len(places) - 1)], places[max(to_letter, 1) - 1] + 1
        while start > 0 and not clause.text[start - 1].isspace():
            start -= 1
        while stop < len(clause.text) and not clause.text[stop].isspace():
            stop += 1
        said.append(clause.text[start:stop])
    return " ".join(said)


def judge(
    text: str, *, recently_said: str, back_channels: Iterable[str], is_stop: bool, is_order: bool = False
) -> Meaning:
    """What `text`, heard during a reply, means for it.

    `recently_said` is the reply as far as it was said while `text` was heard, whose end counts; `back_channels` are
    those of the language. `is_stop`: as a whole it means "stop"; `is_order`: it means something else that is known.
    """
    words = _words(text)
    if not words:
        return Meaning.NOTHING
    if _consists_of(words, {_words(phrase) for phrase in back_channels}):
        return Meaning.BACK_CHANNEL
    if _is_echo(words, _words(recently_said), exact=is_stop or is_order):
        return Meaning.ECHO
    if is_stop:
        return Meaning.STOP
    return Meaning.ORDER if is_order else Meaning.WORDS


def _words(text: str) -> tuple[str, ...]:
    """The words of `text` without accents, and however long letters are drawn: "Mm-hmmm" and "mm hm" are the same.

    Korean syllables are written as their letters, so that what is short, or alike, is so in every script.
    """
    return tuple(_DRAWN_OUT.sub(r"\1", _plain(word[0].lower().replace("’", "'"))) for word in _WORD.finditer(text))


def _plain(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


def _consists_of(words: tuple[str, ...], phrases: Collection[tuple[str, ...]]) -> bool:
    """Whether `words` are nothing but some of the phrases, one after the other."""
    ends = {0}
    for end in range(1, len(words) + 1):
        if any(words[begin:end] in phrases for begin in ends):
            ends.add(end)
    return len(words) in ends


def _is_echo(words: tuple[str, ...], said: tuple[str, ...], *, exact: bool) -> bool:
    """Whether `words` are what a recogniser makes of the end of `said`."""
    letters = "".join(words)
    if exact or len(letters) < _TOO_SHORT:
        late = _LATE_SYLLABLES if _JAMO.match(letters) else _LATE_WORDS
        recent = said[-len(words) - late :]
        return any(recent[at : at + len(words)] == words for at in range(len(recent) - len(words) + 1))
    reply = "".join(said)[-int(_RECENT * len(letters)) - _LATE :]
    return _fewest_edits(letters, reply) <= (1 - _ALIKE) * len(letters)


def _fewest_edits(letters: str, text: str) -> int:
    """How many letters to insert, leave out or replace to find `letters` somewhere in `text`."""
    row = [0] * (len(text) + 1)
    for letter in letters:
        above, row = row, [row[0] + 1]
        for at, other in enumerate(text):
            row.append(min(above[at] + (letter != other), above[at + 1] + 1, row[at] + 1))
    return min(row)
