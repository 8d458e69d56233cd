"""The answer to what was heard."""

from datetime import datetime

import pytest

from appliance.errors import BadInputError
from appliance.thinking.answer import Answer
from appliance.thinking.history import History
from appliance.thinking.offline import UNKNOWN, Offline
from appliance.thinking.phrases import PHRASES, en

NOW = datetime(2026, 11, 30, 15, 15)  # noqa: DTZ001


@pytest.fixture(scope="module")
def offline() -> Offline:
    return Offline("en", lambda: NOW)


def having_said(text: str, rest: str = "") -> History:
    history = History()
    history.reply(1, text)
    history.replied(1, text.removesuffix(rest), rest, interrupted=bool(rest))
    return history


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        ("What time is it?", Answer("time", "It's three fifteen in the afternoon.")),
        ("What day is it?", Answer("date", "It's Monday, the thirtieth of November.")),
        ("How are you?", Answer("how_are_you", en.HOW_I_AM)),
        ("Help.", Answer("help", en.HELP)),
        ("Stop.", Answer("stop", "")),
        ("What time does the train leave?", Answer(UNKNOWN, en.UNKNOWN)),
        ("", Answer(UNKNOWN, en.UNKNOWN)),
    ],
)
def test_answers(offline: Offline, heard: str, answer: Answer) -> None:
    assert offline.answer(heard, having_said("Something.")) == answer


@pytest.mark.parametrize(
    ("language", "time", "date", "stop"),
    [
        ("de", "wie spät ist es denn", "welchen tag haben wir heute", "hör auf"),
        ("es", "me dices la hora por favor", "a qué día estamos", "cállate"),
        ("fr", "il est quelle heure là", "on est quel jour", "tais-toi"),
        ("it", "mi sai dire che ore sono", "quanti ne abbiamo oggi", "smettila"),
        ("ko", "지금 몇 시예요", "오늘 며칠이야", "그만해"),
    ],
)
def test_answers_in_the_language_that_it_is_asked_in(language: str, time: str, date: str, stop: str) -> None:
    offline, phrases = Offline(language, lambda: NOW), PHRASES[language]
    said = having_said("…")
    assert offline.answer(time, said) == Answer("time", phrases.tell_time(NOW.time()))
    assert offline.answer(date, said) == Answer("date", phrases.tell_date(NOW.date()))
    assert offline.answer(stop, said) == Answer("stop", "")
    assert offline.answer("abracadabra", said) == Answer(UNKNOWN, phrases.UNKNOWN)
    assert offline.means_stop(stop)
    assert offline.apology() == phrases.APOLOGY


def test_repeats_the_last_reply(offline: Offline) -> None:
    assert offline.answer("Say that again.", having_said("It's noon.")) == Answer("repeat", "It's noon.")


def test_says_so_when_there_is_nothing_to_repeat(offline: Offline) -> None:
    assert offline.answer("Say that again.", History()) == Answer("repeat", en.NOTHING_TO_REPEAT)


def test_goes_on_where_the_last_reply_was_interrupted(offline: Offline) -> None:
    interrupted = having_said("It's noon. It's Monday.", rest="It's Monday.")
    assert offline.answer("Go on.", interrupted) == Answer("go_on", "It's Monday.")
    assert offline.answer("Say that again.", interrupted) == Answer("repeat", "It's noon. It's Monday.")


def test_says_so_when_there_is_nothing_to_go_on_with(offline: Offline) -> None:
    assert offline.answer("Go on.", having_said("It's noon.")) == Answer("go_on", en.NOTHING_TO_GO_ON_WITH)
    assert offline.answer("Go on.", History()) == Answer("go_on", en.NOTHING_TO_GO_ON_WITH)


@pytest.mark.parametrize(
    ("heard", "means_stop", "understands"),
    [("Okay, stop.", True, True), ("What time is it?", False, True), ("Stop the music.", False, False)],
)
def test_knows_what_is_meant(offline: Offline, heard: str, means_stop: bool, understands: bool) -> None:
    assert (offline.means_stop(heard), offline.understands(heard)) == (means_stop, understands)


def test_apologises(offline: Offline) -> None:
    assert offline.apology() == en.APOLOGY


def test_an_unsupported_language_is_bad_input() -> None:
    with pytest.raises(BadInputError):
        Offline("tlh", lambda: NOW)
