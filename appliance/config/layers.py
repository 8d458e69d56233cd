"""Layers of settings put together: built-in defaults, the profile of the board, and the files of the owner in turn.

Each file is checked by itself, so that all problems of all files are known at once, each by its line. What they make
together is checked as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.config import wording
from appliance.config.checked import check
from appliance.config.keys import Key, dotted, leaves, values
from appliance.config.lines import line_at, offsets
from appliance.config.schema import Settings
from appliance.errors import SeveralProblemsError
from appliance.share import share


@dataclass(frozen=True, slots=True)
class Source:
    """A file of settings: where it is, as messages are to say it, and what is in it."""

    place: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was set."""

    place: str
    line: int

    def __str__(self) -> str:
        return f"{self.place}:{self.line}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the layers make together."""

    settings: Settings
    origins: Mapping[Key, Origin]
    """Of each value that is not built in."""


@dataclass(frozen=True, slots=True)
class _Layer:
    place: str
    text: str
    table: Mapping[str, Any]


def combine(sources: Sequence[Source]) -> Configuration:
    """The settings that `sources` make, each going before those that stand before it, and all before their profile.

    SeveralProblemsError: what is wrong with any of them, or with all together. ApplianceError: the profile is missing.
    """
    layers = _read(sources)
    profile = next((layer.table["profile"] for layer in reversed(layers) if "profile" in layer.table), "none")
    if profile != "none":
        path = share("config") / f"profiles/{profile}.toml"
        layers = _read([Source(str(path), path.read_bytes())]) + layers
    merged: dict[str, Any] = {}
    origins: dict[Key, Origin] = {}
    for layer in layers:
        _merge(merged, layer.table)
        found = offsets(layer.text)
        for key, _ in leaves(layer.table):
            origins[key] = Origin(layer.place, line_at(layer.text, found[key]))
    settings = msgspec.convert(merged, Settings)
    if problems := list(_contradictions(settings, origins)):
        raise SeveralProblemsError(layers[-1].place, problems)
    return Configuration(settings, origins)


def _read(sources: Sequence[Source]) -> list[_Layer]:
    layers, problems = [], []
    for source in sources:
        try:
            text = source.content.decode("utf-8-sig")  # some editors put a mark in front
        except UnicodeDecodeError as error:
            line = source.content.count(b"\n", 0, error.start) + 1
            problems.append(f"{source.place}:{line}: this is not UTF-8 text. Save the file as UTF-8.")
            continue
        table, wrong = check(text, Settings, source.place)
        problems += wrong
        layers.append(_Layer(source.place, text, table))
    if problems:
        raise SeveralProblemsError(sources[0].place, problems)
    return layers


def _merge(into: dict[str, Any], table: Mapping[str, Any]) -> None:
    for name, value in table.items():
        if isinstance(value, dict):
            _merge(into.setdefault(name, {}), value)
        else:
            into[name] = value


def _contradictions(settings: Settings, origins: Mapping[Key, Origin]) -> Iterator[str]:
    set_to = values(settings)
    for found in settings.contradictions():
        what = f"{dotted(found.path)} = {wording.shown(set_to[found.path])}"
        meant = wording.meant(found.path[-1], found.options)
        yield f"{origins[found.path]}: {what}: {found.wrong}; allowed: {found.allowed}{meant}"
