import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.simulation.drawing import Drawing, Rows, shorten, width_of, wrap


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_drawn(text: str) -> None:
    drawing = Drawing()
    drawing.text(0, 0, text)
    drawing.box(0, 0, 1, 1, "red", text)
    root = ET.fromstring(drawing.svg(10, 10, Drawing()))  # noqa: S314  # our own
    shown = [element.text or "" for element in root.iter() if element.tag.endswith(("}text", "}title"))]
    assert shown[0] == shown[1]
    assert shown[0] == "".join(letter if letter.isprintable() else " " for letter in text)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=40), st.integers(1, 5))
def test_what_is_placed_never_covers_anything(spans: list[tuple[int, int]], most: int) -> None:
    rows = Rows(most)
    placed: list[tuple[int, int, int]] = []
    for begin, width in sorted(spans):
        row = rows.place(begin, begin + width)
        if row is not None:
            assert row < most
            assert all(other != row or end <= begin or begin + width <= start for other, start, end in placed)
            placed.append((row, begin, begin + width))
    assert len(rows) == len({row for row, _, _ in placed})


@settings(deadline=None)
@given(st.text(), st.floats(20, 400), st.integers(1, 4))
def test_shortened_and_wrapped_text_fits(text: str, width: float, most: int) -> None:
    assert width_of(shorten(text, width)) <= width
    lines = wrap(text, width, most)
    assert len(lines) <= most
    assert all(width_of(line) <= width for line in lines)


def test_text_that_fits_stays_as_it_is() -> None:
    assert shorten("what time is it", 200) == "what time is it"
    assert wrap("what time is it", 60, 9) == ["what", "time is", "it"]
    assert wrap("what time is it", 60, 2) == ["what", "time is…"]
