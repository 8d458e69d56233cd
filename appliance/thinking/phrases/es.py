"""Spanish, in words of every country that speaks it."""

from datetime import date, time

from unicode_rbnf import RbnfEngine

NAME = "español"
READY = "Todo listo."
SOUND_IS_BACK = "El sonido ha vuelto."
HOW_I_AM = "Estoy muy bien, gracias."
HELP = (
    "Puedes preguntarme qué hora es o qué día es. "
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


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, ruleset_names=["spellout-numbering"]).text
