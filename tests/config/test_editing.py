"""A change in a file changes just that, and leaves what people wrote around it."""

import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.config.disk import Disk
from appliance.config.editing import file_of, is_in, with_values, without
from appliance.config.keys import Key, all_keys, leaves
from appliance.config.owner import OwnerFiles
from appliance.errors import ApplianceError, SeveralProblemsError

OWNER = OwnerFiles(Path("/etc/appliance/appliance.toml"), Disk())
MAIN = "appliance.toml"
DOCUMENTED = (Path(__file__).parents[2] / "config/appliance.toml").read_text()


def set_in(text: str, *pairs: tuple[Key, Any]) -> str:
    return with_values({MAIN: text.encode()}, pairs, OWNER)[MAIN].decode()


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "wake.threshold", 0.6, "[wake]\nthreshold = 0.6\n"),
        ("", "language", "ko", 'language = "ko"\n'),
        ("# mine\n", "wake.threshold", 0.6, "# mine\n\n[wake]\nthreshold = 0.6\n"),
        ("[wake] # w\n\n# a\nthreshold=0.5#b\n", "wake.threshold", 0.6, "[wake] # w\n\n# a\nthreshold=0.6#b\n"),
        (
            "[wake]\nthreshold = 0.5\n\n# of the button\n[button]\npin = 4\n",
            "wake.refractory",
            2.0,
            "[wake]\nrefractory = 2.0\nthreshold = 0.5\n\n# of the button\n[button]\npin = 4\n",
        ),
        ("[button]\npin = 4\n", "profile", "none", 'profile = "none"\n[button]\npin = 4\n'),
        ("wake.threshold = 0.5\n", "wake.words", ["a"], 'wake.threshold = 0.5\nwake.words = ["a"]\n'),
        ("wake = {threshold = 0.5}\n", "wake.threshold", 0.6, "wake = {threshold = 0.6}\n"),
        ("[wake]", "wake.threshold", 0.6, "[wake]\nthreshold = 0.6\n"),
        ("[wake]\r\nthreshold = 0.5\r\n", "wake.threshold", 0.6, "[wake]\r\nthreshold = 0.6\r\n"),
        (
            "[wake.thresholds]\nalexa = 0.7\n",
            "wake.threshold",
            0.6,
            "[wake.thresholds]\nalexa = 0.7\n\n[wake]\nthreshold = 0.6\n",
        ),
        ('[llm]\nroom = """\n[wake]\n"""\n', "wake.threshold", 0.6, '[llm]\nroom = """\n[wake]\n"""\n'),
    ],
)
def test_a_value_is_put_where_it_belongs(before: str, key: str, value: object, after: str) -> None:
    text = set_in(before, (tuple(key.split(".")), value))
    assert text == after or (before == after and text.startswith(after) and tomllib.loads(text)["wake"])


def test_the_documented_file_keeps_every_other_line() -> None:
    for key, type_ in all_keys():
        if "dict" in str(type_):
            key = (*key, "alexa")
        changed = set_in(DOCUMENTED, (key, 987)).splitlines()
        here = DOCUMENTED.splitlines()
        new = [line for line in changed if line not in here]
        assert new == [f"{key[-1]} = 987"]
        assert len(changed) - len(here) == (key[-1] == "alexa")


def test_the_file_is_the_one_in_which_the_key_is_in_force() -> None:
    files = {
        "appliance.toml.d/20.toml": b"[wake]\nthreshold = 0.3\n",
        MAIN: b"[wake]\nthreshold = 0.1\nrefractory = 1\n",
        "appliance.toml.d/10.toml": b"[wake]\nthreshold = 0.2\n[llm]\nroom = 'x'\n",
    }
    after = with_values(
        files,
        [(("wake", "threshold"), 0.6), (("llm", "room"), "den"), (("wake", "refractory"), 2), (("language",), "en")],
        OWNER,
    )
    assert after == {
        "appliance.toml.d/20.toml": b"[wake]\nthreshold = 0.6\n",
        MAIN: b'language = "en"\n[wake]\nthreshold = 0.1\nrefractory = 2\n',
        "appliance.toml.d/10.toml": b'[wake]\nthreshold = 0.2\n[llm]\nroom = "den"\n',
    }
    assert file_of(files, ("button", "pin"), OWNER) is None
    assert without(files, [("wake", "threshold"), ("button", "pin")], OWNER) == {
        "appliance.toml.d/20.toml": b"[wake]\n",
        MAIN: b"[wake]\nrefractory = 1\n",
        "appliance.toml.d/10.toml": b"[wake]\n[llm]\nroom = 'x'\n",
    }
    assert without(files, [("wake",)], OWNER)["appliance.toml.d/10.toml"] == b"[llm]\nroom = 'x'\n"


@pytest.mark.parametrize("content", [b"= 3", b"\xff", b"[" * 100_000, b"x = " + b"9" * 5000])
def test_what_is_no_toml_is_said_with_its_file(content: bytes) -> None:
    with pytest.raises(SeveralProblemsError) as caught:
        with_values({MAIN: content}, [(("wake", "threshold"), 0.6)], OWNER)
    assert str(caught.value).startswith("/etc/appliance/appliance.toml")


def test_what_a_file_has_in_the_way_is_said() -> None:
    with pytest.raises(ApplianceError, match=r"cannot be changed in it\. Use: appliance config edit"):
        set_in("wake = 3\n", (("wake", "threshold"), 0.6))


KEYS: list[Key] = [("language",), ("wake", "threshold"), ("wake", "thresholds", "alexa"), ("llm", "room"), ("a b", "ü")]
PIECES = st.sampled_from(
    [
        "# c\n",
        "\n",
        "language = 'en'\n",
        "wake.threshold = 0.5 # t\n",
        "wake.thresholds.timer = 0.5\n",
        "wake = {threshold = 0.5, thresholds = {}}\n",
        "[wake]\n",
        "[wake] # w\nthreshold = 0.5\n",
        "threshold = 0.5\n",
        "words = [ # all\n  'alexa', # [wake]\n]\n",
        "thresholds.timer = 0.5\n",
        "thresholds = {timer = 0.5}\n",
        "[wake.thresholds]\n",
        "[wake.thresholds]\nalexa = 0.3\n",
        "[llm]\nroom = '''\n[wake]\n'''\n",
        "[llm.a]\n",
        "  [button]\n  pin = 3\r\n",
        "[[many]]\nx = 1\n",
    ]
)
VALUES = st.sampled_from([0.6, 3, True, 'a "b" \n \\ ü \x7f \x01', ["a", "b"], []])


@given(st.lists(PIECES, max_size=6).map("".join), st.sampled_from(KEYS), VALUES)
def test_just_the_one_value_changes_in_any_file(text: str, key: Key, value: object) -> None:
    try:
        wanted = tomllib.loads(text)
    except ValueError:
        return
    before = deepcopy(wanted)
    after = set_in(text, (key, value))
    here = wanted
    for name in key[:-1]:
        here = here.setdefault(name, {})
    here[key[-1]] = value
    assert tomllib.loads(after) == wanted
    assert comments(text) <= comments(after) | ({"all", "[wake]"} if key[-1] == "words" else set())
    gone = without({MAIN: after.encode()}, [key], OWNER)[MAIN].decode()
    assert not is_in(tomllib.loads(gone), key)
    rest = [each for each, _ in leaves(before) if each[: len(key)] != key]
    assert all(is_in(tomllib.loads(gone), each) for each in rest)


def comments(text: str) -> set[str]:
    return {line.partition("# ")[2].strip() for line in text.splitlines() if "# " in line}
