"""What people say, per language, and what they mean by it."""

import tomllib
from pathlib import Path


def utterances(language: str) -> dict[str, list[str]]:
    """What people say after the wake word, by the intent that it has; "unknown" must not be acted on."""
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text("utf-8"))
