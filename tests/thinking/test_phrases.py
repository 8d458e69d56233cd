"""What is said, over all minutes of a day and all days of a leap year."""

import re
from datetime import date, datetime, time, timedelta

import pytest

from appliance.thinking.history import History
from appliance.thinking.offline import UNKNOWN, Offline
from appliance.thinking.phrases import PHRASES, en

DAY = [time(hour, minute) for hour in range(24) for minute in range(60)]
YEAR = [date(2028, 1, 1) + timedelta(days=day) for day in range(366)]


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        ("00:00", "It's midnight."),
        ("00:01", "It's twelve oh one at night."),
        ("00:30", "It's twelve thirty at night."),
        ("01:00", "It's one o'clock in the morning."),
        ("09:05", "It's nine oh five in the morning."),
        ("11:59", "It's eleven fifty-nine in the morning."),
        ("12:00", "It's noon."),
        ("12:01", "It's twelve oh one in the afternoon."),
        ("15:15", "It's three fifteen in the afternoon."),
        ("17:59", "It's five fifty-nine in the afternoon."),
        ("18:00", "It's six o'clock in the evening."),
        ("20:40", "It's eight forty in the evening."),
        ("21:00", "It's nine o'clock at night."),
        ("23:59", "It's eleven fifty-nine at night."),
    ],
)
def test_tells_the_time_as_a_person_would(clock: str, text: str) -> None:
    assert en.tell_time(time.fromisoformat(clock)) == text


def test_every_minute_of_the_day_sounds_different_and_has_no_digit() -> None:
    said = [en.tell_time(now) for now in DAY]
    assert len(set(said)) == len(DAY)
    assert all(re.fullmatch(r"It's [a-z' -]+\.", text) for text in said)


@pytest.mark.parametrize(
    ("day", "text"),
    [
        (date(2026, 11, 30), "It's Monday, the thirtieth of November."),
        (date(2028, 2, 29), "It's Tuesday, the twenty-ninth of February."),
        (date(2027, 1, 1), "It's Friday, the first of January."),
        (date(2027, 5, 2), "It's Sunday, the second of May."),
        (date(2027, 8, 12), "It's Thursday, the twelfth of August."),
        (date(2027, 12, 31), "It's Friday, the thirty-first of December."),
    ],
)
def test_tells_the_date_as_a_person_would(day: date, text: str) -> None:
    assert en.tell_date(day) == text


def test_every_day_of_a_leap_year_sounds_different_and_agrees_with_the_calendar() -> None:
    said = [en.tell_date(day) for day in YEAR]
    assert len(set(said)) == len(YEAR)
    for day, text in zip(YEAR, said, strict=True):
        assert re.fullmatch(rf"It's {day:%A}, the [a-z-]+(st|nd|rd|th) of {day:%B}\.", text)


@pytest.mark.parametrize("language", PHRASES)
def test_phrases_are_sentences(language: str) -> None:
    phrases = PHRASES[language]
    sentences = (phrases.HOW_I_AM, phrases.HELP, phrases.UNKNOWN, phrases.APOLOGY)
    for text in (*sentences, phrases.NOTHING_TO_REPEAT, phrases.NOTHING_TO_GO_ON_WITH):
        assert re.fullmatch(r"[^\d]+\.", text)


@pytest.mark.parametrize("language", PHRASES)
def test_nothing_that_should_be_acted_on_is_a_back_channel(language: str) -> None:
    offline = Offline(language, datetime.now)
    for phrase in offline.back_channels:
        answer = offline.answer(phrase, History())
        assert answer.intent in {UNKNOWN, "go_on"}, phrase
