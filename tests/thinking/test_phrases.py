"""What is said, over all minutes of a day and all days of a leap year."""

import re
from datetime import date, datetime, time, timedelta

import pytest

from appliance.thinking.history import History
from appliance.thinking.offline import UNKNOWN, Offline
from appliance.thinking.phrases import PHRASES, Phrases, en

DAY = [time(hour, minute) for hour in range(24) for minute in range(60)]
YEAR = [date(2028, 1, 1) + timedelta(days=day) for day in range(366)]


TIMES = {
    "de": {
        "00:00": "Es ist Mitternacht.",
        "00:05": "Es ist null Uhr fünf.",
        "01:00": "Es ist ein Uhr.",
        "01:01": "Es ist ein Uhr eins.",
        "12:00": "Es ist zwölf Uhr.",
        "15:30": "Es ist fünfzehn Uhr dreißig.",
        "21:21": "Es ist einundzwanzig Uhr einundzwanzig.",
    },
    "en": {
        "00:00": "It's midnight.",
        "00:01": "It's twelve oh one at night.",
        "00:30": "It's twelve thirty at night.",
        "01:00": "It's one o'clock in the morning.",
        "09:05": "It's nine oh five in the morning.",
        "11:59": "It's eleven fifty-nine in the morning.",
        "12:00": "It's noon.",
        "12:01": "It's twelve oh one in the afternoon.",
        "15:15": "It's three fifteen in the afternoon.",
        "17:59": "It's five fifty-nine in the afternoon.",
        "18:00": "It's six o'clock in the evening.",
        "20:40": "It's eight forty in the evening.",
        "21:00": "It's nine o'clock at night.",
        "23:59": "It's eleven fifty-nine at night.",
    },
    "es": {
        "00:00": "Son las doce de la noche.",
        "00:05": "Son las doce y cinco de la noche.",
        "01:00": "Es la una de la madrugada.",
        "05:59": "Son las cinco y cincuenta y nueve de la madrugada.",
        "06:01": "Son las seis y un minuto de la mañana.",
        "12:00": "Son las doce del mediodía.",
        "13:15": "Es la una y cuarto de la tarde.",
        "15:30": "Son las tres y media de la tarde.",
        "19:45": "Son las siete y cuarenta y cinco de la tarde.",
        "20:21": "Son las ocho y veintiuno de la noche.",
    },
    "fr": {
        "00:00": "Il est minuit.",
        "00:05": "Il est minuit cinq.",
        "01:00": "Il est une heure.",
        "02:01": "Il est deux heures une.",
        "12:00": "Il est midi.",
        "12:30": "Il est midi trente.",
        "15:30": "Il est quinze heures trente.",
        "21:21": "Il est vingt-et-une heures vingt-et-une.",
    },
    "it": {
        "00:00": "È mezzanotte.",
        "00:05": "È mezzanotte e cinque.",
        "01:00": "È l'una.",
        "01:01": "È l'una e un minuto.",
        "12:00": "È mezzogiorno.",
        "12:30": "Sono le dodici e trenta.",
        "15:30": "Sono le quindici e trenta.",
        "23:21": "Sono le ventitré e ventuno.",
    },
    "ko": {
        "00:00": "지금은 밤 열두 시예요.",
        "00:05": "지금은 밤 열두 시 오 분이에요.",
        "01:00": "지금은 오전 한 시예요.",
        "11:59": "지금은 오전 열한 시 오십구 분이에요.",
        "12:00": "지금은 낮 열두 시예요.",
        "15:30": "지금은 오후 세 시 삼십 분이에요.",
        "20:16": "지금은 오후 여덟 시 십육 분이에요.",
    },
}
DATES = {
    "de": {
        date(2026, 11, 30): "Heute ist Montag, der dreißigste November.",
        date(2027, 1, 1): "Heute ist Freitag, der erste Januar.",
        date(2027, 3, 3): "Heute ist Mittwoch, der dritte März.",
        date(2027, 3, 7): "Heute ist Sonntag, der siebte März.",
    },
    "en": {
        date(2026, 11, 30): "It's Monday, the thirtieth of November.",
        date(2028, 2, 29): "It's Tuesday, the twenty-ninth of February.",
        date(2027, 1, 1): "It's Friday, the first of January.",
        date(2027, 5, 2): "It's Sunday, the second of May.",
        date(2027, 8, 12): "It's Thursday, the twelfth of August.",
        date(2027, 12, 31): "It's Friday, the thirty-first of December.",
    },
    "es": {
        date(2026, 11, 30): "Hoy es lunes, treinta de noviembre.",
        date(2027, 1, 1): "Hoy es viernes, uno de enero.",
        date(2027, 12, 22): "Hoy es miércoles, veintidós de diciembre.",
    },
    "fr": {
        date(2026, 11, 30): "Nous sommes le lundi trente novembre.",
        date(2027, 8, 1): "Nous sommes le dimanche premier août.",
        date(2027, 2, 21): "Nous sommes le dimanche vingt-et-un février.",
    },
    "it": {
        date(2026, 11, 30): "Oggi è lunedì trenta novembre.",
        date(2027, 1, 1): "Oggi è venerdì primo gennaio.",
        date(2027, 2, 23): "Oggi è martedì ventitré febbraio.",
    },
    "ko": {
        date(2026, 11, 30): "오늘은 십일월 삼십일 월요일이에요.",
        date(2027, 6, 6): "오늘은 유월 육일 일요일이에요.",
        date(2027, 10, 26): "오늘은 시월 이십육일 화요일이에요.",
    },
}
LETTERS = {
    "de": "A-Za-zäöüß",
    "en": "A-Za-z'",
    "es": "A-Za-záéíóúñ",
    "fr": "A-Za-zéûè",
    "it": "A-Za-zÈéèì'",
    "ko": "가-힣",
}


@pytest.mark.parametrize(
    ("language", "clock", "text"), [(language, *each) for language, times in TIMES.items() for each in times.items()]
)
def test_tells_the_time_as_a_person_would(language: str, clock: str, text: str) -> None:
    assert PHRASES[language].tell_time(time.fromisoformat(clock)) == text


@pytest.mark.parametrize("language", PHRASES)
def test_every_minute_of_the_day_sounds_different_and_has_no_digit(language: str) -> None:
    said = [PHRASES[language].tell_time(now) for now in DAY]
    assert len(set(said)) == len(DAY)
    assert all(re.fullmatch(rf"[{LETTERS[language]} -]+\.", text) for text in said)


@pytest.mark.parametrize(
    ("language", "day", "text"), [(language, *each) for language, dates in DATES.items() for each in dates.items()]
)
def test_tells_the_date_as_a_person_would(language: str, day: date, text: str) -> None:
    assert PHRASES[language].tell_date(day) == text


@pytest.mark.parametrize("language", PHRASES)
def test_every_day_of_a_leap_year_sounds_different_and_agrees_with_the_calendar(language: str) -> None:
    said = {day: PHRASES[language].tell_date(day) for day in YEAR}
    assert len(set(said.values())) == len(YEAR)
    assert all(re.fullmatch(rf"[{LETTERS[language]}, -]+\.", text) for text in said.values())
    common = [
        set.intersection(*(_words(text) for day, text in said.items() if part(day) == number))
        for part, numbers in ((date.weekday, range(7)), (_month, range(1, 13)))
        for number in numbers
    ]
    always = set.intersection(*map(_words, said.values()))
    assert len({frozenset(words - always) for words in common} - {frozenset()}) == 19


def test_english_dates_agree_with_the_calendar() -> None:
    for day in YEAR:
        assert re.fullmatch(rf"It's {day:%A}, the [a-z-]+(st|nd|rd|th) of {day:%B}\.", en.tell_date(day))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _month(day: date) -> int:
    return day.month


@pytest.mark.parametrize("language", PHRASES)
def test_phrases_are_sentences(language: str) -> None:
    phrases = PHRASES[language]
    names = {name for name in vars(Phrases) if name.isupper()} - {"BACK_CHANNELS"}
    assert len(names) > 10
    for name in names - {"NAME"}:
        assert re.fullmatch(r"¿?[^\W\d][^\d]+[.?]", getattr(phrases, name)), name
    assert re.fullmatch(r"\w+", phrases.NAME)


@pytest.mark.parametrize("language", PHRASES)
def test_nothing_that_should_be_acted_on_is_a_back_channel(language: str) -> None:
    offline = Offline(language, datetime.now)
    for phrase in offline.back_channels:
        answer = offline.answer(phrase, History())
        assert answer.intent in {UNKNOWN, "go_on"}, phrase
