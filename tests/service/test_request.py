"""What a request says, and what is said of one that says nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import BadInputError
from appliance.service.request import (
    COMMANDS,
    GESTURES,
    LONGEST,
    LONGEST_TEXT,
    Apply,
    Forget,
    Press,
    Say,
    Servers,
    Status,
    Trust,
    Watch,
    encode,
    parse,
    press,
)

SAID = 300
"""Characters of the longest answer that is still one to read."""

words = st.sampled_from([*COMMANDS, "gesture", "command", "text", "name", *GESTURES]) | st.text()
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner) | st.dictionaries(words, inner),
)


@given(st.sampled_from(sorted(GESTURES)))
def test_what_is_encoded_is_one_line_that_says_the_same(gesture: str) -> None:
    line = encode(press(gesture))
    assert line.index(b"\n") == len(line) - 1
    assert len(line) <= LONGEST
    assert parse(line) == Press(gesture)


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_is_a_request_or_one_readable_line_of_error(line: bytes) -> None:
    try:
        request = parse(line)
    except BadInputError as error:
        said = str(error)
    else:
        assert parse(encode(request)) == request
        said = request.command
    assert len(said.splitlines()) == 1
    assert len(said) < SAID


def test_a_tap_is_what_is_meant_by_a_press() -> None:
    assert parse(b'{"command": "press"}') == Press("tap")


@pytest.mark.parametrize("request_", [Servers(), Status(), Apply(), Watch()])
def test_asking_how_things_are_is_one_line_too(request_: Servers | Status | Apply | Watch) -> None:
    assert encode(request_) == b'{"command":"%s"}\n' % request_.command.encode()
    assert parse(encode(request_)) == request_


@pytest.mark.parametrize("request_", [Say("Guten Tag, 你好!"), Say("x" * LONGEST_TEXT), Trust("den"), Forget("den")])
def test_what_has_words_is_one_line_too(request_: Say | Trust | Forget) -> None:
    assert encode(request_).index(b"\n") == len(encode(request_)) - 1
    assert parse(encode(request_)) == request_


def test_what_is_to_be_said_is_one_line() -> None:
    assert parse(b'{"command": "say", "text": " It is\\n noon. "}') == Say("It is noon.")


def test_the_longest_text_fits_however_it_is_encoded() -> None:
    parse(json.dumps({"command": "say", "text": "\u4f60" * LONGEST_TEXT}).encode())


@pytest.mark.parametrize(
    ("line", "found", "allowed"),
    [
        (
            b'{"command": "severs"}',
            'there is no command "severs"; did you mean "servers"?',
            '"press", "say", "servers", "trust", "forget", "status", "apply" or "watch"',
        ),
        (b'{"command": "servers", "gesture": "tap"}', 'there is no key "gesture"', '"command"'),
        (b'{"command": "pres"}', 'there is no command "pres"; did you mean "press"?', '"press"'),
        (b'{"gesture": "tap"}', 'there is no command ""', '"press"'),
        (b'{"command": "press", "gesture": "dubble"}', 'did you mean "double"?', '"tap", "double" or "hold"'),
        (b'{"command": "press", "gesture": ["tap"]}', 'there is no gesture ["tap"]', '"tap", "double" or "hold"'),
        (
            b'{"command": "press", "gestrue": "double"}',
            'did you mean "gesture"?',
            '"gesture", "seconds", "command", "text" or "name"',
        ),
        (b"GET / HTTP/1.1", '"GET / HTTP/1.1" cannot be understood', '{"gesture":"tap","command":"press"}'),
        (b"[" * 500 + b"]" * 500, "cannot be understood", "one line"),
        (b"\xff\x00", "cannot be understood", "one line"),
        (b'["press"]', "cannot be understood", "one line"),
        (b"", "cannot be understood", "one line"),
        (b'{"command": "say", "text": " \\n "}', "cannot be said", "text of up to 500 characters"),
        (b'{"command": "say", "text": 7}', "7 cannot be said", "text of up to 500 characters"),
        (b'{"command": "say", "text": "\\u001b[2J"}', "cannot be said", "text of up to 500 characters"),
        (b'{"command": "say", "text": "%s"}' % (b"x" * 501), "cannot be said", "text of up to 500 characters"),
        (b'{"command": "trust"}', '"" is no name', "up to 128 letters"),
        (b'{"command": "forget", "name": "%s"}' % (b"x" * 129), "is no name", "up to 128 letters"),
        (b'{"command": "watch", "name": "den"}', 'there is no key "name"', '"command"'),
        (b" " * (LONGEST + 1), "too long", "4,096 bytes"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(line: bytes, found: str, allowed: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse(line)
    assert found in str(caught.value)
    assert f"Allowed: {allowed}" in str(caught.value) or f"Allowed: one line like {allowed}" in str(caught.value)
