"""German."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import FormatPurpose, RbnfEngine

from appliance.thinking.phrases.wording import capital, listed, parts

NAME = "Deutsch"
READY = "Ich bin bereit."
SOUND_IS_BACK = "Der Ton ist wieder da."
HOW_I_AM = "Mir geht es gut, danke."
HELP = (
    "Du kannst mich fragen, wie spät es ist, oder welcher Tag heute ist. "
    "Ich kann Timer stellen und lauter oder leiser werden. "
    "Ich kann meine letzte Antwort wiederholen oder weiterreden, und ich bin still, wenn du Stopp sagst."
)
NOTHING_TO_REPEAT = "Ich habe noch nichts gesagt."
NOTHING_TO_GO_ON_WITH = "Mehr habe ich nicht zu sagen."
UNKNOWN = "Das kann ich leider nicht beantworten. Ich kann dir die Uhrzeit und das Datum sagen."
ONE_MOMENT = "Einen Moment."
_LATER = "Frag mich in einer Minute noch einmal, oder frag jetzt nach der Uhrzeit oder dem Datum."
MODEL_SLOW = f"Ich warte noch auf das Sprachmodell. {_LATER}"
MODEL_WARMING = f"Das Sprachmodell startet noch. {_LATER}"
MODEL_BUSY = f"Das Sprachmodell ist beschäftigt. {_LATER}"
MODEL_TOO_LONG = (
    "Das war zu lang für das Sprachmodell. Frag mich mit weniger Worten, oder frag nach der Uhrzeit oder dem Datum."
)
NO_MODEL = "Ich erreiche das Sprachmodell gerade nicht. Die Uhrzeit und das Datum kann ich dir trotzdem sagen."
BROKE_OFF = "Entschuldigung, die Verbindung zum Sprachmodell ist abgebrochen."
APOLOGY = "Entschuldigung, da ist etwas schiefgegangen. Bitte versuch es noch einmal."
TIMER_HOW_LONG = "Wie lange?"
TIMER_TOO_LONG = "Ein Timer kann höchstens einen Tag lang laufen."
TIMERS_TOO_MANY = "Es laufen schon zu viele Timer. Lösch erst einen davon."
TIMERS_NONE = "Es läuft kein Timer."
TIMER_UNKNOWN = "Diesen Timer gibt es nicht."
TIMER_CANCELLED = "Der Timer ist gelöscht."
TIMERS_CANCELLED = "Alle Timer sind gelöscht."
VOLUME_WHICH = "Wie laut, von eins bis zehn?"
VOLUME_HIGHEST = "Lauter geht es nicht."
VOLUME_LOWEST = "Leiser geht es nicht."

BACK_CHANNELS = (
    *("hm", "hmm", "mhm", "mm", "mm-hm", "aha", "ah", "ach", "ach so", "achso", "ach ja", "oh", "oha", "uh", "äh"),
    *("ja", "jo", "jep", "jawohl", "joa", "na ja", "okay", "ok", "gut", "sehr gut", "ist gut", "na gut", "alles gut"),
    *("klar", "alles klar", "na klar", "schön", "super", "toll", "prima", "perfekt", "ausgezeichnet", "cool", "wow"),
    *("genau", "richtig", "stimmt", "das stimmt", "eben", "natürlich", "sicher", "in ordnung", "einverstanden"),
    *("verstehe", "ich verstehe", "verstanden", "ich weiß", "weiß ich", "interessant", "das ist interessant"),
    *("echt", "wirklich", "echt jetzt", "ach was", "ach wirklich", "krass", "so", "also", "und", "nun", "tja"),
    *("danke", "danke schön", "dankeschön", "vielen dank", "bitte", "weiter", "mach weiter"),
)

_DAYS = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)

_numbers = RbnfEngine.for_language("de")


def tell_time(now: time) -> str:
    """By the clock of 24 hours, which nobody takes for another hour: "Es ist fünfzehn Uhr dreißig."."""
    if now.hour == now.minute == 0:
        return "Es ist Mitternacht."
    hour = "ein" if now.hour == 1 else _cardinal(now.hour)
    return f"Es ist {hour} Uhr {_cardinal(now.minute)}." if now.minute else f"Es ist {hour} Uhr."


def tell_date(today: date) -> str:
    """As people say it: "Heute ist Montag, der dreißigste November."."""
    day = _numbers.format_number(today.day, FormatPurpose.ORDINAL).text
    return f"Heute ist {_DAYS[today.weekday()]}, der {day} {_MONTHS[today.month - 1]}."


def timer_called(name: str, seconds: int) -> str:
    """ "der Pasta-Timer", "der Timer über zehn Minuten"."""
    return f"der {_compound(name)}" if name else f"der Timer über {_duration(seconds)}"


def timer_set(name: str, seconds: int) -> str:
    """ "Zehn Minuten, ab jetzt."."""
    return capital(
        f"{_compound(name)}, {_duration(seconds)}, ab jetzt." if name else f"{_duration(seconds)}, ab jetzt."
    )


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"Es laufen {listed(called, 'und')}. Sag, welchen ich löschen soll, oder sag: Lösch alle Timer."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "Noch zwei Minuten und zehn Sekunden."."""
    if len(left) == 1:
        return f"Noch {_duration(left[0][1])}."
    return " ".join(capital(f"{called} läuft noch {_duration(seconds)}.") for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "Der Pasta-Timer ist abgelaufen."."""
    return capital(f"{listed(called, 'und')} {'ist' if len(called) == 1 else 'sind'} abgelaufen.")


def timers_missed(called: Sequence[str]) -> str:
    """ "Während ich aus war, ist der Pasta-Timer abgelaufen."."""
    return f"Während ich aus war, {'ist' if len(called) == 1 else 'sind'} {listed(called, 'und')} abgelaufen."


def volume_set(level: int) -> str:
    """ "Lautstärke fünf."."""
    return f"Lautstärke {_cardinal(level)}."


def tell_volume(level: int) -> str:
    """ "Die Lautstärke ist fünf von zehn."."""
    return f"Die Lautstärke ist {_cardinal(level)} von zehn."


def _compound(name: str) -> str:
    return f"{'-'.join(word.capitalize() for word in name.split())}-Timer"


def _duration(seconds: int) -> str:
    names = (("Stunde", "Stunden"), ("Minute", "Minuten"), ("Sekunde", "Sekunden"))
    said = [f"{'eine' if count == 1 else _cardinal(count)} {names[unit][count != 1]}" for unit, count in parts(seconds)]
    return listed(said, "und")


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, ruleset_names=["spellout-numbering"]).text
