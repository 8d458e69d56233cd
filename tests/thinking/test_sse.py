"""Events come out of a stream of bytes as they were put in, however it is cut and whatever its lines end with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from appliance.thinking.sse import LONGEST, SseDecoder, SseEvent, TooLongError
from tests.thinking.cuts import cut

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)
NOTHING = st.sampled_from(["", ":", ": ping", "id: 7", "retry: 10", "unknown", "unknown: field"])


def events(*pieces: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + list(decoder.finish())


def data(*pieces: bytes) -> list[str]:
    return [event.data for event in events(*pieces)]


@st.composite
def streams(draw: DrawFn) -> tuple[bytes, list[SseEvent]]:
    """A stream, and what was put into it."""
    sent, lines = [], []
    for _ in range(draw(st.integers(0, 4))):
        name, texts = draw(LINE), draw(st.lists(LINE, min_size=1, max_size=3))
        sent.append(SseEvent("\n".join(texts), name))
        lines += draw(st.lists(NOTHING.filter(bool), max_size=2))
        lines += [f"event: {name}", *(f"data: {text}" for text in texts), ""]
        lines += draw(st.lists(NOTHING, max_size=2))
    stream = draw(st.sampled_from(["", "\ufeff"]))
    for line in lines:
        swallowed = not line and stream.endswith("\r")  # an LF, which would belong to the CR before it
        stream += line + draw(st.sampled_from(["\r", "\r\n"] if swallowed else ["\n", "\r", "\r\n"]))
    return stream.encode(), sent


@given(streams(), st.data())
def test_what_was_sent_arrives_however_it_is_cut(stream: tuple[bytes, list[SseEvent]], draws: DataObject) -> None:
    whole, sent = stream
    assert events(*draws.draw(cut(whole))) == sent


@given(st.binary(max_size=200) | st.text("data: \r\n:é", max_size=60).map(str.encode), st.data())
def test_anything_at_all_means_the_same_however_it_is_cut(whole: bytes, draws: DataObject) -> None:
    assert events(*draws.draw(cut(whole))) == events(whole)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data: a\n\ndata: b\n", ["a", "b"]),
        (b"data: a\n\ndata: b", ["a", "b"]),
        (b": ping\n\n:\n\ndata: a\n\n", ["a"]),
        (b":\n\n" * 50, []),
        (b"data: a\n: in between\ndata: b\n\n", ["a\nb"]),
        (b"data:a\n\ndata:  a\n\n", ["a", " a"]),
        (b"data\n\ndata:\n\n", ["", ""]),
        (b"event: nothing\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: \xef\xbb\xbfa\n\n\xef\xbb\xbfdata: b\n\n", ["\ufeffa"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        ("data: a\u2028b\x0bc\n\n".encode(), ["a\u2028b\x0bc"]),
        (b"", []),
    ],
)
def test_what_is_data_and_what_is_not(stream: bytes, expected: list[str]) -> None:
    assert data(stream) == expected


def test_an_event_has_the_name_that_it_was_given() -> None:
    assert events(b"event: error\ndata: a\n\ndata: b\n\n") == [SseEvent("a", "error"), SseEvent("b")]


def test_an_event_is_there_as_soon_as_its_empty_line_is() -> None:
    decoder = SseDecoder()
    assert list(decoder.feed(b"data: a\r\n\r")) == [SseEvent("a")]
    assert list(decoder.feed(b"\ndata: b\r\n\r\n")) == [SseEvent("b")]


def test_a_character_may_be_cut() -> None:
    assert data(b"data: \xf0\x9f", b"\x98", b"\x80\n\n") == ["😀"]


@pytest.mark.parametrize(
    ("begin", "piece"),
    [(b"data: ", b"x" * 65_536), (b": ", b"x" * 65_536), (b"", b"data: %s\n" % (b"x" * 65_536))],
    ids=["line", "comment", "event"],
)
def test_what_has_no_end_is_given_up_and_what_came_before_is_not_lost(begin: bytes, piece: bytes) -> None:
    decoder = SseDecoder()
    found: list[SseEvent] = []

    def feed_all() -> None:
        for part in (b"data: before\n\n" + begin, *[piece] * (LONGEST // len(piece) + 2)):
            found.extend(decoder.feed(part))

    with pytest.raises(TooLongError):
        feed_all()
    assert found == [SseEvent("before")]
