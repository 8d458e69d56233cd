"""What a model thinks is not said, wherever its text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from appliance.thinking.reasoning import ReasoningFilter
from tests.thinking.cuts import cut


def said(*pieces: str) -> str:
    reasoning = ReasoningFilter()
    return "".join(reasoning.feed(piece) for piece in pieces) + reasoning.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good morning.", "Good morning."),
        ("<think>hm</think>Good morning.", "Good morning."),
        ("<think></think>Good morning.", "Good morning."),
        ("Good <think>hm</think>morning<think>hm</think>.", "Good morning."),
        ("<think>hm", ""),
        ("Good morning. <think>hm", "Good morning. "),
        ("<think>a <think> b </think>Good morning.", "Good morning."),
        ("</think>Good morning.", "Good morning."),
        ("<think>hm</think", ""),
        ("a < b, a </ b, a <th b", "a < b, a </ b, a <th b"),
        ("a <", "a <"),
        ("a <think", "a <think"),
        ("a <<think>hm</think>", "a <"),
        ("<thinking>", "<thinking>"),
    ],
)
def test_only_what_is_outside_is_said(text: str, expected: str) -> None:
    assert said(text) == expected
    assert said(*text) == expected


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", "a", "\n"])).map("".join), st.data())
def test_it_is_the_same_however_it_is_cut(text: str, draws: DataObject) -> None:
    assert said(*draws.draw(cut(text))) == said(text)


def test_what_cannot_be_a_tag_is_not_held_back() -> None:
    reasoning = ReasoningFilter()
    assert [reasoning.feed(piece) for piece in ("a <", "th", " b")] == ["a ", "", "<th b"]
