"""German."""

from datetime import date, time

from unicode_rbnf import FormatPurpose, RbnfEngine

NAME = "Deutsch"
READY = "Ich bin bereit."
SOUND_IS_BACK = "Der Ton ist wieder da."
HOW_I_AM = "Mir geht es gut, danke."
HELP = (
    "Du kannst mich fragen, wie spät es ist, oder welcher Tag heute ist. "
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


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, ruleset_names=["spellout-numbering"]).text
