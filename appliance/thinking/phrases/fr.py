"""French."""

from datetime import date, time

from unicode_rbnf import RbnfEngine

NAME = "français"
READY = "Je vous écoute."
SOUND_IS_BACK = "Le son est revenu."
HOW_I_AM = "Je vais bien, merci."
HELP = (
    "Vous pouvez me demander l'heure ou la date. "
    "Je peux répéter ma dernière réponse ou la continuer, et je me tais quand vous dites stop."
)
NOTHING_TO_REPEAT = "Je n'ai encore rien dit."
NOTHING_TO_GO_ON_WITH = "Je n'ai rien à ajouter."
UNKNOWN = "Désolé, je ne peux pas répondre à cela. Je peux vous donner l'heure et la date."
ONE_MOMENT = "Un instant."
_LATER = "Redemandez-moi dans une minute, ou demandez-moi maintenant l'heure ou la date."
MODEL_SLOW = f"J'attends encore le modèle de langue. {_LATER}"
MODEL_WARMING = f"Le modèle de langue démarre encore. {_LATER}"
MODEL_BUSY = f"Le modèle de langue est occupé. {_LATER}"
MODEL_TOO_LONG = (
    "C'était trop long pour le modèle de langue. "
    "Posez votre question en moins de mots, ou demandez-moi l'heure ou la date."
)
NO_MODEL = (
    "Je n'arrive pas à joindre le modèle de langue pour le moment. Je peux quand même vous donner l'heure et la date."
)
BROKE_OFF = "Désolé, j'ai perdu la connexion avec le modèle de langue."
APOLOGY = "Désolé, quelque chose s'est mal passé. Veuillez réessayer."

BACK_CHANNELS = (
    *("hm", "hmm", "mm", "mmh", "mhm", "hum", "hein", "ah", "ah bon", "ah oui", "ah d'accord", "oh", "ooh", "euh"),
    *("oui", "ouais", "ouaip", "ok", "okay", "d'accord", "bien", "très bien", "bon", "ben", "bah", "bah oui"),
    *("voilà", "exactement", "exact", "tout à fait", "c'est vrai", "c'est ça", "bien sûr", "évidemment", "absolument"),
    *("je vois", "je comprends", "compris", "j'ai compris", "je sais", "entendu", "ça marche", "intéressant"),
    *("c'est intéressant", "vraiment", "sérieux", "super", "génial", "parfait", "excellent", "cool", "chouette"),
    *("formidable", "magnifique", "waouh", "wow", "tiens", "tant mieux", "et", "alors", "donc", "continue", "vas-y"),
    *("merci", "merci beaucoup", "s'il te plaît", "s'il vous plaît"),
)

_DAYS = ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche")
_MONTHS = (
    *("janvier", "février", "mars", "avril", "mai", "juin"),
    *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
)

_numbers = RbnfEngine.for_language("fr")


def tell_time(now: time) -> str:
    """By the clock of 24 hours, with midday and midnight: "Il est quinze heures trente.", "Il est midi dix."."""
    if now.hour % 12 == 0:
        hour = "midi" if now.hour else "minuit"
    else:
        hour = f"{_cardinal(now.hour, 'feminine')} {'heure' if now.hour == 1 else 'heures'}"
    return f"Il est {hour} {_cardinal(now.minute, 'feminine')}." if now.minute else f"Il est {hour}."


def tell_date(today: date) -> str:
    """As people say it: "Nous sommes le lundi trente novembre."."""
    day = "premier" if today.day == 1 else _cardinal(today.day, "masculine")
    return f"Nous sommes le {_DAYS[today.weekday()]} {day} {_MONTHS[today.month - 1]}."


def _cardinal(number: int, gender: str) -> str:
    return _numbers.format_number(number, ruleset_names=[f"spellout-cardinal-{gender}"]).text
