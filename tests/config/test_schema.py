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
from appliance.config.schema import Settings, Wake

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


def test_a_wake_word_of_ones_own_is_called_by_its_stem() -> None:
    wake = Wake(words=("alexa", "/etc/appliance/wake/computer.onnx"), thresholds={"computer": 0.7})
    assert wake.names == ("alexa", "computer")
    assert wake.installed == ("alexa",)
    assert wake.files == ("/etc/appliance/wake/computer.onnx",)
    assert wake.scores == {"alexa": 0.5, "/etc/appliance/wake/computer.onnx": 0.7}
    assert not list(Settings(wake=wake).contradictions())


def test_wake_words_have_names_of_their_own_and_files_are_paths_from_the_root() -> None:
    wrong = [each.wrong for each in Settings(wake=Wake(words=("a.onnx", "/x/a.onnx", "b"))).contradictions()]
    assert wrong == ['"a.onnx" is no path from / on', 'has two wake words called "a"']
