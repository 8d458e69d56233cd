"""Text as a voice can say it."""

import re

_PICTURES = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]")
"""Emoji and the like; a voice would read out their names."""


def speakable(text: str) -> str:
    """`text` in single spaces, without pictures and invisible characters; empty when nothing is left that sounds."""
    seen = (char for char in _PICTURES.sub(" ", text) if char.isprintable() or char.isspace())
    text = " ".join("".join(seen).split())
    return text if any(char.isalnum() for char in text) else ""
