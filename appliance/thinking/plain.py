"""Text without what recognisers, and people who write, do or leave out as they like."""

import re
import unicodedata

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")

_PARTED_APOSTROPHE = re.compile(r"(?<=\w)['’]\s*(?=\w)")
"""Some recognisers write a space after the apostrophe of "l'heure"."""


def plain(text: str) -> str:
    """`text` without accents and hyphens."""
    letters = (char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    text = unicodedata.normalize("NFC", "".join(letters)).replace("ß", "ss")
    return _PARTED_APOSTROPHE.sub("'", _HYPHEN.sub(" ", text))
