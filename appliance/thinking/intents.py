"""From what was heard to what was meant: hassil over our own sentences."""

import io
import itertools
import re
import unicodedata
from collections.abc import Iterator
from importlib.resources import files

from hassil import Intents, recognize
from hassil.util import normalize_for_matching, remove_skip_words

from appliance.errors import BadInputError

_SENTENCES = files("appliance.thinking") / "sentences"

_ORNAMENT = re.compile(r"""(?<!\w)[-–—"“”„«»()*]+|[-–—"“”„«»()*]+(?!\w)""")
"""Dashes and the like around words, which hassil would take for a part of them."""

_STUTTER = re.compile(r"\b(\w+)(?:\W+\1\b)+", re.IGNORECASE)
"""A word said, or heard, several times in a row."""

_FRAGMENT = re.compile(r"^\W*[\w'’]+(?:\W+[\w'’]+)?[.?!…]+\s+")
"""A sentence of one or two words: what recognisers make of a wake word that they didn't hear whole ("Next up.")."""

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")

_PARTED_APOSTROPHE = re.compile(r"(?<=\w)['’]\s*(?=\w)")
"""Some recognisers write a space after the apostrophe of "l'heure"."""

_MOST = 2
"""Fillers at either end that are left out one by one; where there are more, all of them are."""

_PIECES = 3
"""In how many words recognisers write a filler of a language that they part as they like."""


def languages() -> list[str]:
    """The languages that there are sentences for."""
    return sorted(file.name.removesuffix(".yaml") for file in _SENTENCES.iterdir() if file.name.endswith(".yaml"))


class IntentMatcher:
    """Recognises the intents of one language; an unsupported language is a BadInputError."""

    def __init__(self, language: str) -> None:
        if language not in languages():
            raise BadInputError(
                "language", f"{language!r} is not one I understand questions in", allowed=", ".join(languages())
            )
        text = (_SENTENCES / f"{language}.yaml").read_text(encoding="utf-8")
        self._intents = Intents.from_yaml(io.StringIO(_plain(text)))
        # hassil leaves out all or none of them, and where it ignores white space, also in the middle of other words.
        self._fillers, self._intents.skip_words = self._intents.skip_words, []
        ignores_space = self._intents.settings.ignore_whitespace
        self._between = "" if ignores_space else " "
        self._longest = _PIECES if ignores_space else max(len(filler.split()) for filler in self._fillers)
        self.names = frozenset(self._intents.intents)

    def match(self, heard: str) -> str | None:
        """The intent that `heard` expresses as a whole, save for a fragment in front; None if it has none."""
        heard = _plain(_ORNAMENT.sub(" ", heard))
        texts = dict.fromkeys((heard, _STUTTER.sub(r"\1", heard), _FRAGMENT.sub("", heard)))
        for words in dict.fromkeys(itertools.chain.from_iterable(map(self._without_fillers, texts))):
            if result := recognize(words, self._intents):
                return result.intent.name
        return None

    def _without_fillers(self, text: str) -> Iterator[str]:
        """`text` with fewer and fewer of the fillers around it, and at last without any."""
        text = normalize_for_matching(text).text
        words = text.split()
        begins, ends = [0], [len(words)]
        while len(begins) <= _MOST and (size := self._filler(words[begins[-1] :][: self._longest])):
            begins.append(begins[-1] + size)
        while len(ends) <= _MOST and (size := self._filler(words[: ends[-1]][-self._longest :], last=True)):
            ends.append(ends[-1] - size)
        for begin, end in sorted(itertools.product(begins, ends), key=lambda each: each[0] - each[1]):
            yield " ".join(words[begin:end])
        yield remove_skip_words(text, self._fillers, ignore_whitespace=False)

    def _filler(self, words: list[str], *, last: bool = False) -> int:
        """How many of `words` the longest filler at their beginning, or end, has; 0 when there is none."""
        parts = (words[at:] if last else words[: len(words) - at] for at in range(len(words)))
        return next((len(part) for part in parts if self._between.join(part).lower() in self._fillers), 0)


def _plain(text: str) -> str:
    """`text` without what recognisers, and people who write, do or leave out as they like: accents and hyphens."""
    letters = (char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    text = unicodedata.normalize("NFC", "".join(letters)).replace("ß", "ss")
    return _PARTED_APOSTROPHE.sub("'", _HYPHEN.sub(" ", text))
