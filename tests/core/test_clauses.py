"""Clauses: where they end, that nothing is lost, and that tokens make no difference."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from appliance.core.clauses import LONGEST, SYLLABLE, ClauseSplitter, is_whole


def split(*pieces: str) -> list[str]:
    splitter = ClauseSplitter()
    clauses = [clause for piece in pieces for clause in splitter.feed(piece)]
    return clauses + splitter.finish()


@pytest.mark.parametrize(
    "text",
    [
        "It's 3.14 exactly.",
        "Dr. Smith met Mrs. Jones.",
        "Some, e.g. Apples, are cheap.",
        "It's 10:30 now.",
        "The U.S. Army left.",
        "J. R. R. Tolkien wrote it.",
        "See https://example.org/a.b?c=d!e Now.",
        "Wait... what?",
        "Well… maybe.",
        '"Really?" she asked.',
        "Room No. 5 is free.",
        "It was on Jan. 5 or so.",
        "1. Open the door.",
        "Yahoo! is a name.",
        "It starts at 3 p.m. Bring a friend.",
        "Yes, of course.",
        "Pages 5–7 are missing.",
        "A well-known fact.",
        "Heute ist der 3. Oktober.",
        "Das war im 19. Jahrhundert.",
        "Am 24. Dezember ist Heiligabend.",
        "Fragen Sie Hr. Meier z. B. Heute.",
        "Das kostet ca. 5 Euro.",
        "Rufen Sie Tel. 110 an.",
        "Pregunte a la Sra. García.",
        "Está en la pág. 5.",
        "Chieda al Dott. Rossi.",
    ],
)
def test_stays_in_one_piece(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Yes. No! Why?", ["Yes.", "No!", "Why?"]),
        ("Hm… Let me see... Right.", ["Hm…", "Let me see...", "Right."]),
        ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
        ("(It rained.) We stayed.", ["(It rained.)", "We stayed."]),
        ("What?! No.", ["What?!", "No."]),
        ("A title\nand its text\n\n- one\n- two", ["A title", "and its text", "- one", "- two"]),
        ("It costs 5. That's cheap.", ["It costs 5.", "That's cheap."]),
        ("The answer is no. Sorry.", ["The answer is no.", "Sorry."]),
        ("今天是星期一。现在三点！好吗？", ["今天是星期一。", "现在三点！", "好吗？"]),
        ("「そうです。」と言った。", ["「そうです。」", "と言った。"]),
        ("Das kostet 3,50 Euro. Öffnen Sie es.", ["Das kostet 3,50 Euro.", "Öffnen Sie es."]),
        ("Es sind 12. Das reicht.", ["Es sind 12.", "Das reicht."]),
        ("Es sind 12. Maifeiern sind schön.", ["Es sind 12.", "Maifeiern sind schön."]),
        ("Das war 2015. Oktober war es.", ["Das war 2015.", "Oktober war es."]),
        ("¿Qué hora es? ¡Las tres!", ["¿Qué hora es?", "¡Las tres!"]),
        ("오늘은 월요일이에요. 지금은 세 시예요.", ["오늘은 월요일이에요.", "지금은 세 시예요."]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
    ],
)
def test_ends_with_its_sentence_or_line(text: str, clauses: list[str]) -> None:
    assert split(text) == clauses


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I can tell you the time, the date, and more.", "I can tell you the time,"),
        ("Here is what I found: three of them.", "Here is what I found:"),
        ("That is an odd question — but fine.", "That is an odd question —"),
        ("That is an odd question—but fine.", "That is an odd question—"),
    ],
)
def test_the_first_clause_comes_early(text: str, first: str) -> None:
    assert split(text)[0] == first


def test_a_later_clause_is_a_whole_sentence() -> None:
    second = "I can tell you the time, the date, and more."
    assert split(f"Sure. {second}") == ["Sure.", second]


def test_a_sentence_is_spoken_before_the_next_one_is_complete() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("It's noon.") == []
    assert splitter.feed(" I") == ["It's noon."]
    assert splitter.finish() == ["I"]


def test_a_long_sentence_breaks_at_its_last_pause() -> None:
    head = "Sure. When the sun had set behind the hills, and the birds had fallen silent in the trees,"
    tail = "the children went home to their parents who had been waiting."
    assert split(f"{head} {tail}") == ["Sure.", head.removeprefix("Sure. "), tail]


def test_a_long_sentence_without_a_pause_breaks_between_words() -> None:
    clauses = split("word " * 100)
    assert all(set(clause.split()) == {"word"} for clause in clauses)
    assert all(LONGEST - len(" word") < len(clause) <= LONGEST for clause in clauses[:-1])


def test_something_endless_breaks_anyway() -> None:
    assert split("x" * (2 * LONGEST + 1)) == ["x" * LONGEST, "x" * LONGEST, "x"]
    longest = LONGEST // SYLLABLE
    assert split("长" * (2 * longest + 1)) == ["长" * longest, "长" * longest, "长"]


def test_a_script_of_syllables_is_as_long_in_time() -> None:
    assert split("지금은 세 시이고, 오늘은 월요일이고, 내일은 화요일이에요.")[0] == "지금은 세 시이고,"
    clauses = split("우리는 학교에서 돌아와서 밥을 먹고 " * 10)
    assert all(25 < len(clause) <= LONGEST // SYLLABLE + 20 for clause in clauses[:-1])


@pytest.mark.parametrize("text", ["Yes.", "Is it? ", '"No!"', "Well…", "はい。"])
def test_whole_is_what_ends_a_sentence(text: str) -> None:
    assert is_whole(text)
    assert not is_whole(text + " and")
    assert not is_whole("")


@pytest.mark.parametrize("text", ["Ask Dr.", "It costs 3.", "Well, that is a good question,", "J. R. R.", "No"])
def test_what_may_go_on_is_not_whole(text: str) -> None:
    assert not is_whole(text)


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *".!?…。，,;:—–-\"') \n\t",
                "  ",
                "Dr.",
                "U.S.",
                "3.14",
                "No.",
                " and",
                " Word",
                "x" * 50,
                "3. ",
                "Mai",
                "Dezember",
            ]
        ),
        st.text(max_size=3),
    ),
    max_size=60,
)


@given(pieces)
@example(["Hello.", "\n", "world"])
@example(["x" * LONGEST, ",", " y"])
def test_however_the_text_is_cut_the_clauses_are_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    clauses = split(text)
    assert split(*pieces) == clauses
    assert split(*text) == clauses
    assert "".join("".join(clauses).split()) == "".join(text.split())
    assert all(clause == clause.strip() != "" and len(clause) <= LONGEST for clause in clauses)
