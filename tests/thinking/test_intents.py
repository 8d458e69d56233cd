"""What people say, in many ways, and what sounds like it but is something else."""

import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import BadInputError
from appliance.thinking.intents import ANSWER, IntentMatcher, languages
from appliance.thinking.phrases import PHRASES
from appliance.thinking.skills import SKILLS
from tests.thinking.utterances import utterances

CASES = [
    (language, intent, utterance)
    for language in languages()
    for intent, said in utterances(language).items()
    for utterance in said
]
FILLERS = {
    "de": ["", "äh ", "Bitte, ", "ähm... ", "Hallo, "],
    "en": ["", "um ", "Please, ", "uh... "],
    "es": ["", "eh ", "Por favor, ", "pues... ", "Oye, "],
    "fr": ["", "euh ", "S'il te plaît, ", "alors... ", "Dis, "],
    "it": ["", "ehm ", "Per favore, ", "allora... ", "Senti, "],
    "ko": ["", "음 ", "저기, ", "어... ", "미안한데 "],
}


@cache
def matcher(language: str) -> IntentMatcher:
    return IntentMatcher(language)


def meant(language: str, said: str) -> str:
    """The intent, without those that only answer a question."""
    match = matcher(language).match(said)
    return "unknown" if match is None or match.intent == ANSWER else match.intent


@pytest.mark.parametrize(("language", "intent", "utterance"), CASES)
def test_means(language: str, intent: str, utterance: str) -> None:
    assert meant(language, utterance) == intent


@settings(deadline=None)
@given(st.data(), st.sampled_from([case for case in CASES if case[1] != "unknown" and ". " not in case[2]]))
def test_neither_case_nor_punctuation_nor_fillers_matter(data: st.DataObject, case: tuple[str, str, str]) -> None:
    language, intent, utterance = case
    filler = data.draw(st.sampled_from(FILLERS[language]))
    bare = "".join(char for char in utterance.lower() if char.isalnum() or char in " '’-%")
    assert meant(language, f"{filler}{bare}") == intent


@settings(deadline=None)
@given(st.sampled_from([case for case in CASES if case[1] != "unknown" and ". " not in case[2]]))
def test_accents_need_not_be_right(case: tuple[str, str, str]) -> None:
    language, intent, utterance = case
    bare = "".join(char for char in unicodedata.normalize("NFD", utterance) if not unicodedata.combining(char))
    assert meant(language, bare) == intent


@settings(deadline=None)
@given(st.data(), st.sampled_from([case for case in CASES if case[0] == "ko" and case[1] != "unknown"]))
def test_korean_words_may_be_parted_anywhere(data: st.DataObject, case: tuple[str, str, str]) -> None:
    language, intent, utterance = case
    words = utterance.split()
    between = [data.draw(st.sampled_from(["", " "])) for _ in words]
    if words[0] in FILLERS["ko"] or matcher("ko").match("".join(words)) is None:
        return  # a filler is one only as a word
    assert meant(language, "".join(map("".join, zip(words, between, strict=True)))) == intent


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(languages()))
def test_no_text_is_too_odd(text: str, language: str) -> None:
    matcher(language).match(text)


@pytest.mark.parametrize("language", languages())
def test_a_language_is_complete(language: str) -> None:
    assert matcher(language).names == set(SKILLS)
    assert language in PHRASES
    said = utterances(language)
    assert set(said) == {*SKILLS, "unknown"}
    assert all(len(said[intent]) >= 20 for intent in said)


def test_an_unsupported_language_is_named_with_those_there_are() -> None:
    with pytest.raises(BadInputError, match=r"'tlh'.*Allowed: de, en, es, fr, it, ko\."):
        IntentMatcher("tlh")
