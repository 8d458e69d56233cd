"""Whether what was said wants more words: examples in each language, and everything that the skills understand."""

import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from appliance.thinking.ending import Completeness, Endings
from appliance.thinking.endings import ENDINGS
from appliance.thinking.intents import languages
from appliance.thinking.offline import UNKNOWN, Offline

SAID = {
    "en": {
        Completeness.COMPLETE: ["What time is it?", "stop", "what's the date today", "what time is it please", "go on"],
        Completeness.OPEN: [
            *(
                "what time is it in",
                "tell me a story about",
                "um",
                "What time is it, and",
                "Could I have a",
                "I want to",
            ),
            *("I would like…", "tell me", "How many", "I'd like a coffee with", "Well, um,", "uh", "What's the"),
        ],
        Completeness.UNKNOWN: [
            *("", "can I have a large coffee", "no", "turn the light on", "what's going on", "wait"),
            *("who is Ada Lovelace?", "I think so", "what is it for him"),
        ],
    },
    "de": {
        Completeness.COMPLETE: ["Wie spät ist es?", "stopp", "welcher Tag ist heute", "sei still", "hör auf"],
        Completeness.OPEN: [
            *(
                "ähm",
                "wie spät ist es und",
                "erzähl mir von",
                "ich möchte einen",
                "wie weit ist es bis zum",
                "kannst du",
            ),
            *("weißt du", "was ist die", "ich weiß nicht, ob", "spiel Musik in der", "wie viele"),
        ],
        Completeness.UNKNOWN: [
            "mach das Licht an",
            "schalte die Lampe ein",
            "nein",
            "wer war Goethe",
            "was ist das",
            "",
        ],
    },
    "es": {
        Completeness.COMPLETE: ["¿Qué hora es?", "cállate", "qué día es hoy"],
        Completeness.OPEN: ["eh", "qué hora es y", "cuéntame algo de", "quiero un café con", "puedes", "cómo se"],
        Completeness.UNKNOWN: ["enciende la luz", "no", "sí", "quién fue Cervantes", "para qué", ""],
    },
    "fr": {
        Completeness.COMPLETE: ["Quelle heure est-il ?", "stop", "tais-toi", "quel jour on est"],
        Completeness.OPEN: [
            "euh",
            "quelle heure est-il et",
            "raconte l'histoire de",
            "je voudrais un",
            "peux-tu",
            "qu'",
        ],
        Completeness.UNKNOWN: ["allume la lumière", "non", "qui était Molière", "c'est quand", ""],
    },
    "it": {
        Completeness.COMPLETE: ["Che ore sono?", "basta", "che giorno è oggi"],
        Completeness.OPEN: [
            "ehm",
            "parlami di",
            "vorrei un caffè con",
            "puoi",
            "quanto dista la",
            "raccontami la storia dell'",
        ],
        Completeness.UNKNOWN: ["accendi la luce", "no", "chi era Dante", "che ora e", "tira su", ""],
    },
    "ko": {
        Completeness.COMPLETE: ["지금 몇 시야", "그만", "오늘 며칠이야", "조용히 해"],
        Completeness.OPEN: [
            "음",
            "그리고",
            "서울에서",
            "커피를",
            "오늘은",
            "비가 오지만",
            "학교 까지",
            "내일 비가 오면은 우산을",
        ],
        Completeness.UNKNOWN: ["불 켜 줘", "아니", "날씨 어때", "세종대왕이 누구야", ""],
    },
}
EXAMPLES = [
    (language, wanted, text) for language, kinds in SAID.items() for wanted, texts in kinds.items() for text in texts
]
FEW = 0.05
"""Share of what a skill understands that is not known to be complete: what often goes on ("no", "volume twenty")."""


@cache
def skills(language: str) -> Offline:
    return Offline(language, datetime.now)


@cache
def endings(language: str) -> Endings:
    return Endings(language, skills(language).understands, skills(language).lacks)


def test_there_are_lists_for_each_language() -> None:
    assert sorted(ENDINGS) == languages()


@pytest.mark.parametrize(("language", "wanted", "text"), EXAMPLES)
def test_what_was_said_wants_more_words_or_not(language: str, wanted: Completeness, text: str) -> None:
    assert endings(language).completeness(text) is wanted


@pytest.mark.parametrize("language", languages())
def test_nobody_waits_for_more_after_what_a_skill_understands(language: str) -> None:
    file = Path(__file__).parent / f"utterances/{language}.toml"
    said = tomllib.loads(file.read_text("utf-8"))
    known = [text for intent, texts in said.items() if intent != UNKNOWN for text in texts]
    found = {text: endings(language).completeness(text) for text in known if not skills(language).lacks(text)}
    assert [text for text, completeness in found.items() if completeness is Completeness.OPEN] == []
    assert sum(completeness is Completeness.UNKNOWN for completeness in found.values()) < FEW * len(known)


@pytest.mark.parametrize("language", languages())
def test_a_command_that_is_followed_by_a_hesitation_is_open(language: str) -> None:
    hesitation = min(ENDINGS[language].GOES_ON)
    complete = SAID[language][Completeness.COMPLETE][0]
    assert endings(language).completeness(f"{complete} {hesitation}") is Completeness.OPEN


def test_a_number_that_may_go_on_is_not_complete() -> None:
    judge = Endings("en", lambda _: True, lambda _: False)
    assert judge.completeness("set the volume to five") is Completeness.COMPLETE
    assert judge.completeness("set the volume to 5") is Completeness.COMPLETE
    assert judge.completeness("set the volume to twenty") is Completeness.UNKNOWN
    assert judge.completeness("set the volume to 20") is Completeness.UNKNOWN


def test_what_was_made_of_the_wake_word_does_not_make_a_command_incomplete() -> None:
    assert endings("en").completeness("I like something. What time is it?") is Completeness.COMPLETE
    assert endings("en").completeness("What time is it? Could I have a") is Completeness.OPEN


def test_what_lacks_something_is_open_though_a_skill_is_meant() -> None:
    assert Endings("en", lambda _: True, lambda _: True).completeness("set a timer") is Completeness.OPEN


def test_what_breaks_off_is_open_only_where_no_skill_understands_it() -> None:
    assert Endings("en", lambda _: False, lambda _: False).completeness("I went there -") is Completeness.OPEN
    assert Endings("en", lambda _: True, lambda _: False).completeness("stop...") is Completeness.COMPLETE
