"""Numbers in words, as unicode-rbnf spells them, read back whatever way recognisers part them."""

from collections.abc import Callable, Mapping
from functools import cache

from unicode_rbnf import RbnfEngine

from appliance.thinking.plain import plain

_SPELLED = (*range(200), *range(200, 1000, 10))
"""What people say in words in a kitchen; spelling them all would take a second of a small board's start."""

_SOFT_HYPHEN = "\u00ad"

_ALSO = {
    "de": (("zwei", "zwo"), ("einhundert", "hundert")),
    "en": (("onehundred", "ahundred"),),
    "fr": (("soixantedix", "septante"), ("quatrevingtdix", "nonante"), ("quatrevingts", "quatrevingt")),
}
"""Other ways to say a part of a number, where it is at the beginning."""


@cache
def numbers(language: str) -> Mapping[str, int]:
    """What numbers are called, plain and without spaces: "twentyfive", in all genders and cases."""
    return _spelled(language, lambda ruleset: ruleset.startswith(("spellout-numbering", "spellout-cardinal")))


@cache
def counted(language: str) -> Mapping[str, int]:
    """The same for numbers that stand alone, so that an article is none: the German "eins", but not "eine"."""
    return _spelled(language, lambda ruleset: ruleset.startswith("spellout-numbering"))


def _spelled(language: str, fits: Callable[[str], bool]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for number, words in _words(language).items():
        for ruleset, word in words.items():
            if fits(ruleset):
                found.setdefault(word, number)
                for usual, other in _ALSO.get(language, ()):
                    if word.startswith(usual):
                        found.setdefault(other + word.removeprefix(usual), number)
    return found


@cache
def _words(language: str) -> Mapping[int, Mapping[str, str]]:
    """Each number by ruleset."""
    engine = RbnfEngine.for_language(language)
    names = [name for name in engine.rulesets if name.startswith("spellout-") and "ordinal" not in name]
    names = [name for name in names if not name.endswith(("year", "leading", "financial"))]
    return {
        number: {
            ruleset: plain(word.replace(_SOFT_HYPHEN, "")).replace(" ", "")
            for ruleset, word in engine.format_number(number, ruleset_names=names).text_by_ruleset.items()
        }
        for number in _SPELLED
    }
