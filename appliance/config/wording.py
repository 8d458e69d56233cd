"""How the problems of an input are put into words: values, what is wrong with them, what is allowed, what was meant."""

import difflib
import json
import re
from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any

from msgspec import inspect

_LONGEST = 60
_BARE = re.compile(r"[\w-]+")
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "a table"),
    ((date, datetime, time), "a date or time"),
)


def shorten(text: str) -> str:
    """`text` in one line that is not too long to read, and does nothing to a terminal."""
    line = "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def quoted(text: str) -> str:
    """`text` as TOML would have it; what does not show is escaped."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in plain)


def key(name: str) -> str:
    """A key as TOML would have it."""
    return shorten(name if _BARE.fullmatch(name) else quoted(name))


def shown(value: object) -> str:
    """A value from TOML, much as it was written."""
    if isinstance(value, list):
        return shorten(f"[{', '.join(shown(item) for item in value[:_LONGEST])}]")
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, str):
        return shorten(quoted(value))
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:
        return shorten(hex(value))  # str() refuses thousands of digits
    return shorten(str(value))


def kind(value: object) -> str:
    """What a value from TOML is."""
    return next(name for types, name in _KINDS if isinstance(value, types))


def wrong(value: object, type_: Any) -> str:
    """Why `value` is no `type_`, of which `allowed` says what it should be."""
    kinds = {type(info) for info in _members(type_)}
    if isinstance(value, str) and kinds & {inspect.LiteralType, inspect.EnumType}:
        return "is not known"
    if isinstance(value, int | float) and not isinstance(value, bool) and kinds & {inspect.IntType, inspect.FloatType}:
        return (
            "is not a whole number"
            if isinstance(value, float) and inspect.FloatType not in kinds
            else "is out of range"
        )
    fits_kind = (isinstance(value, str) and inspect.StrType in kinds) or (
        isinstance(value, list) and any(issubclass(each, inspect.CollectionType) for each in kinds)
    )
    if fits_kind:
        return "does not fit"
    return f"is {kind(value)}"


def options(type_: Any) -> list[str]:
    """The texts that `type_` accepts, when it is a choice of some."""
    found: list[str] = []
    for info in _members(type_):
        if isinstance(info, inspect.LiteralType):
            found += [value for value in info.values if isinstance(value, str)]
        elif isinstance(info, inspect.EnumType):
            found += [member.value for member in info.cls if isinstance(member.value, str)]
    return found


def meant(typed: object, among: Iterable[str]) -> str:
    """`; did you mean "…"?` with the nearest of `among`, or nothing when none is near."""
    if not isinstance(typed, str):
        return ""
    plain = {name.casefold(): name for name in among}
    near = difflib.get_close_matches(typed.casefold(), plain, n=1)
    return f"; did you mean {shorten(quoted(plain[near[0]]))}?" if near else ""


def any_of(names: Iterable[str]) -> str:
    """A choice of names, in quotation marks."""
    *others, last = [shorten(quoted(name)) for name in names] or ["nothing"]
    return f"{', '.join(others)} or {last}" if others else last


def allowed(type_: Any) -> str:
    """What a value of `type_` may be."""
    return _any(_members(type_))


def _members(type_: Any) -> list[inspect.Type]:
    """The alternatives of a type; TOML has no null, so None is none of them."""
    return [info for info in _flat(inspect.type_info(type_)) if not isinstance(info, inspect.NoneType)]


def _flat(info: inspect.Type) -> list[inspect.Type]:
    if isinstance(info, inspect.Metadata):
        return _flat(info.type)
    if isinstance(info, inspect.UnionType):
        return [member for each in info.types for member in _flat(each)]
    return [info]


def _any(infos: Iterable[inspect.Type]) -> str:
    return " or ".join(dict.fromkeys(map(_allowed, infos)))


def _allowed(info: inspect.Type) -> str:
    match info:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() | inspect.FloatType():
            return ("a whole number" if isinstance(info, inspect.IntType) else "a number") + _range(info)
        case inspect.StrType(pattern=str(pattern)):
            return f"text like {pattern}"
        case inspect.StrType():
            return "text" + _size(info.min_length, info.max_length)
        case inspect.LiteralType() | inspect.EnumType():
            values = info.values if isinstance(info, inspect.LiteralType) else [member.value for member in info.cls]
            return any_of(map(str, values))
        case inspect.CollectionType():
            size = _size(info.min_length, info.max_length)
            return f"a list, each item {_any(_flat(info.item_type))}{size}"
        case inspect.DictType():
            return f"a table, each entry {_any(_flat(info.value_type))}"
        case inspect.StructType():
            return "a table"
        case _:
            return type(info).__name__.removesuffix("Type").lower()


def _range(info: inspect.IntType | inspect.FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge:.10g} to {info.le:.10g}"
    bounds = ((info.ge, "at least"), (info.gt, "more than"), (info.le, "at most"), (info.lt, "less than"))
    return _bounds(", ", bounds)


def _size(least: int | None, most: int | None) -> str:
    return _bounds(", length ", ((least, "at least"), (most, "at most")))


def _bounds(lead: str, bounds: Iterable[tuple[float | None, str]]) -> str:
    found = [f"{word} {bound:.10g}" for bound, word in bounds if bound is not None]
    return lead + " and ".join(found) if found else ""
