"""What a transcript got right of what had to be in it."""

import re
from collections.abc import Mapping
from functools import cache

from unicode_rbnf import RbnfEngine

_WORD = re.compile(r"[a-z']+|\d+")
_SPELLINGS = {"oz": "ounce", "ounces": "ounce"}


def right(text: str, slots: Mapping[str, str]) -> int:
    """How many of `slots` stand in `text`, word for word; "8-ounce" and "eight ounces" are the same."""
    heard = f" {words(text)} "
    return sum(f" {words(value)} " in heard for value in slots.values())


def words(text: str) -> str:
    """The words of `text` with a space between them, and numbers as words."""
    found = (_in_words(word) if word.isdigit() else word for word in _WORD.findall(text.lower()))
    return " ".join(_SPELLINGS.get(word, word) for word in found)


def _in_words(number: str) -> str:
    return " ".join(re.findall("[a-z]+", _english().format_number(int(number)).text))


@cache
def _english() -> RbnfEngine:
    return RbnfEngine.for_language("en")
