"""How well the appliance hears: wake words, the end of what is said, its words, and speech into its own replies."""

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import structs

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench import bargein, endings, wakings
from appliance.bench.distance import from_afar
from appliance.bench.figures import Figure, Result
from appliance.bench.material import FULL, HESITATION, QUICK, Material
from appliance.bench.rig import Rig
from appliance.bench.texts import REPLY, naming
from appliance.config import wording
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, BadInputError

SNRS = (10, 5)
"""Decibels of speech over noise."""

TELEVISION = (15, 10)
"""The same, over a television."""

FAR = 3.0
"""Metres."""

ECHOES = (-10, -20, -30)
"""How loud the speaker is at the microphone, in dB of what it plays."""

ECHO_DELAY = 60
"""Milliseconds from the speaker's sample to its echo."""

PATIENCE = 1.0
"""Seconds for which the appliance waits for a command where none comes, so that a wake word costs no more."""

AT_ONCE = 600.0
"""Seconds of television that are held in memory."""


@dataclass(frozen=True, slots=True)
class _Bench:
    settings: Settings
    models: Path
    rig: Rig
    hasty: Rig
    """The same appliance, which does not wait long for a command."""
    material: Material
    with_people: bool


def measure(
    settings: Settings,
    models: Path,
    recordings: Path | None = None,
    *,
    quick: bool = False,
    part: str | None = None,
    tell: Callable[[Figure], None] = lambda _: None,
) -> Result:
    """All figures, or those of one of PARTS; `tell` gets each as soon as it is known.

    `recordings` is a folder of wake words, commands and noise. BadInputError if it cannot be used.
    """
    if part is not None and part not in PARTS:
        raise BadInputError("--part", f"{wording.quoted(part)} is no part of it", allowed=", ".join(PARTS))
    rig = Rig.of(settings, models)
    hasty = structs.replace(settings, listening=structs.replace(settings.listening, patience=PATIENCE))
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, _without_warnings():
        material = Material(rig, settings.wake.names[0], recordings, QUICK if quick else FULL, Path(folder))
        bench = _Bench(settings, models, rig, Rig(hasty, rig.engines), material, recordings is not None)
        for name, measured in PARTS.items():
            if part in (None, name):
                for figure in measured(bench):
                    figures.append(figure)
                    tell(figure)
    return Result("hearing", _method(bench, quick=quick), tuple(figures))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """What is worth a line of the log in a house happens here hundreds of times, on purpose."""
    logger = logging.getLogger("appliance")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _method(bench: _Bench, *, quick: bool) -> str:
    corpus, extent = bench.material.corpus, bench.material.extent
    who = "recorded people" if bench.with_people else "the installed voice (--recordings names those of people)"
    method = (
        f"the whole appliance in a simulated room, on a clock of its own{', by a sample' if quick else ''}: "
        f"{len(corpus.wake)} wake words and {len(corpus.commands)} commands by {who}; {extent.television / 60:g} min "
        f"of television and {extent.naming} replies that hold the wake word by the installed voice. Noise is in dB "
        "below speech, an echo in dB of what the speaker plays; waits count from the end of the last word"
    )
    return (
        method if bench.with_people else f"{method}. Left out: what is understood of commands, and how people say them"
    )


def _wake(bench: _Bench) -> Iterator[Figure]:
    said, rig = bench.material.corpus.wake, bench.hasty
    yield Figure("wake missed", wakings.missed(rig, said), "%", 3)
    for snr in SNRS:
        missed = wakings.missed(rig, bench.material.wake(), bench.material.noise(snr))
        yield Figure(f"wake missed, noise at {snr} dB", missed, "%", 8 if snr == SNRS[0] else None)
    afar = [from_afar(each, FAR) for each in bench.material.wake()]
    yield Figure(f"wake missed, {FAR:g} m away", wakings.missed(rig, afar), "%")


def _wake_in_replies(bench: _Bench) -> Iterator[Figure]:
    for db in ECHOES:
        missed = wakings.missed_in_replies(bench.hasty, bench.material.corpus.wake, _echo(db))
        yield Figure(f"wake missed in a reply, echo {db} dB", missed, "%", 15)


def _false_wakes(bench: _Bench) -> Iterator[Figure]:
    material, rig = bench.material, bench.hasty
    yield Figure("false wakes, other recordings", wakings.false_wakes(rig, material.corpus.other), "", 0)
    wakes = sum(wakings.false_wakes(rig, scenes) for scenes in _held(material.television()))
    yield Figure("false wakes, television", wakes, "", 0)


def _self_wakes(bench: _Bench) -> Iterator[Figure]:
    replies = naming(bench.settings.wake.names[0], bench.material.extent.naming)
    yield Figure("wakes itself", wakings.self_wakes(bench.hasty, replies, _echo(ECHOES[0])), "", 0)


def _ends(bench: _Bench) -> Iterator[Figure]:
    material, rig = bench.material, bench.rig
    complete = endings.listen_to(rig, material.complete())
    yield from complete.waits("complete", 0.35)
    yield Figure("complete: cut off", complete.cut_off, "%", 2)
    hesitant = endings.listen_to(rig, material.hesitant())
    yield Figure(f"hesitant ({HESITATION} s): cut off", hesitant.cut_off, "%", 2)
    yield from hesitant.waits("hesitant")
    for snr in TELEVISION:
        beside = endings.listen_to(rig, material.complete(), material.beside_television(snr))
        yield Figure(f"television at {snr} dB: no end in 2 s", beside.without_end, "%", 0)
        yield Figure(f"television at {snr} dB: cut off", beside.cut_off, "%", 2)


def _commands(bench: _Bench) -> Iterator[Figure]:
    material = bench.material
    for engine, rig in _engines(bench):
        at = {"": endings.listen_to(rig, material.corpus.commands)}
        at |= {f", noise at {snr} dB": endings.listen_to(rig, material.commands(), material.noise(snr)) for snr in SNRS}
        for where, found in at.items():
            if engine == bench.settings.engine:
                yield Figure(f"commands{where}: cut off", found.cut_off, "%", 2)
                yield from found.waits(f"commands{where}")
                yield Figure(f"commands{where}: no end in 2 s", found.without_end, "%", 0)
            if bench.with_people:
                yield Figure(f"{engine}{where}: slots wrong", found.slots_wrong, "%")


def _barge_in(bench: _Bench) -> Iterator[Figure]:
    said = [command.samples for command in bench.material.corpus.commands]
    for db in ECHOES:
        ignored = bargein.ignored(bench.hasty, said, _echo(db))
        yield Figure(f"speech ignored, echo {db} dB", ignored, "%", 5 if db == ECHOES[1] else None)
    alarms = bargein.alarms(bench.hasty, [REPLY] * bench.material.extent.replies, _echo(ECHOES[1]))
    yield Figure("replies played to nobody", alarms.hours * 60, "min")
    yield Figure("false interruptions in them", alarms.interruptions, "", 0)
    yield Figure("false pauses in them", alarms.pauses, "")


PARTS: dict[str, Callable[[_Bench], Iterator[Figure]]] = {
    "wake": _wake,
    "wake-in-replies": _wake_in_replies,
    "ends": _ends,
    "commands": _commands,
    "barge-in": _barge_in,
    "self-wakes": _self_wakes,
    "false-wakes": _false_wakes,
}
"""What can be measured by itself."""


def _engines(bench: _Bench) -> Iterator[tuple[str, Rig]]:
    """The configured engine, and each other one that is installed."""
    yield bench.settings.engine, bench.rig
    others: tuple[Literal["moonshine", "vosk"], ...] = ("moonshine", "vosk")
    for engine in others:
        if engine == bench.settings.engine:
            continue
        settings = structs.replace(bench.settings, stt=structs.replace(bench.settings.stt, engine=engine))
        try:
            yield engine, Rig.of(settings, bench.models)
        except ApplianceError:
            continue


def _held(scenes: Iterator[Samples]) -> Iterator[Sequence[Samples]]:
    """As many at once as may be held in memory."""
    held: list[Samples] = []
    for scene in scenes:
        held.append(scene)
        if sum(map(len, held)) > AT_ONCE * HEARING_RATE:
            yield held
            held = []
    yield held


def _echo(db: float) -> str:
    return f"echo_db = {db}\necho_delay_ms = {ECHO_DELAY}"
