"""From what was heard to what was meant: hassil over our own sentences."""

import re
from importlib.resources import files

from hassil import Intents, recognize

from appliance.errors import BadInputError

_SENTENCES = files("appliance.thinking") / "sentences"

_ORNAMENT = re.compile(r"""(?<!\w)[-–—"“”„«»()*]+|[-–—"“”„«»()*]+(?!\w)""")
"""Dashes and the like around words, which hassil would take for a part of them."""

_STUTTER = re.compile(r"\b(\w+)(?:\W+\1\b)+", re.IGNORECASE)
"""A word said, or heard, several times in a row."""

_FRAGMENT = re.compile(r"^\W*[\w'’]+(?:\W+[\w'’]+)?[.?!…]+\s+")
"""A sentence of one or two words: what recognisers make of a wake word that they didn't hear whole ("Next up.")."""


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
        with (_SENTENCES / f"{language}.yaml").open(encoding="utf-8") as file:
            self._intents = Intents.from_yaml(file)
        self.names = frozenset(self._intents.intents)

    def match(self, heard: str) -> str | None:
        """The intent that `heard` expresses as a whole, save for a fragment in front; None if it has none."""
        heard = _ORNAMENT.sub(" ", heard)
        for text in (heard, _STUTTER.sub(r"\1", heard), _FRAGMENT.sub("", heard)):
            if result := recognize(text, self._intents):
                return result.intent.name
        return None
