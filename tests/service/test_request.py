"""What a request says, and what is said of one that says nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import BadInputError
from appliance.service.request import GESTURES, LONGEST, Press, Servers, Status, encode, parse, press

SAID = 300
"""Characters of the longest answer that is still one to read."""

words = st.sampled_from(["press", "servers", "gesture", "command", *GESTURES]) | st.text()
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
        said = request.gesture if isinstance(request, Press) else request.command
        assert said in {*GESTURES, "servers", "status"}
    assert len(said.splitlines()) == 1
    assert len(said) < SAID


def test_a_tap_is_what_is_meant_by_a_press() -> None:
    assert parse(b'{"command": "press"}') == Press("tap")


@pytest.mark.parametrize("request_", [Servers(), Status()])
def test_asking_how_things_are_is_one_line_too(request_: Servers | Status) -> None:
    assert encode(request_) == b'{"command":"%s"}\n' % request_.command.encode()
    assert parse(encode(request_)) == request_


@pytest.mark.parametrize(
    ("line", "found", "allowed"),
    [
        (
            b'{"command": "severs"}',
            'there is no command "severs"; did you mean "servers"?',
            '"press", "servers" or "status"',
        ),
        (b'{"command": "servers", "gesture": "tap"}', 'there is no key "gesture"', '"command"'),
        (b'{"command": "pres"}', 'there is no command "pres"; did you mean "press"?', '"press"'),
        (b'{"gesture": "tap"}', 'there is no command ""', '"press"'),
        (b'{"command": "press", "gesture": "dubble"}', 'did you mean "double"?', '"tap", "double" or "hold"'),
        (b'{"command": "press", "gesture": ["tap"]}', 'there is no gesture ["tap"]', '"tap", "double" or "hold"'),
        (b'{"command": "press", "gestrue": "double"}', 'did you mean "gesture"?', '"gesture" or "command"'),
        (b"GET / HTTP/1.1", '"GET / HTTP/1.1" cannot be understood', '{"gesture":"tap","command":"press"}'),
        (b"[" * 500 + b"]" * 500, "cannot be understood", "one line"),
        (b"\xff\x00", "cannot be understood", "one line"),
        (b'["press"]', "cannot be understood", "one line"),
        (b"", "cannot be understood", "one line"),
        (b" " * (LONGEST + 1), "too long", "1,000 bytes"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(line: bytes, found: str, allowed: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse(line)
    assert found in str(caught.value)
    assert f"Allowed: {allowed}" in str(caught.value) or f"Allowed: one line like {allowed}" in str(caught.value)
