"""Numbers and durations among words: "an hour and a half", "drei viertel Stunden", "una hora treinta"."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from appliance.thinking.numbers import counted, numbers
from appliance.thinking.plain import plain
from appliance.thinking.units import HOUR, MINUTE, UNITS, Units

_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+|%")

_LONGEST = 7
"""In how many words a number may be written: "a hundred and twenty five" has five."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number in figures or a percent sign, and where it stands."""

    text: str
    begin: int
    end: int


class Reader:
    """Reads one language. What it finds at a word comes with the word after it, which is the same if there is none."""

    def __init__(self, language: str) -> None:
        units = UNITS[language]
        self._sizes = {plain(word): seconds for word, seconds in units.seconds.items()}
        self._whole = {plain(word): seconds for word, seconds in units.whole.items()}
        self._units = units
        self._counted: Mapping[str, float] = counted(language)
        self._numbers: Mapping[str, float] = {
            **numbers(language),
            **{plain(word): value for word, value in units.numbers.items()},
        }
        single = {word for word, value in self._numbers.items() if value == 1}
        self._articles = single - (self._counted.keys() - {"un"})
        self._token = _korean(self._numbers, units) if language == "ko" else _TOKEN

    def words(self, text: str) -> Sequence[Word]:
        """The words of a plain text in lower case."""
        found = [Word(match[0], match.start(), match.end()) for match in self._token.finditer(text)]
        return [self._number_alone(word) for word in found] if self._token is not _TOKEN else found

    def level(self, words: Sequence[Word], at: int) -> tuple[float, bool, int]:
        """The number that stands alone at `at`, and whether it is one of percents."""
        number, end = self._number(words, at, self._counted)
        if end > at:
            for size in (1, 2):
                if "".join(word.text for word in words[end : end + size]) in self._units.percent:
                    return number, True, end + size
        return number, False, end

    def is_article(self, word: Word) -> bool:
        """Whether it may mean one, but need not."""
        return word.text in self._articles

    def duration(self, words: Sequence[Word], at: int) -> tuple[int, int]:
        """The seconds of the longest duration that begins at `at`."""
        total, smallest, end = 0.0, 0, at
        while True:
            begin = end + 1 if total and self._is(words, end, self._units.joins) else end
            seconds, unit, after = self._part(words, begin)
            if after == begin or (smallest and unit >= smallest):
                break
            total, smallest, end = total + seconds, unit, after
        if smallest in (HOUR, MINUTE) and self._units.joins:  # "an hour and thirty"
            begin = end + 1 if self._is(words, end, self._units.joins) else end
            rest, percent, after = self.level(words, begin)
            if after > begin and rest < MINUTE and not percent:
                total, end = total + rest * (smallest // MINUTE), after
        return round(total), end

    def _part(self, words: Sequence[Word], at: int) -> tuple[float, int, int]:
        """The part of a duration that has one unit: its seconds, and the unit's."""
        number, counts = self._number(words, at, self._numbers)
        has_number = counts > at
        if (whole := self._size(words, counts, self._whole)) and (number == 1 or not has_number):
            return whole, whole, counts + 1  # a "Viertelstunde"
        share, fraction = self._fraction(words, counts)
        of = self._skip(words, fraction, self._units.of)
        if fraction > counts and (unit := self._size(words, of, self._sizes)):
            times = number if has_number and share < 0.5 else 1
            return times * share * unit, unit, of + 1  # three quarters of an hour
        share, fraction = self._joined_fraction(words, counts)
        if has_number and fraction > counts and (unit := self._size(words, fraction, self._sizes)):
            return (number + share) * unit, unit, fraction + 1  # one and a half hours
        if unit := self._size(words, counts, self._sizes):
            share, fraction = self._joined_fraction(words, counts + 1)
            of = self._skip(words, fraction, self._units.of)
            if fraction > counts + 1 and not self._size(words, of, self._sizes):
                return ((number if has_number else 1) + share) * unit, unit, fraction  # an hour and a half
            if has_number:
                return number * unit, unit, counts + 1
        return 0, 0, at

    def _joined_fraction(self, words: Sequence[Word], at: int) -> tuple[float, int]:
        """A fraction that is added: "and a half", "and three quarters"."""
        joins = self._units.joins
        begin = at + 1 if self._is(words, at, joins) else at
        if begin == at and joins:
            return 0, at
        number, counts = self._number(words, begin, self._numbers)
        share, fraction = self._fraction(words, counts)
        if fraction == counts:
            return 0, at
        return share * (number if counts > begin and share < 0.5 else 1), fraction

    def _fraction(self, words: Sequence[Word], at: int) -> tuple[float, int]:
        if self._is(words, at, self._units.half):
            return 0.5, at + 1
        return (0.25, at + 1) if self._is(words, at, self._units.quarter) else (0, at)

    def _number(self, words: Sequence[Word], at: int, known: Mapping[str, float]) -> tuple[float, int]:
        if at < len(words) and words[at].text[0].isdecimal():
            return float(words[at].text.replace(",", ".")), at + 1
        for end in range(min(at + _LONGEST, len(words)), at, -1):
            number = known.get("".join(word.text for word in words[at:end]))
            if number is not None:
                return number, end
        return 0, at

    def _number_alone(self, word: Word) -> Word:
        """In Korean a number's first letters may belong to the word before."""
        for begin in range(len(word.text)):
            if word.text[begin:] in self._numbers:
                return Word(word.text[begin:], word.begin + begin, word.end)
        return word

    def _is(self, words: Sequence[Word], at: int, what: Collection[str]) -> bool:
        return at < len(words) and words[at].text in what

    def _size(self, words: Sequence[Word], at: int, sizes: Mapping[str, int]) -> int:
        return sizes.get(words[at].text, 0) if at < len(words) else 0

    def _skip(self, words: Sequence[Word], at: int, what: Collection[str]) -> int:
        while self._is(words, at, what):
            at += 1
        return at


def _korean(known: Mapping[str, float], units: Units) -> re.Pattern[str]:
    """Numbers touch their units, and what stands before them."""
    letters = "".join(sorted({char for word in known for char in word}))
    others = sorted({*units.seconds, *units.half, *units.percent}, key=len, reverse=True)
    return re.compile(rf"\d+(?:[.,]\d+)?|{'|'.join(map(re.escape, others))}|[{letters}]+|[^\W\d_]")
