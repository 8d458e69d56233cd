"""French."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import RbnfEngine

from appliance.thinking.phrases.wording import capital, listed, parts

NAME = "français"
READY = "Je vous écoute."
SOUND_IS_BACK = "Le son est revenu."
HOW_I_AM = "Je vais bien, merci."
HELP = (
    "Vous pouvez me demander l'heure ou la date. "
    "Je peux lancer des minuteurs, et parler plus fort ou moins fort. "
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
TIMER_HOW_LONG = "Pour combien de temps ?"
TIMER_TOO_LONG = "Un minuteur ne peut pas durer plus d'un jour."
TIMERS_TOO_MANY = "Il y a trop de minuteurs. Annulez-en un d'abord."
TIMERS_NONE = "Il n'y a pas de minuteur."
TIMER_UNKNOWN = "Je n'ai pas ce minuteur."
TIMER_CANCELLED = "Le minuteur est annulé."
TIMERS_CANCELLED = "Tous les minuteurs sont annulés."
VOLUME_WHICH = "À quel volume, de un à dix ?"
VOLUME_HIGHEST = "Je ne peux pas parler plus fort."
VOLUME_LOWEST = "Je ne peux pas parler moins fort."

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


def timer_called(name: str, seconds: int) -> str:
    """ "le minuteur pâtes", "le minuteur de dix minutes"."""
    if name:
        return f"le minuteur {name}"
    duration = _duration(seconds)
    return f"le minuteur d'{duration}" if duration.startswith("u") else f"le minuteur de {duration}"


def timer_set(name: str, seconds: int) -> str:
    """ "Dix minutes, c'est parti."."""
    duration = _duration(seconds)
    return capital(f"minuteur {name}, {duration}, c'est parti." if name else f"{duration}, c'est parti.")


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"Il y a {listed(called, 'et')}. Dites lequel je dois annuler, ou dites : annule tous les minuteurs."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "Il reste deux minutes et dix secondes."."""
    if len(left) == 1:
        return f"Il reste {_duration(left[0][1])}."
    return " ".join(f"Pour {called}, il reste {_duration(seconds)}." for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "Le minuteur pâtes est terminé."."""
    return capital(f"{listed(called, 'et')} {'est terminé' if len(called) == 1 else 'sont terminés'}.")


def timers_missed(called: Sequence[str]) -> str:
    """ "Pendant que j'étais sans courant, le minuteur pâtes s'est terminé."."""
    ended = "s'est terminé" if len(called) == 1 else "se sont terminés"
    return f"Pendant la coupure de courant, {listed(called, 'et')} {ended}."


def volume_set(level: int) -> str:
    """ "Volume cinq."."""
    return f"Volume {_cardinal(level, 'masculine')}."


def tell_volume(level: int) -> str:
    """ "Le volume est à cinq sur dix."."""
    return f"Le volume est à {_cardinal(level, 'masculine')} sur dix."


def _duration(seconds: int) -> str:
    names = (("heure", "heures"), ("minute", "minutes"), ("seconde", "secondes"))
    said = [f"{_cardinal(count, 'feminine')} {names[unit][count != 1]}" for unit, count in parts(seconds)]
    return listed(said, "et")


def _cardinal(number: int, gender: str) -> str:
    return _numbers.format_number(number, ruleset_names=[f"spellout-cardinal-{gender}"]).text
