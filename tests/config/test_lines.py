"""The scanner against `tomllib`: it finds the very keys that are there, and each in its line."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.config.lines import KeyPath, line_of, offsets, order_of

EVERYTHING = '''\
# a comment = 1
title = "a # no comment" # a comment
plain.dotted . "quoted.key" = 1979-05-27 07:32:00
text = """
[[say]] \\""" = "
"""""
raw = \'\'\'
[room] 'x' \'\'\'
"key \\u00e9\\"" = 'C:\\'
numbers = [1, 2.5e3, # one
  [true, "]"], {x = 1, y.z = [
    "}"]}, ]
empty = {}
none = []

[[say]]
file = "a.wav"
[[press]]
[[say]]
file = "b.wav"
  [say.room.noise]
  level = +1_000
  [[say.part]]
  a = 1
  [[say.part]]
a = 2
[x.y]
[x]
z=inf'''


def paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    """All paths of a decoded document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(paths(item, (*path, key)) for key, item in entries))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_of_a_document_full_of_traps_is_found(newline: str) -> None:
    text = EVERYTHING.replace("\n", newline)
    assert set(offsets(text)) == paths(tomllib.loads(text))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("title",), 2),
        (("plain", "dotted", "quoted.key"), 3),
        (("text",), 4),
        (("raw",), 7),
        (('key é"',), 9),
        (("numbers", 1), 10),
        (("numbers", 2, 1), 11),
        (("numbers", 3, "y", "z", 0), 12),
        (("none",), 14),
        (("say", 0), 16),
        (("say", 0, "file"), 17),
        (("press", 0), 18),
        (("say", 1, "file"), 20),
        (("say", 1, "room", "noise", "level"), 22),
        (("say", 1, "part", 1, "a"), 26),
        (("x", "y"), 27),
        (("x",), 28),
        (("x", "z"), 29),
        (("say", 1, "absent", 3), 19),
        (("absent",), 1),
    ],
)
def test_the_line_of_a_key_or_of_what_is_around_it(path: KeyPath, line: int) -> None:
    assert line_of(EVERYTHING, path) == line


def test_entries_of_several_lists_come_in_the_order_of_the_text() -> None:
    assert order_of(EVERYTHING, ["press", "say", "expect"]) == [("say", 0), ("press", 0), ("say", 1)]
    assert order_of("b = [{}, {}]\na = [{}]", ["a", "b"]) == [("b", 0), ("b", 1), ("a", 0)]


PIECES = st.one_of(
    st.sampled_from(["a", "b.c", "'d'", '"e"', " = ", "=", "[", "]", "[[", "]]", "{", "}", ",", "\n", "# c\n", " "]),
    st.sampled_from(["1", '"x"', "'''y\n'''", '"""z\\"""""', "true", "1979-05-27", "[1, {a = 2}]\n"]),
    st.sampled_from(["a = 1\n", "[a]\n", "[[b]]\n", "[b.c]\n"]),
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=60))
def test_whatever_tomllib_accepts_is_scanned_alike(text: str) -> None:
    try:
        found = tomllib.loads(text)
    except ValueError:
        return
    assert set(offsets(text)) == paths(found)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=5) | st.sampled_from(["a", "]", "#"])
VALUES: st.SearchStrategy[object] = st.recursive(
    st.integers(-9, 9) | st.booleans() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def inline(value: object) -> str:
    """`value` as TOML, its lists spread over lines."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {inline(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return "[" + "".join(f"\n  {inline(item)}, # ]" for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.lists(st.dictionaries(TEXTS, VALUES, max_size=2), max_size=3))
def test_written_documents_are_scanned_key_by_key_and_line_by_line(table: dict[str, Any], tables: list[Any]) -> None:
    text, lines = "", {}
    for index, each in enumerate([table, *tables]):
        header: KeyPath = ("tables", index - 1) if index else ("table",)
        lines[header] = text.count("\n") + 1
        text += "[[tables]]\n" if index else "[table]\n"
        for key, value in each.items():
            lines[*header, key] = text.count("\n") + 1
            text += f"{json.dumps(key, ensure_ascii=False)} = {inline(value)}\n"
    assert set(offsets(text)) == paths(tomllib.loads(text))
    assert {path: line_of(text, path) for path in lines} == lines
