from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.history import Exchange
from appliance.thinking.prompt import Message, fill_in, messages, shorter_and_shorter

NOW = datetime(2026, 11, 30, 7, 5)  # noqa: DTZ001  the local time, as a clock on the wall shows it

exchanges = st.builds(Exchange, st.text(max_size=20), st.text(max_size=20), st.text(max_size=20), st.booleans())
conversations = st.builds(
    lambda before, question: [*before, Exchange(question)], st.lists(exchanges), st.text("abc", min_size=1)
)


def test_the_places_are_filled_in() -> None:
    text = fill_in("It is {time} on {date} in the {room}. Speak {language}.", NOW, "kitchen", "en")
    assert text == "It is 07:05 on Monday 2026-11-30 in the kitchen. Speak en."


@pytest.mark.parametrize("wrong", ["{weather}", "{}", "{time:>9}", "{time!r}", "{", "}"])
def test_a_place_that_there_is_not_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"none of \{date\}|[Ss]ingle|expected"):
        fill_in(f"It is {wrong}.", NOW, "", "en")


def test_a_reply_is_told_as_far_as_it_was_heard() -> None:
    told = messages(
        "Be kind.",
        [
            Exchange("who was Ada Lovelace", "A mathematician. She wrote programs.", "A mathematician.", True),
            Exchange("stop", "", "", False),
            Exchange("when did she live"),
        ],
        1000,
    )
    assert told == [
        Message("system", "Be kind."),
        Message("user", "who was Ada Lovelace"),
        Message("assistant", "A mathematician. —"),
        Message("user", "stop\nwhen did she live"),
    ]


@given(conversations, st.integers(0, 200))
def test_user_and_model_take_turns_and_the_question_is_told(conversation: list[Exchange], limit: int) -> None:
    system, *told = messages("Be kind.", conversation, limit)
    assert system == Message("system", "Be kind.")
    assert [message.role for message in told] == ["user", "assistant"] * (len(told) // 2) + ["user"]
    assert told[-1].content.endswith(conversation[-1].question)


@given(conversations, st.integers(0, 200))
def test_no_more_is_told_than_the_limit_but_for_the_question(conversation: list[Exchange], limit: int) -> None:
    _, *told = messages("Be kind.", conversation, limit)
    said = sum(len(message.content.replace("\n", "").replace(" —", "")) for message in told)
    assert said <= max(limit, len(conversation[-1].question))


@given(conversations, st.integers(0, 300))
def test_what_is_too_long_is_told_shorter_each_time_down_to_the_question(
    conversation: list[Exchange], limit: int
) -> None:
    tellings = list(shorter_and_shorter("Be kind.", conversation, limit))
    lengths = [sum(len(message.content) for message in told) for told in tellings]
    assert tellings[0] == messages("Be kind.", conversation, limit)
    assert tellings[-1] == messages("Be kind.", conversation, 0)
    assert all(later < earlier for earlier, later in pairwise(lengths))
    assert len(tellings) <= max(limit, 1).bit_length() + 1


def test_a_long_conversation_is_halved() -> None:
    conversation = [Exchange("q" * 10, "r" * 90, "r" * 90)] * 8 + [Exchange("why")]
    kept = [len(told) // 2 - 1 for told in shorter_and_shorter("Be kind.", conversation, 100_000)]
    assert kept == [8, 3, 1, 0], "exchanges before the question"
