"""Whether what was said so far, before a pause, is a whole command, or wants more words.

Rules:
- The last sentence counts as well as all of them: what is before it may be a wake word that was not recognised.
- After a hesitation, or a conjunction, more is to come, whatever was said before it.
- What only lacks something of a command ("set a timer") is open.
- What a skill understands is complete, unless it often goes on: after "set the volume to twenty" there may be a "five".
- What ends in a word that ends no sentence is open, and so is what is only the beginning of many.
- So is what breaks off in the middle, as the recogniser writes it: "I would like…".
- Of everything else nothing is known: a model can be asked anything.
"""

import re
from collections.abc import Callable
from enum import Enum

from appliance.thinking.endings import ENDINGS

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*['’]?")
_SENTENCE = re.compile(r"(?<=[.?!…。？！])\s+")
_BREAKS_OFF = re.compile(r"(?:\.\.|[…,;:–—-])\s*$")


class Completeness(Enum):
    """What a pause means after what was said."""

    COMPLETE = "complete"
    """Nothing more is wanted."""
    OPEN = "open"
    """The sentence is not over."""
    UNKNOWN = "unknown"


class Endings:
    """Judges in one language. `understands`: a skill is meant; `lacks`: one is, but not all is said that it takes."""

    def __init__(self, language: str, understands: Callable[[str], bool], lacks: Callable[[str], bool]) -> None:
        self._endings = ENDINGS[language]
        self._understands = understands
        self._lacks = lacks

    def completeness(self, heard: str) -> Completeness:
        """What a pause after `heard` means. Takes milliseconds."""
        words = [word.lower().replace("’", "'") for word in _WORD.findall(heard)]
        if not words:
            return Completeness.UNKNOWN
        endings, last = self._endings, words[-1]
        texts = dict.fromkeys((heard, _SENTENCE.split(heard.strip())[-1]))
        if last in endings.GOES_ON or any(map(self._lacks, texts)):
            return Completeness.OPEN
        if any(map(self._understands, texts)):
            return Completeness.UNKNOWN if self._may_go_on(words) else Completeness.COMPLETE
        is_open = last in endings.ENDS_NOTHING or last.endswith(endings.OPEN_SUFFIXES)
        if is_open or " ".join(words) in endings.BEGINNINGS or _BREAKS_OFF.search(heard):
            return Completeness.OPEN
        return Completeness.UNKNOWN

    def _may_go_on(self, words: list[str]) -> bool:
        tens = words[-1].isdecimal() and words[-1].endswith("0")
        return tens or words[-1] in self._endings.MAY_GO_ON or " ".join(words) in self._endings.BEGINS_MORE
