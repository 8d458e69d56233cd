"""A scenario: who says and presses what, and when, in which room, with what language model, and what is expected of the
appliance."""

import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from appliance.config.checked import decode, order_of
from appliance.config.lines import KeyPath, line_at, offsets
from appliance.errors import BadInputError, SeveralProblemsError
from appliance.simulation import recording

LONGEST = 43_200.0
"""Seconds that a run may last: a WAV file ends at 4 GB, which are 18 hours of both tracks."""

_Time = Annotated[float, Meta(ge=0, le=LONGEST)]
_Decibels = Annotated[float, Meta(ge=-120, le=60)]
_Loudness = Annotated[float, Meta(ge=-120, le=0)]
_Text = Annotated[str, Meta(min_length=1)]


class Moment(StrEnum):
    """What a step can wait for."""

    READY = "ready"
    """The appliance has started. It comes once, and every step may count from it."""
    WAKE = "wake"
    """The appliance woke up: it recognised a wake word, or the button was pressed."""
    REPLY = "reply"
    """The first sample of a reply leaves the speaker."""
    SILENCE = "silence"
    """The sound of a reply is over, be it complete or cut."""
    IDLE = "idle"
    """A turn is over."""


@dataclass(frozen=True, slots=True)
class Step:
    """Begins at `at` in room time, or with the next `after` moment, and `delay` seconds later."""

    place: str
    """File and line."""
    at: float | None
    after: Moment | None
    delay: float


@dataclass(frozen=True, slots=True)
class Say(Step):
    """Somebody speaks: either a recording or a text for the voice."""

    file: Path | None
    text: str | None
    gain_db: float


@dataclass(frozen=True, slots=True)
class Press(Step):
    """Somebody presses the button, and holds it for `hold` seconds."""

    hold: float


class Doing(StrEnum):
    """What the server of a language model does."""

    START = "start"
    """It answers."""
    STOP = "stop"
    """It is gone, and so are its answers under way."""
    HANG = "hang"
    """It is there, and says nothing any more."""
    FULL = "full"
    """It has no place for another question."""
    SLOW = "slow"
    """It answers a word in a second."""


@dataclass(frozen=True, slots=True)
class Llm(Step):
    """The server of the language model does that from now on. `says`: what it answers; None: what it did before."""

    does: Doing
    says: str | None


@dataclass(frozen=True, slots=True)
class Acoustics:
    """The room. `echo_db` None: the microphone does not hear the speaker. `noise` None: a hiss."""

    echo_db: float | None
    echo_delay_ms: float
    noise: Path | None
    noise_db: float | None


@dataclass(frozen=True, slots=True)
class Expect:
    """What one turn must be like: patterns by what they are for, `heard`, `reply` or `intent`."""

    place: str
    patterns: dict[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario. `steps` are in the order of the file; `duration` None: until quiet."""

    place: str
    title: str
    duration: float | None
    acoustics: Acoustics
    steps: tuple[Say | Press | Llm, ...]
    expects: tuple[Expect, ...]


class _Step(Struct, kw_only=True):
    at: _Time | None = None
    after: Moment | None = None
    delay: _Time = 0.0

    choices: ClassVar = [("at", "after")]

    def __post_init__(self) -> None:
        given = ((one, getattr(self, one), other, getattr(self, other)) for one, other in self.choices)
        wrong = [f'either "{one}" or "{other}"' for one, a, other, b in given if (a is None) == (b is None)]
        if wrong:
            raise ValueError(f"needs {' and '.join(wrong)}, one of the two")


class _Say(_Step, kw_only=True):
    file: _Text | None = None
    text: _Text | None = None
    gain_db: _Decibels = 0.0
    choices: ClassVar = [*_Step.choices, ("file", "text")]

    def step(self, place: str, folder: Path) -> Say:
        file = None if self.file is None else folder / self.file
        return Say(place, self.at, self.after, self.delay, file, self.text, self.gain_db)


class _Press(_Step, kw_only=True):
    hold: Annotated[float, Meta(gt=0, le=60)] = 0.1

    def step(self, place: str, _: Path) -> Press:
        return Press(place, self.at, self.after, self.delay, self.hold)


class _Llm(_Step, kw_only=True):
    does: Doing
    says: _Text | None = None

    def step(self, place: str, _: Path) -> Llm:
        return Llm(place, self.at, self.after, self.delay, self.does, self.says)


class _Room(Struct, frozen=True):
    echo_db: _Decibels | None = None
    echo_delay_ms: Annotated[float, Meta(ge=0, le=10_000)] = 0.0
    noise: _Text | None = None
    noise_db: _Loudness | None = None

    def acoustics(self, folder: Path) -> Acoustics:
        noise = None if self.noise is None else folder / self.noise
        return Acoustics(self.echo_db, self.echo_delay_ms, noise, self.noise_db)


class _Expect(Struct):
    heard: str | None = None
    reply: str | None = None
    intent: str | None = None

    def __post_init__(self) -> None:
        if not self.patterns():
            raise ValueError('needs at least one of "heard", "reply" and "intent"')

    def patterns(self) -> dict[str, re.Pattern[str]]:
        """The compiled patterns. ValueError names each that is none."""
        found: dict[str, re.Pattern[str]] = {}
        wrong: list[str] = []
        for name in self.__struct_fields__:
            pattern = getattr(self, name)
            try:
                if pattern is not None:
                    found[name] = _compiled(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                wrong.append(f'{name} = "{pattern}" is no regular expression: {error}')
        if wrong:
            raise ValueError("; ".join(wrong))
        return found


class _File(Struct):
    title: str = ""
    duration: Annotated[float, Meta(gt=0, le=LONGEST)] | None = None
    room: _Room = _Room()
    say: list[_Say] = []
    press: list[_Press] = []
    llm: list[_Llm] = []
    expect: list[_Expect] = []

    def steps(self, text: str) -> list[tuple[KeyPath, _Say | _Press | _Llm]]:
        """What is said, pressed and served, in the order of `text`, each with its way there."""
        lists: dict[str, Sequence[_Say | _Press | _Llm]] = {"say": self.say, "press": self.press, "llm": self.llm}
        return [((key, index), lists[key][index]) for key, index in order_of(text, lists)]


def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets that may mean something else one day
        return re.compile(pattern, re.IGNORECASE)


def read(path: Path) -> Scenario:
    """The scenario in the file `path`. Raises BadInputError, with all that is wrong with it."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInputError(str(path), "is no text in UTF-8", allowed="a TOML file") from error
    return parse(text, path)


def parse(text: str, path: Path) -> Scenario:
    """`text` as a scenario that would lie at `path`: its files are looked for beside it. Raises BadInputError."""
    place = str(path)
    try:
        found = decode(text, _File, place)
    except SeveralProblemsError as error:
        raise SeveralProblemsError(place, [*error.problems, *_bad_files(text, path)]) from error
    where = _places(text, place)
    steps = found.steps(text)
    problems = [*_bad_files(text, path), *_never(steps, found.duration, where)]
    if problems:
        raise SeveralProblemsError(place, problems)
    return Scenario(
        place=place,
        title=found.title or path.stem,
        duration=found.duration,
        acoustics=found.room.acoustics(path.parent),
        steps=tuple(step.step(where[key], path.parent) for key, step in steps),
        expects=tuple(Expect(where["expect", index], each.patterns()) for index, each in enumerate(found.expect)),
    )


def _places(text: str, place: str) -> dict[KeyPath, str]:
    return {path: f"{place}:{line_at(text, offset)}" for path, offset in offsets(text).items()}


def _bad_files(text: str, path: Path) -> list[str]:
    """The problems of the files that are named in `text`, whatever else is wrong with it."""
    try:
        found = tomllib.loads(text)
        where = _places(text, str(path))
    except (ValueError, RecursionError):
        return []
    named: list[tuple[KeyPath, object]] = [(("room", "noise"), _get(found.get("room"), "noise"))]
    says = found.get("say")
    if isinstance(says, list):
        named += [(("say", index, "file"), _get(say, "file")) for index, say in enumerate(says)]
    return [
        f'{where[key]}: {key[0]}.{key[-1]} = "{name}": {problem}'
        for key, name in named
        if isinstance(name, str) and name and (problem := recording.problem_of(path.parent / name))
    ]


def _get(table: object, key: str) -> object:
    return table.get(key) if isinstance(table, dict) else None


def _never(
    steps: Sequence[tuple[KeyPath, _Step]], duration: float | None, where: Mapping[KeyPath, str]
) -> Iterator[str]:
    """Steps for which the scenario itself is over too early."""
    for key, step in steps:
        if duration is not None and step.at is not None and step.at + step.delay >= duration:
            wrong = f"is not before the end; allowed: less than duration = {duration:g}"
            yield f"{where[*key, 'at']}: {key[0]}: begins at {step.at + step.delay:g}, which {wrong}"
