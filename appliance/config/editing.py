"""Changes in the text of the owner's files, in which comments and order stay as they are."""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from appliance.config.checked import check
from appliance.config.keys import Key, dotted, leaves
from appliance.config.owner import Files, OwnerFiles
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, SeveralProblemsError

ABSENT = object()
"""Instead of a value: the key is not there."""

_NEWLINE = "\r\n"


def with_values(files: Files, pairs: Iterable[tuple[Key, Any]], owner: OwnerFiles) -> dict[str, bytes]:
    """`files` with these values, each in the file in which it is in force now, else in the main one.

    SeveralProblemsError: a file is no TOML. ApplianceError: it cannot be edited.
    """
    after = dict(files)
    for key, value in pairs:
        name = file_of(after, key, owner) or owner.main.name
        after[name] = _edited(after.get(name, b""), key, value, name, owner)
    return after


def without(files: Files, keys: Iterable[Key], owner: OwnerFiles) -> dict[str, bytes]:
    """`files` in none of which these keys stand. The errors of `with_values`."""
    after = dict(files)
    for key in keys:
        while name := file_of(after, key, owner):
            after[name] = _edited(after[name], key, ABSENT, name, owner)
    return after


def file_of(files: Files, key: Key, owner: OwnerFiles) -> str | None:
    """The last of `files`, in their order, in which `key` stands. SeveralProblemsError: one is no TOML."""
    found = None
    for name in owner.in_order(files):
        if is_in(_table(_text(files[name], name, owner), name, owner), key):
            found = name
    return found


def is_in(table: Any, key: Key) -> bool:
    """Whether there is anything at `key`."""
    for name in key:
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    return True


def _edited(content: bytes, key: Key, value: Any, name: str, owner: OwnerFiles) -> bytes:
    """With `value` at `key`, or without the key."""
    text = _text(content, name, owner)
    table = _table(text, name, owner)
    ways = [_changed] if is_in(table, key) else [_inserted, _changed]
    for way in ways:
        # Whatever a way to do it makes of a file that is written in an unusual manner, only what was meant is taken.
        with suppress(TOMLKitError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            wanted = deepcopy(table)
            _change(wanted, key, value)
            after = way(text, key, value)
            if dict(leaves(tomllib.loads(after))) == dict(leaves(wanted)):
                return after.encode()
    raise ApplianceError(
        str(owner.path(name)), f"{dotted(key)} cannot be changed in it", remedy="Use: appliance config edit"
    )


def _changed(text: str, key: Key, value: Any) -> str:
    document = tomlkit.parse(text)
    _change(document, key, value)
    return tomlkit.dumps(document)


def _change(table: Any, key: Key, value: Any) -> None:
    for name in key[:-1]:
        if name not in table:
            table[name] = {} if isinstance(table, dict) and not isinstance(table, Item) else tomlkit.inline_table()
        table = table[name]
    if value is ABSENT:
        del table[key[-1]]
    else:
        table[key[-1]] = value


def _inserted(text: str, key: Key, value: Any) -> str:
    """Right below the header of its table: what stands at the end of a table may be a comment on the next one."""
    line = f"{tomlkit.key(key[-1]).as_string()} = {tomlkit.item(value).as_string()}\n"
    if len(key) == 1:
        return line + text
    if (end := _header_end(text, key[:-1])) is not None:
        return f"{text[:end].rstrip(_NEWLINE)}\n{line}{text[end:]}"
    before = f"{text.rstrip(_NEWLINE)}\n\n" if text.strip() else ""
    header = ".".join(tomlkit.key(name).as_string() for name in key[:-1])
    return f"{before}[{header}]\n{line}"


def _header_end(text: str, table: Key) -> int | None:
    """Where the line ends with the header of `table`, if it has one."""
    alone: Any = {}
    for name in reversed(table):
        alone = {name: alone}
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if line.lstrip().startswith("["):
            with suppress(ValueError):
                if tomllib.loads(line) == alone:
                    return end
    return None


def _text(content: bytes, name: str, owner: OwnerFiles) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = str(owner.path(name))
        raise SeveralProblemsError(place, [f"{place}: this is not UTF-8 text. Save the file as UTF-8."]) from error


def _table(text: str, name: str, owner: OwnerFiles) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = str(owner.path(name))
        raise SeveralProblemsError(place, check(text, Settings, place)[1]) from error
