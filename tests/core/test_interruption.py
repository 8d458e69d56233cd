"""What speech during a reply means, and what was heard of a reply that was cut."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.core.clauses import ClauseSplitter
from appliance.core.interruption import HeardText, Meaning, SpokenClause, heard_text, judge, said_between

HELP = "You can ask me what time it is, or what day. I can say my last answer again, and I'm quiet when you say stop."
RAIN = "Rain is expected tomorrow morning. In the evening the sky will clear, and the wind will turn to the west."
REPLY = "It's noon now. The day is long."
CLAUSES = [SpokenClause("It's noon now.", 0, 1200), SpokenClause("The day is long.", 1200, 2500)]


@pytest.mark.parametrize(
    ("played", "heard", "said", "rest"),
    [
        (0, "", "", REPLY),
        (1, "", "It's noon", REPLY),
        (399, "", "It's noon", REPLY),
        (400, "It's", "It's noon", REPLY),
        (799, "It's", "It's noon now.", REPLY),
        (800, "It's noon", "It's noon now.", REPLY),
        (1199, "It's noon", "It's noon now. The", REPLY),
        (1200, "It's noon now.", "It's noon now. The", "The day is long."),
        (1500, "It's noon now. The", "It's noon now. The day", "The day is long."),
        (2499, "It's noon now. The day is", REPLY, "The day is long."),
        (2500, REPLY, REPLY, ""),
        (9999, REPLY, REPLY, ""),
    ],
)
def test_a_word_was_heard_when_its_share_of_the_clause_was_played(
    played: int, heard: str, said: str, rest: str
) -> None:
    assert heard_text(CLAUSES, played, REPLY) == HeardText(heard, said, rest)


def test_what_never_became_a_clause_is_left_to_say() -> None:
    assert heard_text([], 0, REPLY).rest == REPLY
    assert heard_text(CLAUSES[:1], 600, REPLY).rest == REPLY
    assert heard_text(CLAUSES[:1], 1200, REPLY).rest == "The day is long."


def test_a_clause_without_a_sound_is_passed_over() -> None:
    clauses = [SpokenClause("...", 0, 0), SpokenClause("Yes.", 0, 100), SpokenClause("...", 100, 100)]
    assert heard_text(clauses, 0, "... Yes. ...") == HeardText("", "", "... Yes. ...")
    assert heard_text(clauses, 99, "... Yes. ...") == HeardText("...", "... Yes. ...", "Yes. ...")
    assert heard_text(clauses, 100, "... Yes. ...").rest == ""


@st.composite
def spoken(draw: st.DrawFn) -> tuple[str, list[SpokenClause]]:
    """A reply, and its clauses as far as they were made."""
    pieces = st.sampled_from(["Yes. ", "no, ", "It's ", "three", " ", "\n", "-", "x" * 130, "长" * 9, "。", "a b c "])
    reply = "".join(draw(st.lists(pieces, max_size=30)))
    splitter = ClauseSplitter()
    clauses: list[SpokenClause] = []
    for text in [*splitter.feed(reply), *splitter.finish()]:
        begin = clauses[-1].end if clauses else 0
        clauses.append(SpokenClause(text, begin, begin + draw(st.integers(0, 5000))))
    return reply, clauses[: draw(st.integers(0, len(clauses)))]


LONG = "I can tell you what time it is, and what day, but Alexa is the name of somebody else, who lives far away."


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        (0, 1, "It's"),
        (0, 1200, "It's noon now. The"),
        (300, 301, "It's noon"),
        (1100, 1101, "now. The"),
        (1300, 1300, ""),
        (2400, 2500, "long."),
        (2700, 9000, ""),
        (0, 9000, "It's noon now. The day is long."),
    ],
)
def test_what_is_said_just_then_is_known_by_its_letters(begin: int, end: int, said: str) -> None:
    assert said_between(CLAUSES, begin, end) == said


def test_of_a_long_clause_only_a_part_is_said_just_then() -> None:
    clause = [SpokenClause(LONG, 0, 7 * 22050)]
    saying = ["Alexa" in said_between(clause, second * 11025, (second + 2) * 11025) for second in range(14)]
    assert any(saying)
    assert sum(saying) <= 7
    assert saying == sorted(saying[:7]) + sorted(saying[7:], reverse=True)


@given(spoken(), st.integers(0, 60_000), st.integers(0, 9_000))
def test_whatever_is_said_just_then_stands_in_the_reply(
    spoken: tuple[str, list[SpokenClause]], begin: int, count: int
) -> None:
    _, clauses = spoken
    said = said_between(clauses, begin, begin + count)
    words = [word for clause in clauses for word in clause.text.split()]
    assert all(word in words for word in said.split())
    for clause in clauses:
        if count and begin <= clause.begin and clause.end <= begin + count and clause.begin < clause.end:
            assert clause.text.strip() in said


def letters(text: str) -> str:
    return "".join(text.split())


@given(spoken(), st.integers(0, 60_000), st.integers(0, 60_000))
def test_whatever_was_played(spoken: tuple[str, list[SpokenClause]], one: int, other: int) -> None:
    reply, clauses = spoken
    less, more = (heard_text(clauses, played, reply) for played in sorted((one, other)))
    pieces = reply.split(), [clause.text for clause in clauses]
    ends = {end for each in pieces for end in accumulate(len(letters(piece)) for piece in each)}
    assert more.heard.startswith(less.heard), "it only grows"
    assert more.said.startswith(less.said)
    assert less.rest.endswith(more.rest), "it only shrinks"
    for text in (less, more):
        assert reply.strip().startswith(text.heard)
        assert text.said.startswith(text.heard)
        assert reply.rstrip().endswith(text.rest)
        assert len(letters(text.heard)) + len(letters(text.rest)) >= len(letters(reply)), "nothing is lost"
        assert len(letters(text.heard)) in {0, *ends}, "only whole words and clauses"


@given(spoken())
def test_nothing_played_and_all_played(spoken: tuple[str, list[SpokenClause]]) -> None:
    reply, clauses = spoken
    assert heard_text(clauses, 0, reply) == HeardText("", "", reply.strip())
    if clauses and letters("".join(clause.text for clause in clauses)) == letters(reply):
        assert heard_text(clauses, max(1, clauses[-1].end), reply) == HeardText(reply.strip(), reply.strip(), "")


def meaning(text: str, said: str = "", *, is_stop: bool = False, is_order: bool = False) -> Meaning:
    channels = ["mm-hmm", "mm", "uh-huh", "okay", "I see", "yeah", "go on"]
    return judge(text, recently_said=said, back_channels=channels, is_stop=is_stop, is_order=is_order)


@pytest.mark.parametrize("text", ["", " ", "...", "?!", "—"])
def test_without_words_it_is_nothing(text: str) -> None:
    assert meaning(text, HELP) is Meaning.NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "Mm-hmm.",
        "mm hmm",
        "Mmmm-hm",
        "Okay.",
        "OKAY!",
        "Uh-huh",
        "Okay, okay.",
        "Yeah, I see.",
        "Go on. Go on.",
        "MMM.",
    ],
)
def test_a_back_channel_is_one_in_any_number(text: str) -> None:
    assert meaning(text, HELP) is Meaning.BACK_CHANNEL


@pytest.mark.parametrize("text", ["Okay, what time is it?", "I see a cat.", "Go on to the next.", "I", "see"])
def test_a_back_channel_in_front_of_something_is_none(text: str) -> None:
    assert meaning(text) is Meaning.WORDS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # What Moonshine wrote for pieces of Piper's speech, quiet, and in the noise of a kitchen.
        ("And ask me what?", "You can ask me what"),
        ("I can say my life.", "time it is, or what day. I can say my last answer"),
        ("And quiet when you say stuff.", HELP),
        ("Is, or what day I can say, M.", "You can ask me what time it is, or what day. I can say my last"),
        ("Again.", "I can say my last answer again, and"),
        ("It's three to five in the afternoon.", "It's three oh five in the afternoon."),
        ("Three, oh five in the app.", "It's three oh five in the afternoon."),
        ("And fine, thank you.", "I'm fine, thank you."),
        ("At Sunday, the second of May.", "It's Sunday, the second of May."),
        ("It's expected to mar a morning.", "Rain is expected tomorrow morning. In"),
        ("The sky will clear and the wind will.", "In the evening the sky will clear, and the wind will turn"),
    ],
)
def test_what_the_reply_has_just_said_is_an_echo(text: str, said: str) -> None:
    assert meaning(text, said) is Meaning.ECHO


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What time is it?", "It's three oh five in the afternoon."),
        ("What day is it?", "It's Monday, the thirtieth of November."),
        ("And tomorrow?", "It's Monday, the thirtieth of November."),
        ("What about the weekend?", RAIN),
        ("Is it going to be sunny on Sunday?", RAIN),
        ("Rain is expected tomorrow.", RAIN),
        ("no", "It's three oh five in the afternoon"),
        ("mind", "I'm fine, thank you."),
        ("Set a timer for ten minutes.", HELP),
        ("Anything.", ""),
    ],
)
def test_what_it_has_not_just_said_is_something_new(text: str, said: str) -> None:
    assert meaning(text, said) is Meaning.WORDS


def test_an_order_in_the_words_of_the_reply_is_meant_unless_they_are_just_the_same() -> None:
    said = "You can ask me what time it is, or"
    assert meaning("What time is it?", said) is Meaning.ECHO
    assert meaning("What time is it?", said, is_order=True) is Meaning.ORDER
    assert meaning("What time it is.", said, is_order=True) is Meaning.ECHO


def test_stop_is_meant_unless_the_reply_has_just_said_it() -> None:
    assert meaning("Stop.", "It's three oh five in the", is_stop=True) is Meaning.STOP
    assert meaning("Stop.", HELP, is_stop=True) is Meaning.ECHO
    assert meaning("Stop.", f"{HELP} I can do more than that.", is_stop=True) is Meaning.STOP
    assert meaning("Please stop.", HELP, is_stop=True) is Meaning.STOP


KOREAN = "지금은 오후 세 시 삼십 분이에요."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("heute ist montag der dreissigste", "Heute ist Montag, der dreißigste November."),
        ("nous sommes le dimanche premier aout", "Nous sommes le dimanche premier août."),
        ("지금은 오후 세 시", KOREAN),
        ("지금 은 오후 세시 삼십", KOREAN),
        ("지금은 오후 네 시 삼십", KOREAN),
    ],
)
def test_an_echo_in_another_language(text: str, said: str) -> None:
    assert meaning(text, said) is Meaning.ECHO


def test_a_korean_order_that_the_reply_has_just_said_is_an_echo() -> None:
    assert meaning("다시 말해 주세요", "문제가 생겼어요. 다시 말해 주세요. 그럼 이만", is_order=True) is Meaning.ECHO
    assert meaning("다시 말해 주세요", f"다시 말해 주세요. {KOREAN}", is_order=True) is Meaning.ORDER
    assert meaning("그만", KOREAN, is_stop=True) is Meaning.STOP


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("알겠습니다", Meaning.BACK_CHANNEL),
        ("네 알겠 습니다", Meaning.BACK_CHANNEL),
        ("네네", Meaning.BACK_CHANNEL),
        ("아하", Meaning.BACK_CHANNEL),
        ("si", Meaning.BACK_CHANNEL),
        ("Sí, sí.", Meaning.BACK_CHANNEL),
        ("네가 알아", Meaning.WORDS),
        ("오늘 며칠이야", Meaning.WORDS),
    ],
)
def test_a_back_channel_in_another_language(text: str, meant: Meaning) -> None:
    channels = ["네", "아하", "알겠습니다", "sí"]
    assert judge(text, recently_said=KOREAN, back_channels=channels, is_stop=False) is meant


words = st.lists(st.sampled_from([*HELP.split(), *RAIN.split()]), min_size=2, max_size=30)


@given(words, st.data())
def test_the_end_of_what_was_said_is_always_an_echo(words: list[str], data: st.DataObject) -> None:
    echo = " ".join(words[data.draw(st.integers(0, len(words) - 1)) :])
    assert meaning(echo, " ".join(words)) is Meaning.ECHO
    assert meaning(echo.upper(), " ".join(words), is_stop=True) is Meaning.ECHO


@given(st.text(max_size=40), st.text(max_size=40), st.booleans(), st.booleans())
def test_no_text_is_too_odd(text: str, said: str, is_stop: bool, is_order: bool) -> None:
    found = meaning(text, said, is_stop=is_stop, is_order=is_order)
    assert found is not Meaning.STOP or is_stop
