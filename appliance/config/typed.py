"""A value as somebody types it for a key: as TOML, or plain, as a shell leaves it."""

import tomllib
from typing import Any, get_origin

from appliance.config.checked import check_table, fields_of
from appliance.config.keys import Key, all_keys, bare, dotted, type_at
from appliance.config.schema import Settings
from appliance.errors import BadInputError, SeveralProblemsError


def read(text: str, key: Key, place: str) -> Any:
    """What `text` means as the value of `key`. BadInputError, which names `place`: it is none, or there is no such key.

    Quotation marks need not be there: a shell takes them off, and ssh has two of them.
    """
    type_ = type_at(key, place)
    _refuse_table(key, type_, place)
    candidates = [*_as_toml(text), text, *_as_list(text, type_)]
    for value in candidates:
        if not _problems(key, value, place):
            return value
    raise SeveralProblemsError(place, _problems(key, candidates[0], place))


def _refuse_table(key: Key, type_: Any, place: str) -> None:
    if fields_of(type_):
        inner = [dotted((*key, *rest)) for rest, _ in all_keys(type_)]
    elif get_origin(bare(type_)) is dict:
        inner = [dotted((*key, "NAME"))]
    else:
        return
    raise BadInputError(place, f"{dotted(key)} is a table", allowed=", ".join(inner), remedy="Set one of its keys")


def _as_toml(text: str) -> list[Any]:
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return []
    return list(found.values()) if list(found) == ["value"] else []


def _as_list(text: str, type_: Any) -> list[list[str]]:
    """alexa,hey_jarvis and [alexa, hey_jarvis]."""
    if get_origin(bare(type_)) not in (list, tuple):
        return []
    inner = text.strip().removeprefix("[").removesuffix("]")
    return [[item.strip().strip("\"'") for item in inner.split(",") if item.strip()]]


def _problems(key: Key, value: Any, place: str) -> list[str]:
    table: Any = value
    for name in reversed(key):
        table = {name: table}
    return check_table(table, Settings, place)
