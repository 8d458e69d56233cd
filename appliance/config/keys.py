"""The keys of the settings: "wake.thresholds.alexa" as people write it, and as the way to a value."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec

from appliance.config import wording
from appliance.config.checked import fields_of
from appliance.config.schema import Settings
from appliance.errors import BadInputError

Key = tuple[str, ...]
"""The way to a value, from the outside in."""


def dotted(key: Key) -> str:
    """A key as TOML would have it."""
    return ".".join(map(wording.key, key))


def parse(text: str, place: str) -> Key:
    """A key that somebody typed. BadInputError, which names `place`: it is none."""
    try:
        found: Any = tomllib.loads(f"{text} = 0")
    except (ValueError, RecursionError):
        found = {}
    key: Key = ()
    while isinstance(found, dict) and len(found) == 1:
        (name, found) = next(iter(found.items()))
        key += (name,)
    if found != 0 or "\n" in text or "=" in text:
        raise BadInputError(place, f"{wording.shown(text)} is no key", allowed="a key like wake.threshold")
    return key


def type_at(key: Key, place: str) -> Any:
    """The type of what is set with `key`. BadInputError, which names `place`: there is no such key."""
    here: Any = Settings
    for depth, name in enumerate(key):
        fields = fields_of(here)
        if fields and name in fields:
            here = fields[name].type
        elif get_origin(bare(here)) is dict:
            here = get_args(bare(here))[1]
        else:
            beside = [dotted((*key[:depth], each)) for each in fields] or [dotted(key[:depth])]
            everywhere = [dotted(each) for each, _ in all_keys()]
            raise BadInputError(
                place,
                f"{dotted(key)} is not known{wording.meant(dotted(key), dict.fromkeys((*beside, *everywhere)))}",
                allowed=", ".join(sorted(beside)),
            )
    return here


def bare(type_: Any) -> Any:
    """A type without its limits."""
    return getattr(type_, "__origin__", type_) if hasattr(type_, "__metadata__") else type_


def all_keys(type_: Any = Settings, here: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Each key that has a value, and its type, in the order of the schema; tables of free entries as one key."""
    for name, field in fields_of(type_).items():
        if fields_of(field.type):
            yield from all_keys(field.type, (*here, name))
        else:
            yield (*here, name), field.type


def leaves(table: Mapping[str, Any], here: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Each value in `table`, in its order."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, (*here, name))
        else:
            yield (*here, name), value


def values(settings: Settings) -> dict[Key, Any]:
    """Each value of the settings, as TOML has it."""
    return dict(leaves(msgspec.json.decode(msgspec.json.encode(settings))))


def changed(before: Settings, after: Settings) -> tuple[str, ...]:
    """The keys whose values are not the same."""
    old, new = values(before), values(after)
    return tuple(dotted(key) for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key))
