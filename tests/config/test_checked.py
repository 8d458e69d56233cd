"""What is wrong with an input is said at once, all of it, each with its line, what is allowed, and what was meant."""

import enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.config.checked import decode
from appliance.errors import BadInputError, SeveralProblemsError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Say(msgspec.Struct, frozen=True):
    file: str
    at: Annotated[float, msgspec.Meta(ge=0)] | None = None
    after: Literal["ready", "wake", "reply"] | None = None
    times: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1

    def __post_init__(self) -> None:
        if self.at is not None and self.after is not None:
            raise ValueError("has both at and after")


class Room(msgspec.Struct, frozen=True):
    gain_db: Annotated[float, msgspec.Meta(ge=-60, le=20)] = 0.0
    colour: Colour = Colour.RED
    quiet: bool = False


class Scenario(msgspec.Struct, frozen=True):
    title: str
    say: list[Say] = []
    room: Room = Room()
    words: dict[str, Annotated[float, msgspec.Meta(gt=0, lt=1)]] = {}
    tags: Annotated[tuple[str, ...], msgspec.Meta(max_length=2)] = ()
    limit: float | Literal["none"] = "none"
    code: Annotated[str, msgspec.Meta(min_length=2, max_length=3)] | None = None
    number: Annotated[str, msgspec.Meta(pattern="^[0-9]+$")] = "1"
    seats: dict[Literal["left", "right"], Room] = {}


def problems(text: str, type_: type[Any] = Scenario) -> list[str]:
    with pytest.raises(SeveralProblemsError) as caught:
        decode(text, type_, "f.toml")
    assert isinstance(caught.value, BadInputError)
    assert caught.value.status == 2
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)


def test_a_good_input_becomes_its_value() -> None:
    text = """
        title = "x"
        say = [{file = "a", at = 1}, {file = "b", after = "wake"}]
        room.colour = "blue"
        words = {alexa = 0.5}
        tags = ["a", "b"]
        limit = 3
        [seats.left]
        quiet = true
    """
    assert decode(text, Scenario, "f.toml") == Scenario(
        title="x",
        say=[Say("a", at=1.0), Say("b", after="wake")],
        room=Room(colour=Colour.BLUE),
        words={"alexa": 0.5},
        tags=("a", "b"),
        limit=3.0,
        seats={"left": Room(quiet=True)},
    )


def test_all_problems_are_reported_at_once_in_the_order_of_the_text() -> None:
    text = """\
titel = "x"
tags = ["a",
  3]
[[say]]
file = "a.wav"
at = -1
after = "redy"
[[say]]
times = 1.5
[[say]]
file = true
at = "now"
[[say]]
file = "b"
at = 1
after = "wake"
[room]
gain_db = 100
colour = "Blu"
[words]
alexa = 1
[seats.lift]
"""
    keys = '"code", "limit", "number", "room", "say", "seats", "tags", "title" or "words"'
    assert problems(text) == [
        f'f.toml:1: titel = "x": is not known here; allowed: {keys}; did you mean "title"?',
        "f.toml:1: title: is missing; allowed: text",
        "f.toml:3: tags = 3: is a number; allowed: text",
        "f.toml:6: say.at = -1: is out of range; allowed: a number, at least 0",
        'f.toml:7: say.after = "redy": is not known; allowed: "ready", "reply" or "wake"; did you mean "ready"?',
        "f.toml:8: say.file: is missing; allowed: text",
        "f.toml:9: say.times = 1.5: is not a whole number; allowed: a whole number from 1 to 9",
        "f.toml:11: say.file = true: is true or false; allowed: text",
        'f.toml:12: say.at = "now": is text; allowed: a number, at least 0',
        "f.toml:13: say = {…}: has both at and after",
        "f.toml:18: room.gain_db = 100: is out of range; allowed: a number from -60 to 20",
        'f.toml:19: room.colour = "Blu": is not known; allowed: "red" or "blue"; did you mean "blue"?',
        "f.toml:21: words.alexa = 1: is out of range; allowed: a number, more than 0 and less than 1",
        'f.toml:22: seats.lift: cannot be a key here; allowed: "left" or "right"; did you mean "left"?',
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("say = 3", "say = 3: is a number; allowed: a list, each item a table"),
        ("room = []", "room = []: is a list; allowed: a table"),
        (
            "words = 1",
            "words = 1: is a number; allowed: a table, each entry a number, more than 0 and less than 1",
        ),
        ("say = [[]]", "say = []: is a list; allowed: a table"),
        (
            "words = {a = nan}",
            "words.a = nan: is out of range; allowed: a number, more than 0 and less than 1",
        ),
        (
            'words."hey\\njarvis" = 1',
            'words."hey\\njarvis" = 1: is out of range; allowed: a number, more than 0 and less than 1',
        ),
        ("limit = inf", 'limit = inf: is no number to work with; allowed: a number or "none"'),
        ('limit = "non"', 'limit = "non": is not known; allowed: a number or "none"; did you mean "none"?'),
        ("limit = 2020-01-01", 'limit = 2020-01-01: is a date or time; allowed: a number or "none"'),
        (
            'tags = ["a", "b", "c"]',
            'tags = ["a", "b", "c"]: does not fit; allowed: a list, each item text, length at most 2',
        ),
        ('code = "abcd"', 'code = "abcd": does not fit; allowed: text, length at least 2 and at most 3'),
        ('number = ""', 'number = "": does not fit; allowed: text like ^[0-9]+$'),
        (
            'limit = "n\\u0007\ufeffn"',
            'limit = "n\\u0007\\ufeffn": is not known; allowed: a number or "none"',
        ),
        ("room.quiet = 1", "room.quiet = 1: is a number; allowed: true or false"),
        (
            "limit = usb",
            'limit = usb: Invalid value, at column 9; allowed: "text" in quotation marks, a number like 0.5, true or',
        ),
        (
            'title = "y"',
            'title = "y": Cannot overwrite a value, at column 12; this key is there twice: remove one of the two',
        ),
        ("room = {", "room = {: "),
    ],
)
def test_one_problem(line: str, problem: str) -> None:
    found = problems(f'title = "x"\n{line}\n')
    assert len(found) == 1
    assert found[0].startswith(f"f.toml:2: {problem}")


def test_what_the_parser_itself_cannot_take() -> None:
    assert problems("a = " + "[" * 100_000) == ["f.toml: is nested too deeply"]
    assert problems("a = " + "9" * 5000)[0].startswith("f.toml: Exceeds the limit (4300 digits)")
    assert problems('title = """')[0].startswith('f.toml:1: title = """: Unterminated string, at the end of the file')


LINES: list[tuple[str, list[str]]] = [  # good, and ways in which it goes wrong without dragging others along
    ('title = "x"', ["title = 1", "title = []", "title = {}"]),
    ("limit = 1", ['limit = "x"', "limt = 1", "limit = {}", "limit = nan"]),
    ('room.colour = "red"', ['room.colour = "rad"', "room.color = 1", "room.colour = 0x" + "f" * 5000]),
    ("[words]", []),
    ("a = 0.5", ["a = 2", "a = true", "a = [1]", "a = {b = 1}"]),
    ("[[say]]", []),
    ('file = "a"', ["file = 1", "file = 1979-05-27 07:32:00"]),
    ("at = 1", ["at = -1", "att = 1", 'at = "[[say]]"']),
    ("[[say]]", []),
    ("file = 'b'", ["file = -0.0"]),
    ("[seats.left]", ["[seats.middle]", "[seat.left]"]),
    ("quiet = true", []),
]


@given(st.data())
def test_every_reported_line_is_the_line_of_the_offending_key(data: st.DataObject) -> None:
    text, wrong = "", []
    for good, bad in LINES:
        text += data.draw(st.sampled_from(["", "\n", "# title = 1\n", "\n  "]))
        line = data.draw(st.sampled_from([good, *bad]))
        if line != good:
            wrong.append(text.count("\n") + 1)
        text += line + data.draw(st.sampled_from(["\n", " # = 2\n", "\r\n"]))
    if wrong:
        assert [int(problem.split(":")[1]) for problem in problems(text)] == wrong
    else:
        decode(text, Scenario, "f.toml")


WORDS = st.one_of(
    st.sampled_from([*Scenario.__struct_fields__, *Say.__struct_fields__, *Room.__struct_fields__, "left"]),
    st.sampled_from([".", " = ", "[", "]", "[[", "]]", "{", "}", ",", "\n", "# "]),
    st.sampled_from(['"x"', "1", "-1.5", "nan", "true", "1979-05-27", "'", '"""']),
)


@given(st.text(max_size=80) | st.lists(WORDS, max_size=20).map("".join))
def test_any_text_gives_a_value_or_bad_input(text: str) -> None:
    try:
        assert isinstance(decode(text, Scenario, "f.toml"), Scenario)
    except BadInputError as error:
        message = str(error)
    else:
        return
    assert all(line.startswith("f.toml:") for line in message.split("\n"))


VALUES: st.SearchStrategy[str] = st.recursive(
    st.sampled_from(["1", "-1.5", "nan", "true", '"wake"', "1979-05-27", "07:32:00", "9" * 400, "1e999"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(["file", "at", "left", "quiet"]), inner, max_size=3).map(
            lambda items: f"{{{', '.join(f'{key} = {item}' for key, item in items.items())}}}"
        )
    ),
    max_leaves=6,
)


@given(st.sampled_from(Scenario.__struct_fields__), VALUES)
def test_any_value_of_a_known_key_is_taken_or_refused_in_one_line_each(key: str, value: str) -> None:
    try:
        assert isinstance(decode(f"{key} = {value}", Scenario, "f.toml"), Scenario)
    except SeveralProblemsError as error:
        found = error.problems
    else:
        return
    assert all(problem.startswith("f.toml:1: ") and "\n" not in problem for problem in found)
