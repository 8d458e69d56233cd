"""What was heard, and what "repeat that" and "go on" mean by it."""

from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.history import LENGTH, Exchange, History

REPLY = "It's noon. It's Monday."


def interrupted() -> History:
    history = History()
    history.ask(1, "what time is it")
    history.reply(1, REPLY)
    history.replied(1, "It's noon. It's", "It's Monday.", interrupted=True)
    return history


def test_a_reply_heard_to_its_end_leaves_no_rest() -> None:
    history = History()
    history.ask(1, "what time is it")
    history.reply(1, REPLY)
    history.replied(1, REPLY, "", interrupted=False)
    assert history.exchanges == (Exchange("what time is it", REPLY, REPLY),)
    assert (history.last_reply, history.rest) == (REPLY, "")


def test_an_interrupted_reply_is_known_whole_and_as_it_was_heard() -> None:
    history = interrupted()
    assert history.exchanges == (Exchange("what time is it", REPLY, "It's noon. It's", interrupted=True),)
    assert (history.last_reply, history.rest) == (REPLY, "It's Monday.")


def test_a_reply_under_way_has_not_been_heard() -> None:
    history = interrupted()
    history.ask(2, "how are you")
    history.reply(2, "I'm fine.")
    assert history.exchanges[-1] == Exchange("how are you", "I'm fine.")
    assert (history.last_reply, history.rest) == (REPLY, "It's Monday.")


def test_silence_as_an_answer_leaves_the_rest() -> None:
    history = interrupted()
    history.ask(2, "stop")
    assert history.exchanges[-1] == Exchange("stop")
    assert (history.last_reply, history.rest) == (REPLY, "It's Monday.")


def test_a_reply_of_which_nothing_was_heard_can_be_gone_on_with_and_not_repeated() -> None:
    history = interrupted()
    history.reply(2, "I'm fine.")
    history.replied(2, "", "I'm fine.", interrupted=True)
    assert history.exchanges[-1] == Exchange("", "I'm fine.", interrupted=True)
    assert (history.last_reply, history.rest) == (REPLY, "I'm fine.")


def test_a_later_reply_heard_to_its_end_leaves_no_rest() -> None:
    history = interrupted()
    history.reply(2, "I'm fine.")
    history.replied(2, "I'm fine.", "", interrupted=False)
    assert (history.last_reply, history.rest) == ("I'm fine.", "")


def test_an_end_that_is_told_late_counts_in_its_own_place() -> None:
    history = History()
    history.reply(1, REPLY)
    history.reply(2, "I'm fine.")
    history.replied(2, "I'm", "I'm fine.", interrupted=True)
    history.replied(1, "It's noon.", "It's Monday.", interrupted=True)
    assert history.exchanges == (
        Exchange("", REPLY, "It's noon.", interrupted=True),
        Exchange("", "I'm fine.", "I'm", interrupted=True),
    )
    assert (history.last_reply, history.rest) == ("I'm fine.", "I'm fine.")


def test_unknown_generations_are_ignored() -> None:
    history = interrupted()
    history.reply(3, "I'm fine.")
    known = history.exchanges
    history.ask(2, "help")
    history.reply(2, "Help.")
    history.replied(2, "Help.", "", interrupted=False)
    history.replied(4, "Help.", "", interrupted=False)
    assert history.exchanges == known
    assert history.last_reply == REPLY


def test_a_reply_that_never_began_cannot_have_been_heard() -> None:
    history = interrupted()
    history.ask(2, "stop")
    history.replied(2, "Hm.", "", interrupted=False)
    assert history.exchanges[-1] == Exchange("stop")
    assert history.rest == "It's Monday."


def test_only_the_newest_are_kept_and_the_last_reply_is_never_forgotten() -> None:
    history = interrupted()
    for generation in range(2, LENGTH + 3):
        history.ask(generation, f"question {generation}")
    assert [exchange.question for exchange in history.exchanges] == [f"question {n}" for n in range(3, LENGTH + 3)]
    history.replied(1, REPLY, "", interrupted=False)
    assert (history.last_reply, history.rest) == (REPLY, "It's Monday.")


calls = st.lists(st.tuples(st.sampled_from(["ask", "reply", "replied"]), st.integers(1, 2 * LENGTH)), max_size=200)


@given(calls)
def test_whatever_comes_in_whatever_order_it_stays_bounded_and_in_order(calls: list[tuple[str, int]]) -> None:
    history = History()
    for call, generation in calls:
        before = len(history.exchanges)
        match call:
            case "ask":
                history.ask(generation, str(generation))
            case "reply":
                history.reply(generation, str(generation))
            case _:
                history.replied(generation, str(generation), "", interrupted=False)
                assert len(history.exchanges) == before
    numbers = [int(exchange.question or exchange.reply) for exchange in history.exchanges]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= LENGTH
