"""How each language measures time: the words of its durations, plain, as recognisers write them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

HOUR, MINUTE, SECOND = 3600, 60, 1


@dataclass(frozen=True, slots=True)
class Units:
    """The words of one language."""

    seconds: Mapping[str, int]
    """The units."""
    half: Collection[str]
    quarter: Collection[str]
    joins: Collection[str]
    """"and", between the parts of a duration."""
    of: Collection[str]
    """Between a fraction and its unit: "a quarter OF AN hour"."""
    percent: Collection[str]
    """Without spaces."""
    whole: Mapping[str, int] = field(default_factory=dict)
    """Durations of one word, in seconds."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers that no library spells, without spaces."""


def _units(hours: str, minutes: str, seconds: str) -> dict[str, int]:
    kinds = ((hours, HOUR), (minutes, MINUTE), (seconds, SECOND))
    return {word: size for words, size in kinds for word in words.split()}


_HALVES = {1: "ein", 2: "zwei", 3: "drei", 4: "vier", 5: "fünf", 6: "sechs", 7: "sieben", 8: "acht"}

UNITS = {
    "de": Units(
        seconds=_units("stunde stunden std h", "minute minuten minütchen min", "sekunde sekunden sek s"),
        half=("halb", "halbe", "halben", "halber", "halbes"),
        quarter=("viertel",),
        joins=("und",),
        of=(),
        percent=("%", "prozent"),
        whole={"viertelstunde": 900, "dreiviertelstunde": 2700, "halbestunde": 1800, "viertelstündchen": 900},
        numbers={
            **{word + "einhalb": number + 0.5 for number, word in _HALVES.items()},
            "anderthalb": 1.5,
            "dreiviertel": 0.75,
            "einedreiviertel": 0.75,
            "ne": 1,
            "nen": 1,
        },
    ),
    "en": Units(
        seconds=_units("hour hours hr hrs h", "minute minutes min mins", "second seconds sec secs"),
        half=("half",),
        quarter=("quarter", "quarters"),
        joins=("and",),
        of=("of", "a", "an"),
        percent=("%", "percent"),
        numbers={"a": 1, "an": 1, "acoupleof": 2, "couple": 2, "acouple": 2},
    ),
    "es": Units(
        seconds=_units("hora horas h", "minuto minutos minutito minutitos min", "segundo segundos seg s"),
        half=("media", "medio"),
        quarter=("cuarto", "cuartos"),
        joins=("y", "con"),
        of=("de",),
        percent=("%", "porciento", "porcien"),
    ),
    "fr": Units(
        seconds=_units("heure heures h", "minute minutes min", "seconde secondes sec s"),
        half=("demi", "demie"),
        quarter=("quart", "quarts"),
        joins=("et",),
        of=("d", "de"),
        percent=("%", "pourcent", "pourcents"),
    ),
    "it": Units(
        seconds=_units("ora ore h", "minuto minuti minutino minutini min", "secondo secondi sec s"),
        half=("mezzo", "mezza", "mezz"),
        quarter=("quarto", "quarti"),
        joins=("e",),
        of=("d", "di"),
        percent=("%", "percento"),
        whole={"mezzora": 1800, "mezzoretta": 1800},
    ),
    "ko": Units(
        seconds=_units("시간", "분", "초"),
        half=("반",),
        quarter=(),
        joins=(),
        of=(),
        percent=("%", "퍼센트", "프로"),
    ),
}
"""By language."""
