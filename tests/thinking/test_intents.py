"""What people say, in many ways, and what sounds like it but is something else."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import BadInputError
from appliance.thinking.intents import IntentMatcher, languages
from appliance.thinking.phrases import PHRASES
from appliance.thinking.skills import SKILLS

UTTERANCES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("utterances.toml").read_text("utf-8"))
CASES = [(intent, utterance) for intent, utterances in UTTERANCES.items() for utterance in utterances]
ENGLISH = IntentMatcher("en")


@pytest.mark.parametrize(("intent", "utterance"), CASES)
def test_means(intent: str, utterance: str) -> None:
    assert (ENGLISH.match(utterance) or "unknown") == intent


@settings(deadline=None)
@given(
    st.sampled_from([case for case in CASES if case[0] != "unknown" and ". " not in case[1]]),
    st.sampled_from(["", "um ", "Please, ", "uh... "]),
)
def test_neither_case_nor_punctuation_nor_fillers_matter(case: tuple[str, str], filler: str) -> None:
    intent, utterance = case
    bare = "".join(char for char in utterance.lower() if char.isalnum() or char in " '’-")
    assert ENGLISH.match(f"{filler}{bare}") == intent


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    ENGLISH.match(text)


@pytest.mark.parametrize("language", languages())
def test_a_language_is_complete(language: str) -> None:
    assert IntentMatcher(language).names == set(SKILLS)
    assert language in PHRASES


def test_an_unsupported_language_is_named_with_those_there_are() -> None:
    with pytest.raises(BadInputError, match=r"'tlh'.*Allowed: en\."):
        IntentMatcher("tlh")
