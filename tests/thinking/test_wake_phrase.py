"""Off with the wake phrase, whole or cut, and with nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.thinking.wake_phrase import strip_wake
from tests.thinking.utterances import utterances

WORDS = ("alexa", "hey_jarvis", "hey mycroft")
COMMANDS = [utterance for said in utterances("en").values() for utterance in said]


@pytest.mark.parametrize(
    "heard",
    [
        "Alexa, what time is it?",
        "ALEXA what time is it?",
        "Alexa. What time is it?",
        "Alexa... what time is it?",
        "alexa what time is it?",
        "lexa what time is it?",
        "Exa, what time is it?",
        "exa what time is it?",
        "Xa, what time is it?",
        "X, uh, what time is it?",
        "Exha. What time is it?",
        "Lacksa. What time is it?",
        "a lexa what time is it?",
        "Alex, uh, what time is it?",
        "Alexis, what time is it?",
        "A lexus what time is it?",
        "Elexa, what time is it?",
        "Alexa's what time is it?",
        "Hey Alexa, what time is it?",
        "Okay, Alexa, what time is it?",
        "Alexa, Alexa, what time is it?",
        "Hey Jarvis, what time is it?",
        "Hey, Jarvis. What time is it?",
        "hey jervis what time is it?",
        "Jarvis, what time is it?",
        "arvis what time is it?",
        "Hey Mycroft, what time is it?",
        "hey my croft what time is it?",
        "Hey, Microsoft, what time is it?",
        "croft what time is it?",
    ],
)
def test_takes_the_wake_phrase_off(heard: str) -> None:
    assert strip_wake(heard, WORDS).removeprefix("uh, ").lower() == "what time is it?"


@pytest.mark.parametrize(
    "heard",
    [
        "Time it is. Alexa, what time is it?",
        "Time it is. Alexa what time is it?",
        "and then he said, Alexa, what time is it?",
        "Good night. Hey Jarvis, what time is it?",
        "I can say. Alexa. Alexa, what time is it?",
    ],
)
def test_what_was_heard_before_it_goes_too(heard: str) -> None:
    assert strip_wake(heard, WORDS) == "what time is it?"


def test_the_phrase_alone_after_other_talk_leaves_nothing() -> None:
    assert strip_wake("It is noon. Alexa.", WORDS) == ""


@pytest.mark.parametrize("heard", ["Alexa.", "alexa", "A lexa.", "Exa.", "Lexa?", "Alexa, Alexa!", " Hey, Jarvis. "])
def test_nothing_is_left_of_the_wake_phrase_alone(heard: str) -> None:
    assert strip_wake(heard, WORDS) == ""


@pytest.mark.parametrize(
    "heard",
    [
        *COMMANDS,
        "Alice in Wonderland",
        "Excuse me, what time is it?",
        "Exit.",
        "Access denied.",
        "Alaska is cold.",
        "a lecture",
        "Extra large, please",
        "Craft a poem.",
        "A craft beer, please.",
        "Serve the coffee.",
        "Microphone test",
        "Service is slow.",
        "Hey, stop!",
        "So, the end.",
        "Listen, stop.",
        "Tell Alexa to stop.",
        "What is Alexa?",
        "Who are you, Alexa?",
        "What do you think of the name Alexa, honestly?",
        "Электричка",
        "그는 걸어갔다",
    ],
)
def test_leaves_everything_else(heard: str) -> None:
    assert strip_wake(heard, WORDS) == heard


@pytest.mark.parametrize(
    ("heard", "left"),
    [
        ("Alexa, a latte please", "a latte please"),
        ("Alexa, Alex is a friend of mine", "Alex is a friend of mine"),
        ("Alexa, exit", "exit"),
        ("Hey Mycroft, craft a poem", "craft a poem"),
        ("Alexa - 3 coffees", "3 coffees"),
        ("Alexa, so what?", "so what?"),
    ],
)
def test_takes_no_more_than_that(heard: str, left: str) -> None:
    assert strip_wake(heard, WORDS) == left


def test_only_the_words_that_are_listened_for() -> None:
    assert strip_wake("Alexa, stop.", ["hey_jarvis"]) == "Alexa, stop."
    assert strip_wake("Alexa, stop.", []) == "Alexa, stop."


def test_other_scripts_too() -> None:
    assert strip_wake("빅스비, 지금 몇 시야?", ["빅스비"]) == "지금 몇 시야?"


@pytest.mark.parametrize(
    ("heard", "left"),
    [
        ("알렉사 지금 몇 시야", "지금 몇 시야"),
        ("알렉스 지금 몇 시야", "지금 몇 시야"),
        ("헤이 알렉사 지금 몇 시야", "지금 몇 시야"),
        ("렉사 그만해", "그만해"),
        ("헤이 자비스 그만해", "그만해"),
        ("자비스 그만해", "그만해"),
        ("알렉사", ""),
        ("알고 있어", "알고 있어"),
        ("hallo alexa wie spät ist es", "wie spät ist es"),
        ("dis alexa quelle heure est-il", "quelle heure est-il"),
        ("oye alexa qué hora es", "qué hora es"),
        ("ehi alexa che ore sono", "che ore sono"),
        ("alexia qué hora es", "qué hora es"),
    ],
)
def test_in_other_languages(heard: str, left: str) -> None:
    assert strip_wake(heard, WORDS) == left


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "ko"])
def test_nothing_else_is_taken_off_in_another_language(language: str) -> None:
    for utterance in (each for said in utterances(language).values() for each in said):
        assert strip_wake(utterance, WORDS) == utterance
        assert strip_wake(f"alexa {utterance}", WORDS) == utterance


@settings(deadline=None)
@given(st.sampled_from(["Alexa, ", "alexa ", "Hey Jarvis. "]), st.sampled_from(COMMANDS))
def test_whatever_follows_is_kept(wake: str, command: str) -> None:
    assert strip_wake(wake + command, WORDS) == command.lstrip(".- ")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    assert text.strip().endswith(strip_wake(text, WORDS))
