"""With what words a sentence does not end, per language: one module each.

Words are in small letters, as recognisers write them. A word that can end a sentence, if only in everyday talk ("what's
going on", "mach weiter"), is in no list: after it nobody wants to wait.
"""

from collections.abc import Collection
from typing import Protocol

from appliance.thinking.endings import de, en, es, fr, it, ko


class Lists(Protocol):
    """What a language's module provides."""

    @property
    def GOES_ON(self) -> Collection[str]:  # noqa: N802
        """Hesitations and conjunctions: more is to come, even if what was said before them was complete."""

    @property
    def ENDS_NOTHING(self) -> Collection[str]:  # noqa: N802
        """Articles, prepositions and the like: more is to come, unless a skill understands it as it is."""

    @property
    def OPEN_SUFFIXES(self) -> tuple[str, ...]:  # noqa: N802
        """What words end in after which more is to come, where a language says it so."""

    @property
    def BEGINNINGS(self) -> Collection[str]:  # noqa: N802
        """What is only the beginning of a sentence, if it is all that was said."""

    @property
    def MAY_GO_ON(self) -> Collection[str]:  # noqa: N802
        """Last words of a complete command that the next word may change: numbers like "twenty"."""

    @property
    def BEGINS_MORE(self) -> Collection[str]:  # noqa: N802
        """Complete commands with which longer sentences begin as often: "no", "wait"."""


ENDINGS: dict[str, Lists] = {"de": de, "en": en, "es": es, "fr": fr, "it": it, "ko": ko}
