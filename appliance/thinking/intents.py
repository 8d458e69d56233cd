"""From what was heard to what was meant: hassil over our own sentences."""

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from hassil import Intents, RecognizeResult, TextSlotList, WildcardSlotList, recognize_all
from hassil.util import normalize_for_matching, remove_skip_words

from appliance.errors import BadInputError
from appliance.thinking.plain import plain
from appliance.thinking.quantities import DURATION, LEVEL, Quantities, Reading

_SENTENCES = files("appliance.thinking") / "sentences"

_ORNAMENT = re.compile(r"""(?<!\w)[-–—"“”„«»()*]+|[-–—"“”„«»()*]+(?!\w)""")
"""Dashes and the like around words, which hassil would take for a part of them."""

_STUTTER = re.compile(r"\b(\w+)(?:\W+\1\b)+", re.IGNORECASE)
"""A word said, or heard, several times in a row."""

_FRAGMENT = re.compile(r"^\W*[\w'’]+(?:\W+[\w'’]+){0,2}[.?!…]+\s+")
"""A sentence of up to three words: what recognisers make of a wake word that they didn't hear whole: "Next up." or "I
like something."."""

_MOST = 2
"""Fillers at either end that are left out one by one; where there are more, all of them are."""

_PIECES = 3
"""In how many words recognisers write a filler of a language that they part as they like."""

_NAME_WORDS, _NAME_LETTERS = 3, 24
"""What somebody calls a timer: "the second batch of"; what is longer is more than a name."""

_NO_NAMES = frozenset(
    (
        *("no", "not", "any", "all", "every", "kein", "keinen", "keine", "alle", "ningun", "aucun", "pas", "pas de"),
        *("nessun", "nessuno", "toutes", "todos", "tutti", "anderer", "welcher", "which", "what", "quel", "que", "che"),
    )
)
"""What stands before "timer" and is no name of one."""

_COMPOUND = re.compile(r"(?<=\w)(timer)\b", re.IGNORECASE)
"""A name that is written in one word with it: "Nudeltimer"."""

_SLOTS = {
    "duration": TextSlotList.from_strings([DURATION]),
    "level": TextSlotList.from_strings([LEVEL]),
    "name": WildcardSlotList("name"),
}

ANSWER = "answer"
"""The intent of what means something only after a question: "ten minutes"."""


@dataclass(frozen=True, slots=True)
class Match:
    """What was meant."""

    intent: str
    slots: Mapping[str, int | str] = field(default_factory=dict)
    """What it is to be done with: `duration` in seconds, `level` from 0 to 10, `name`, or what the sentences say."""


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
        self._intents = Intents.from_yaml(io.StringIO(plain(text)))
        # hassil leaves out all or none of them, and where it ignores white space, also in the middle of other words.
        self._fillers, self._intents.skip_words = self._intents.skip_words, []
        ignores_space = self._intents.settings.ignore_whitespace
        self._between = "" if ignores_space else " "
        self._longest = _PIECES if ignores_space else max(len(filler.split()) for filler in self._fillers)
        self._quantities = Quantities(language)
        self.names = frozenset(self._intents.intents) - {ANSWER}

    def match(self, heard: str) -> Match | None:
        """What `heard` expresses as a whole, save for a fragment in front; None if that is nothing."""
        heard = _COMPOUND.sub(r" \1", _ORNAMENT.sub(" ", heard))
        text = plain(heard)
        texts = dict.fromkeys((text, _STUTTER.sub(r"\1", text), _FRAGMENT.sub("", text)))
        ways = dict.fromkeys(itertools.chain.from_iterable(map(self._without_fillers, texts)))
        for words in ways:
            if result := self._nearest(recognize_all(words, self._intents, _SLOTS)):
                return Match(result.intent.name, _slots(result, heard))
        readings = itertools.chain.from_iterable(map(self._quantities.readings, ways))
        return self._with_quantities(readings, heard)

    def _with_quantities(self, readings: Iterable[Reading], heard: str) -> Match | None:
        """The one without a name, or with the shortest: what is left of a filler is no part of it either."""
        named: dict[int, Match] = {}
        for reading in readings:
            if not (result := self._nearest(recognize_all(reading.text, self._intents, _SLOTS))):
                continue
            known = _slots(result, heard)
            if "duration" in known:
                known["duration"] = reading.durations[0]
            if known.get("level") == LEVEL and reading.level is not None:
                known["level"] = reading.level
            match = Match(result.intent.name, known)
            if "name" not in known:
                return match
            named.setdefault(len(str(known["name"])), match)
        return named[min(named)] if named else None

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

    def _nearest(self, results: Iterable[RecognizeResult]) -> RecognizeResult | None:
        """The first one without a name, or else the one with the shortest: articles are no part of it."""
        named: dict[int, RecognizeResult] = {}
        for result in results:
            if "name" not in result.entities:
                return result
            name = result.entities["name"].text_clean
            if self._is_name(name):
                named.setdefault(len(name), result)
        return named[min(named)] if named else None

    def _is_name(self, text: str) -> bool:
        if not 1 < len(text) <= _NAME_LETTERS or len(text.split()) > _NAME_WORDS:
            return False
        if text in _NO_NAMES:
            return False
        return not {DURATION, LEVEL} & set(text) and not self._quantities.occur(text)


def _slots(result: RecognizeResult, heard: str) -> dict[str, int | str]:
    slots = {name: entity.value for name, entity in result.entities.items()}
    if "name" in slots:
        slots["name"] = _as_heard(result.entities["name"].text_clean, heard)
    return slots


def _as_heard(name: str, heard: str) -> str:
    """`name` with the accents that it was heard with."""
    words = re.findall(r"[^\W_]+", heard)
    bare = name.lower().replace(" ", "").replace("'", "")
    for begin, end in itertools.combinations(range(len(words) + 1), 2):
        if plain("".join(words[begin:end])).lower() == bare:
            return " ".join(words[begin:end]).lower()
    return name
