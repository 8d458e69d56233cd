"""The documented default is the default, and documents everything that can be set."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from appliance.config import wording
from appliance.config.checked import decode
from appliance.config.lines import KeyPath, line_of
from appliance.config.schema import Settings

FILE = Path(__file__).parents[2] / "config/appliance.toml"
TEXT = FILE.read_text()


def fields(type_: type[msgspec.Struct], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """The path and the type of everything that can be set, tables too."""
    for each in msgspec.structs.fields(type_):
        here = (*path, each.encode_name)
        yield here, each.type
        if isinstance(each.type, type) and issubclass(each.type, msgspec.Struct):
            yield from fields(each.type, here)


def comment_above(path: KeyPath) -> str:
    """The lines of comment right above what lies at `path`."""
    before = TEXT.split("\n")[: line_of(TEXT, path) - 1]
    first = len(before)
    while before[first - 1].startswith("# "):
        first -= 1
    return "\n".join(line.removeprefix("# ") for line in before[first:])


def documented(type_: Any) -> str:
    """What the comment above a key of this type says."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return str(type_.__doc__)
    meta = next(part for part in get_args(type_) if isinstance(part, msgspec.Meta))
    return f"{meta.description}\nAllowed: {wording.allowed(type_)}."


def test_the_documented_default_is_the_default_and_leaves_nothing_out() -> None:
    assert decode(TEXT, Settings, "appliance.toml") == Settings()
    assert tomllib.loads(TEXT) == msgspec.json.decode(msgspec.json.encode(Settings()))


@pytest.mark.parametrize(
    ("path", "type_"), list(fields(Settings)), ids=lambda value: ".".join(value) if isinstance(value, tuple) else ""
)
def test_every_key_is_explained_with_its_unit_and_limits(path: KeyPath, type_: Any) -> None:
    assert comment_above(path) == documented(type_)


def test_the_defaults_are_within_their_own_limits() -> None:
    assert msgspec.convert(msgspec.to_builtins(Settings()), Settings) == Settings()
