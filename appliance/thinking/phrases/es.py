"""Spanish, in words of every country that speaks it."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import RbnfEngine

from appliance.thinking.phrases.wording import capital, listed, parts

NAME = "español"
READY = "Todo listo."
SOUND_IS_BACK = "El sonido ha vuelto."
HOW_I_AM = "Estoy muy bien, gracias."
HELP = (
    "Puedes preguntarme qué hora es o qué día es. "
    "Puedo poner temporizadores y hablar más alto o más bajo. "
    "Puedo repetir mi última respuesta o seguir con ella, y me callo cuando dices basta."
)
NOTHING_TO_REPEAT = "Todavía no he dicho nada."
NOTHING_TO_GO_ON_WITH = "No tengo nada más que decir."
UNKNOWN = "Lo siento, no puedo responder a eso. Puedo decirte la hora y la fecha."
ONE_MOMENT = "Un momento."
_LATER = "Pregúntame otra vez en un minuto, o pregúntame ahora la hora o la fecha."
MODEL_SLOW = f"Todavía estoy esperando al modelo de lenguaje. {_LATER}"
MODEL_WARMING = f"El modelo de lenguaje todavía está arrancando. {_LATER}"
MODEL_BUSY = f"El modelo de lenguaje está ocupado. {_LATER}"
MODEL_TOO_LONG = (
    "Eso era demasiado largo para el modelo de lenguaje. "
    "Pregúntame con menos palabras, o pregúntame la hora o la fecha."
)
NO_MODEL = "Ahora mismo no puedo conectar con el modelo de lenguaje. Aun así puedo decirte la hora y la fecha."
BROKE_OFF = "Lo siento, he perdido la conexión con el modelo de lenguaje."
APOLOGY = "Lo siento, algo ha salido mal. Inténtalo de nuevo, por favor."
TIMER_HOW_LONG = "¿De cuánto tiempo?"
TIMER_TOO_LONG = "Un temporizador puede durar un día como máximo."
TIMERS_TOO_MANY = "Hay demasiados temporizadores. Cancela uno primero."
TIMERS_NONE = "No hay ningún temporizador."
TIMER_UNKNOWN = "No tengo ese temporizador."
TIMER_CANCELLED = "Temporizador cancelado."
TIMERS_CANCELLED = "Todos los temporizadores están cancelados."
VOLUME_WHICH = "¿A qué volumen, del uno al diez?"
VOLUME_HIGHEST = "No puedo hablar más alto."
VOLUME_LOWEST = "No puedo hablar más bajo."

BACK_CHANNELS = (
    *("hm", "hmm", "mm", "mhm", "ajá", "aha", "ah", "ah ya", "oh", "eh", "uy", "guau", "vaya", "anda"),
    *("sí", "sí sí", "okay", "ok", "vale", "bueno", "bien", "muy bien", "está bien", "de acuerdo", "dale", "órale"),
    *("claro", "claro que sí", "por supuesto", "exacto", "exactamente", "eso es", "correcto", "cierto", "es verdad"),
    *("ya veo", "entiendo", "entendido", "comprendo", "lo sé", "ya lo sé", "qué interesante", "interesante"),
    *("en serio", "de verdad", "no me digas", "genial", "perfecto", "excelente", "estupendo", "fantástico", "qué bien"),
    *("súper", "chévere", "guay", "así es", "y", "pues", "entonces", "sigue", "continúa", "adelante"),
    *("gracias", "muchas gracias", "por favor"),
)

_DAYS = ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo")
_MONTHS = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
    *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
)
_PARTS_OF_DAY = (
    *((1, "de la noche"), (6, "de la madrugada"), (12, "de la mañana"), (13, "del mediodía")),
    *((20, "de la tarde"), (24, "de la noche")),
)

_numbers = RbnfEngine.for_language("es")


def tell_time(now: time) -> str:
    """As people say it: "Son las tres y media de la tarde.", "Es la una y diez de la madrugada."."""
    hour = now.hour % 12 or 12
    name = "Es la una" if hour == 1 else f"Son las {_cardinal(hour)}"
    minute = {0: "", 1: " y un minuto", 15: " y cuarto", 30: " y media"}.get(now.minute)
    if minute is None:
        minute = f" y {_cardinal(now.minute)}"
    part = next(part for until, part in _PARTS_OF_DAY if now.hour < until)
    return f"{name}{minute} {part}."


def tell_date(today: date) -> str:
    """As people say it: "Hoy es lunes, treinta de noviembre."."""
    return f"Hoy es {_DAYS[today.weekday()]}, {_cardinal(today.day)} de {_MONTHS[today.month - 1]}."


def timer_called(name: str, seconds: int) -> str:
    """ "el temporizador pasta", "el temporizador de diez minutos"."""
    return f"el temporizador {name}" if name else f"el temporizador de {_duration(seconds)}"


def timer_set(name: str, seconds: int) -> str:
    """ "Diez minutos, a partir de ahora."."""
    duration = _duration(seconds)
    return capital(f"temporizador {name}, {duration}, desde ahora." if name else f"{duration}, desde ahora.")


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"Están {listed(called, 'y')}. Dime cuál cancelo, o di: cancela todos los temporizadores."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "Quedan dos minutos y diez segundos."."""
    if len(left) == 1:
        return f"Tiempo restante: {_duration(left[0][1])}."
    return " ".join(f"Para {called}: {_duration(seconds)}." for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "El temporizador pasta ha terminado."."""
    return capital(f"{listed(called, 'y')} {'ha' if len(called) == 1 else 'han'} terminado.")


def timers_missed(called: Sequence[str]) -> str:
    """ "Durante el corte de luz, el temporizador pasta ha terminado."."""
    return f"Durante el corte de luz, {listed(called, 'y')} {'ha' if len(called) == 1 else 'han'} terminado."


def volume_set(level: int) -> str:
    """ "Volumen cinco."."""
    return f"Volumen {_cardinal(level)}."


def tell_volume(level: int) -> str:
    """ "El volumen está en cinco de diez."."""
    return f"El volumen está en {_cardinal(level)} de diez."


def _duration(seconds: int) -> str:
    names = (("hora", "horas"), ("minuto", "minutos"), ("segundo", "segundos"))
    said = [f"{_counted(count, unit)} {names[unit][count != 1]}" for unit, count in parts(seconds)]
    return listed(said, "y")


def _counted(number: int, unit: int) -> str:
    gender = "feminine" if unit == 0 else "masculine"
    return _numbers.format_number(number, ruleset_names=[f"spellout-cardinal-{gender}"]).text


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, ruleset_names=["spellout-numbering"]).text
