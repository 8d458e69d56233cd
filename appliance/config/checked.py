"""TOML text into a msgspec type, with everything that is wrong with it reported at once, each by its line."""

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from operator import itemgetter
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from appliance.config import wording
from appliance.config.lines import KeyPath, line_at, line_of, offsets, order_of
from appliance.errors import SeveralProblemsError

__all__ = ["check", "check_table", "decode", "fields_of", "line_of", "order_of"]

T = TypeVar("T")

_SYNTAX = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_HINTS = {
    "Invalid value": '; allowed: "text" in quotation marks, a number like 0.5, true or false, a [list]',
    "Cannot overwrite a value": "; this key is there twice: remove one of the two",
}


def decode(text: str, type_: type[T], place: str) -> T:
    """`text` as a `type_`, a msgspec Struct as a rule; `place`, usually the file, starts each line of the error.

    Raises `SeveralProblemsError`, a BadInputError: one line per problem, in the order of the text. Nothing else.
    Keys that a Struct does not have are problems. Numbers are finite.
    """
    found, problems = check(text, type_, place)
    if problems:
        raise SeveralProblemsError(place, problems)
    return msgspec.convert(found, type_)


def check(text: str, type_: type[Any], place: str) -> tuple[dict[str, Any], list[str]]:
    """What is in `text`, and each problem that keeps it from being a `type_`, as `decode` would report it."""
    found: dict[str, Any] = {}
    try:
        found = tomllib.loads(text)
        checking = _Check(text, place)
        checking.value(found, type_, ())
        return found, [problem for _, problem in sorted(checking.problems, key=itemgetter(0))]
    except tomllib.TOMLDecodeError as error:
        return found, [_syntax(text, str(error), place)]
    except RecursionError:
        return found, [f"{place}: is nested too deeply"]
    except ValueError as error:  # Python itself refuses whole numbers of thousands of digits
        return found, [f"{place}: {str(error).split(';')[0]}"]


def check_table(table: dict[str, Any], type_: type[Any], place: str) -> list[str]:
    """Each problem that keeps `table`, which has no lines, from being a `type_`."""
    checking = _Check("", place)
    checking.value(table, type_, ())
    return [problem for _, problem in checking.problems]


def _syntax(text: str, message: str, place: str) -> str:
    match = _SYNTAX.fullmatch(message)
    if not match:
        return f"{place}: {message}"
    what, line, column = match.groups()
    lines = text.split("\n")
    number = int(line or len(lines))
    where = f"at column {column}" if column else "at the end of the file"
    parts = [f"{place}:{number}", wording.shorten(lines[number - 1]), f"{what}, {where}"]
    return ": ".join(part for part in parts if part) + _HINTS.get(what, "")


class _Check:
    """Collects each problem as (offset in the text, line of the message). Without a text there are no lines."""

    def __init__(self, text: str, place: str) -> None:
        self.text = text
        self.place = place
        self.offsets = offsets(text)
        self.problems: list[tuple[int, str]] = []

    def value(self, value: object, type_: Any, path: KeyPath) -> None:
        """Everything that keeps `value` from being a `type_`."""
        before = len(self.problems)
        inner = _member(value, type_)
        parts = get_args(inner)
        fields = fields_of(inner)
        if isinstance(value, dict) and fields:
            self._struct(value, fields, path)
        elif isinstance(value, dict) and get_origin(inner) is dict:
            for key, item in value.items():
                self._key(key, parts[0], (*path, key))
                self.value(item, parts[1], (*path, key))
        elif isinstance(value, list) and get_origin(inner) in (list, tuple):
            for index, item in enumerate(value):
                self.value(item, parts[0], (*path, index))
        if len(self.problems) > before:
            return
        try:
            msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            if isinstance(value, dict) and fields:  # all well, so these are the words of its own __post_init__
                self._add(path, value, str(error))
            else:
                self._add(path, value, wording.wrong(value, type_), type_)
        else:
            if isinstance(value, float) and not math.isfinite(value):
                self._add(path, value, "is no number to work with", type_)

    def _struct(self, value: Mapping[str, object], fields: Mapping[str, FieldInfo], path: KeyPath) -> None:
        for key, item in value.items():
            if key in fields:
                self.value(item, fields[key].type, (*path, key))
            else:
                self._add((*path, key), item, "is not known here", Literal[*fields], key)
        for key, field in fields.items():
            if field.required and key not in value:
                self._add((*path, key), None, "is missing", field.type)

    def _key(self, key: str, type_: Any, path: KeyPath) -> None:
        try:
            msgspec.convert(key, type_)
        except msgspec.ValidationError:
            self._add(path, None, "cannot be a key here", type_, key)

    def _add(self, path: KeyPath, value: object, wrong: str, type_: Any = None, typed: object = None) -> None:
        """`type_` says what is allowed; `typed`, else `value`, is what the user may have mistyped."""
        written = path
        while written not in self.offsets:
            written = written[:-1]
        offset = self.offsets[written]
        key = ".".join(wording.key(part) for part in path if isinstance(part, str))
        text = "" if value is None else wording.shown(value)
        where = f"{self.place}:{line_at(self.text, offset)}" if self.text else self.place
        parts = [where, " = ".join(filter(None, (key, text))), wrong]
        problem = ": ".join(filter(None, parts))
        if type_ is not None:
            problem += f"; allowed: {wording.allowed(type_)}" + wording.meant(typed or value, wording.options(type_))
        self.problems.append((offset, problem))


@cache
def fields_of(type_: Any) -> dict[str, FieldInfo]:
    """The fields of a Struct by their keys; none of anything else."""
    if not (isinstance(type_, type) and issubclass(type_, msgspec.Struct)):
        return {}
    return {field.encode_name: field for field in msgspec.structs.fields(type_)}


def _member(value: object, type_: Any) -> Any:
    """The bare type without its limits; of several alternatives, the one that looks like `value`."""
    if get_origin(type_) is Annotated:
        return _member(value, get_args(type_)[0])
    if get_origin(type_) in (Union, UnionType):
        members = [_member(value, each) for each in get_args(type_)]
        return next((each for each in members if _alike(value, each)), type_)
    return type_


def _alike(value: object, type_: Any) -> bool:
    if isinstance(value, dict):
        return bool(fields_of(type_)) or get_origin(type_) is dict
    return isinstance(value, list) and get_origin(type_) in (list, tuple)
