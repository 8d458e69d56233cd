"""Durations and levels in what was heard, in figures, in words, and in halves and quarters.

They are taken out of the text before it is matched, and signs stand in their place: so the templates need not know what
numbers are called, and stay small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appliance.thinking.durations import Reader, Word

DURATION = "時"
LEVEL = "數"
"""The signs, which no recogniser of ours writes; as CJK they may touch what stands beside them in Korean."""

HIGHEST = 10
"""The loudest level."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with signs, and what they stand for: each duration in seconds, or one level from 0 to HIGHEST."""

    text: str
    durations: tuple[int, ...] = ()
    level: int | None = None


class Quantities:
    """Finds those of one language."""

    def __init__(self, language: str) -> None:
        self._reader = Reader(language)
        self._parted = language != "ko"

    def readings(self, text: str) -> Iterator[Reading]:
        """`text`, which is plain, with signs, in the ways that it may have been meant; none without quantities."""
        text = text.lower() if self._parted else text.replace(" ", "")
        words = self._reader.words(text)
        first = self._durations(text, words, ordinals=False)
        if not first.durations:
            yield from self._levels(text, words)
            return
        yield first
        second = self._durations(text, words, ordinals=True)
        if second.durations and second != first:
            yield second

    def occur(self, text: str) -> bool:
        """Whether there are any in a name. Korean numbers of one letter are in many words."""
        return any(reading.durations or self._parted for reading in self.readings(text))

    def _durations(self, text: str, words: Sequence[Word], *, ordinals: bool) -> Reading:
        """`ordinals`: "a second" is one, and no duration."""
        pieces: list[str] = []
        values: list[int] = []
        at = done = 0
        while at < len(words):
            seconds, end = self._reader.duration(words, at)
            if end == at or (ordinals and self._reader.is_article(words[at]) and end == at + 2):
                at = max(end, at + 1)
                continue
            pieces += [text[done : words[at].begin], f" {DURATION} "]
            values.append(seconds)
            at, done = end, words[end - 1].end
        return Reading("".join((*pieces, text[done:])), durations=tuple(values))

    def _levels(self, text: str, words: Sequence[Word]) -> Iterator[Reading]:
        """With the last number taken for a level."""
        found, at = None, 0
        while at < len(words):
            number, percent, end = self._reader.level(words, at)
            if end > at:
                level = _level(number, percent=percent)
                found = Reading(f"{text[: words[at].begin]} {LEVEL} {text[words[end - 1].end :]}", level=level)
            at = max(end, at + 1)
        if found is not None:
            yield found


def _level(number: float, *, percent: bool) -> int:
    """A number above HIGHEST can only mean percents. What is not nothing is not silent."""
    if percent or number > HIGHEST:
        number = max(number / 10, 1 if number else 0)
    return min(round(number), HIGHEST)
