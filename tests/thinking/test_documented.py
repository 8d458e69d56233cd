"""What docs/languages.md says that is understood is understood."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.thinking.offline import Offline

LANGUAGES = {"English": "en", "German": "de", "Spanish": "es", "French": "fr", "Italian": "it", "Korean": "ko"}
TEXT = (Path(__file__).parents[2] / "docs/languages.md").read_text("utf-8")
EXAMPLES = [
    (LANGUAGES[line[1]], example)
    for line in re.finditer(rf"^\| ({'|'.join(LANGUAGES)}) \|.*$", TEXT, re.MULTILINE)
    for example in re.findall(r'"([^"]+)"', line[0])
]


def test_there_are_examples_of_each_language() -> None:
    assert {language for language, _ in EXAMPLES} == set(LANGUAGES.values())


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_an_example_is_understood(language: str, example: str) -> None:
    assert Offline(language, lambda: datetime.now(UTC)).understands(example)
