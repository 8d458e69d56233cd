"""Bytes and texts in pieces, cut anywhere."""

from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T", str, bytes)


def cut(whole: T) -> SearchStrategy[list[T]]:
    """Pieces of `whole` in order, some of them empty, often each of a single byte."""

    @st.composite
    def pieces(draw: DrawFn) -> list[T]:
        if draw(st.booleans()):
            return [whole[i : i + 1] for i in range(len(whole))]
        at: list[int] = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=8)))
        return [whole[start:end] for start, end in zip([0, *at], [*at, len(whole)], strict=True)]

    return pieces()
