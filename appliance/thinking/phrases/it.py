"""Italian."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import RbnfEngine

from appliance.thinking.phrases.wording import capital, listed, parts

NAME = "italiano"
READY = "Tutto pronto."
SOUND_IS_BACK = "L'audio è tornato."
HOW_I_AM = "Sto bene, grazie."
HELP = (
    "Puoi chiedermi che ora è o che giorno è. "
    "Posso impostare timer e parlare più forte o più piano. "
    "Posso ripetere la mia ultima risposta o continuarla, e smetto di parlare quando dici basta."
)
NOTHING_TO_REPEAT = "Non ho ancora detto niente."
NOTHING_TO_GO_ON_WITH = "Non ho altro da dire."
UNKNOWN = "Mi dispiace, a questo non so rispondere. Posso dirti l'ora e la data."
ONE_MOMENT = "Un momento."
_LATER = "Chiedimelo di nuovo fra un minuto, o chiedimi adesso l'ora o la data."
MODEL_SLOW = f"Sto ancora aspettando il modello linguistico. {_LATER}"
MODEL_WARMING = f"Il modello linguistico si sta ancora avviando. {_LATER}"
MODEL_BUSY = f"Il modello linguistico è occupato. {_LATER}"
MODEL_TOO_LONG = "Era troppo lungo per il modello linguistico. Chiedimelo con meno parole, o chiedimi l'ora o la data."
NO_MODEL = "In questo momento non riesco a raggiungere il modello linguistico. Posso comunque dirti l'ora e la data."
BROKE_OFF = "Mi dispiace, ho perso il collegamento con il modello linguistico."
APOLOGY = "Mi dispiace, qualcosa è andato storto. Riprova, per favore."
TIMER_HOW_LONG = "Per quanto tempo?"
TIMER_TOO_LONG = "Un timer può durare al massimo un giorno."
TIMERS_TOO_MANY = "Ci sono troppi timer. Prima annullane uno."
TIMERS_NONE = "Non c'è nessun timer."
TIMER_UNKNOWN = "Questo timer non c'è."
TIMER_CANCELLED = "Timer annullato."
TIMERS_CANCELLED = "Tutti i timer sono annullati."
VOLUME_WHICH = "A che volume, da uno a dieci?"
VOLUME_HIGHEST = "Più forte di così non posso."
VOLUME_LOWEST = "Più piano di così non posso."

BACK_CHANNELS = (
    *("hm", "hmm", "mm", "mhm", "mh", "ah", "ah ecco", "ah sì", "eh", "eh già", "oh", "uh", "ehm", "boh", "mah"),
    *("sì", "già", "okay", "ok", "va bene", "bene", "molto bene", "benissimo", "d'accordo", "certo", "certamente"),
    *("ecco", "esatto", "esattamente", "giusto", "proprio così", "è vero", "vero", "infatti", "sicuro", "naturalmente"),
    *("capisco", "capito", "ho capito", "lo so", "chiaro", "interessante", "davvero", "sul serio", "ma dai", "ma va"),
    *("perfetto", "ottimo", "bello", "che bello", "fantastico", "eccellente", "bravo", "brava", "wow", "caspita"),
    *("e", "allora", "quindi", "continua", "vai avanti", "prego"),
    *("grazie", "grazie mille", "per favore", "per piacere"),
)

_DAYS = ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica")
_MONTHS = (
    *("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno"),
    *("luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"),
)

_numbers = RbnfEngine.for_language("it")


def tell_time(now: time) -> str:
    """By the clock of 24 hours: "Sono le quindici e trenta.", "È l'una e dieci.", "È mezzogiorno."."""
    if now.hour == 0:
        hour = "È mezzanotte"
    elif now.hour == 12 and now.minute == 0:
        hour = "È mezzogiorno"
    else:
        hour = "È l'una" if now.hour == 1 else f"Sono le {_cardinal(now.hour)}"
    minute = {0: "", 1: " e un minuto"}.get(now.minute)
    return f"{hour}{f' e {_cardinal(now.minute)}' if minute is None else minute}."


def tell_date(today: date) -> str:
    """As people say it: "Oggi è lunedì trenta novembre."."""
    day = "primo" if today.day == 1 else _cardinal(today.day)
    return f"Oggi è {_DAYS[today.weekday()]} {day} {_MONTHS[today.month - 1]}."


def timer_called(name: str, seconds: int) -> str:
    """ "il timer pasta", "il timer di dieci minuti"."""
    return f"il timer {name}" if name else f"il timer di {_duration(seconds)}"


def timer_set(name: str, seconds: int) -> str:
    """ "Dieci minuti, da adesso."."""
    return capital(f"timer {name}, {_duration(seconds)}, da adesso." if name else f"{_duration(seconds)}, da adesso.")


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"Ci sono {listed(called, 'e')}. Dimmi quale annullare, oppure: annulla tutti i timer."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "Tempo rimanente: due minuti e dieci secondi."."""
    if len(left) == 1:
        return f"Tempo rimanente: {_duration(left[0][1])}."
    return " ".join(f"Per {called}: {_duration(seconds)}." for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "Il timer pasta è finito."."""
    return capital(f"{listed(called, 'e')} {'è finito' if len(called) == 1 else 'sono finiti'}.")


def timers_missed(called: Sequence[str]) -> str:
    """ "Mentre mancava la corrente, il timer pasta è finito."."""
    ended = "è finito" if len(called) == 1 else "sono finiti"
    return f"Mentre mancava la corrente, {listed(called, 'e')} {ended}."


def volume_set(level: int) -> str:
    """ "Volume cinque."."""
    return f"Volume {_cardinal(level)}."


def tell_volume(level: int) -> str:
    """ "Il volume è a cinque su dieci."."""
    return f"Il volume è a {_cardinal(level)} su dieci."


def _duration(seconds: int) -> str:
    names = (("ora", "ore"), ("minuto", "minuti"), ("secondo", "secondi"))
    ones = ("un'ora", "un minuto", "un secondo")
    said = [ones[unit] if count == 1 else f"{_cardinal(count)} {names[unit][1]}" for unit, count in parts(seconds)]
    return listed(said, "e")


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, ruleset_names=["spellout-numbering"]).text
