import contextlib
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import BadInputError, SeveralProblemsError
from appliance.simulation.scenario import Doing, Llm, Moment, Press, Say, Scenario, parse, read

FULL = """title = "All there is"
duration = 20.5

[room]
echo_db = -20
echo_delay_ms = 80.5
noise = "noise.flac"
noise_db = -60

[[say]]
file = "hello.wav"
after = "ready"
delay = 0.5
gain_db = -3

[[press]]
after = "reply"
delay = 1

[[say]]
text = "what time is it"
at = 12

[[press]]
at = 13.5
hold = 2

[[expect]]
heard = "hello"
reply = "[a-z]+"

[[expect]]
intent = "time"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenario")
    for name in ("hello.wav", "noise.flac"):
        soundfile.write(folder / name, np.zeros(100), 16_000)
    return folder


def test_everything_is_read_in_the_order_of_the_file(folder: Path) -> None:
    path = folder / "full.toml"
    path.write_text(FULL)
    scenario = read(path)
    assert scenario.title == "All there is"
    assert scenario.duration == 20.5
    assert scenario.acoustics.echo_db == -20
    assert scenario.acoustics.echo_delay_ms == 80.5
    assert scenario.acoustics.noise == folder / "noise.flac"
    assert scenario.acoustics.noise_db == -60
    assert scenario.steps == (
        Say(f"{path}:10", None, Moment.READY, 0.5, folder / "hello.wav", None, -3),
        Press(f"{path}:16", None, Moment.REPLY, 1, 0.1),
        Say(f"{path}:20", 12, None, 0, None, "what time is it", 0),
        Press(f"{path}:24", 13.5, None, 0, 2),
    )
    assert [expect.place for expect in scenario.expects] == [f"{path}:28", f"{path}:32"]
    assert scenario.expects[0].patterns["heard"].search("well, HELLO")
    assert set(scenario.expects[1].patterns) == {"intent"}


def test_what_the_language_model_does_is_a_step_among_the_others() -> None:
    path = Path("a.toml")
    model = '[[llm]]\nafter = "idle"\ndoes = "slow"\nsays = "Far."\n[[llm]]\nat = 9\ndoes = "stop"'
    text = '[[say]]\ntext = "a"\nat = 2\n' + model
    assert parse(text, path).steps[1:] == (
        Llm(f"{path}:4", None, Moment.IDLE, 0, Doing.SLOW, "Far."),
        Llm(f"{path}:8", 9, None, 0, Doing.STOP, None),
    )


def test_an_empty_scenario_is_a_quiet_room() -> None:
    scenario = parse("", Path("quiet.toml"))
    assert (scenario.title, scenario.duration, scenario.steps, scenario.expects) == ("quiet", None, (), ())


def test_lists_written_in_line_count_as_steps() -> None:
    steps = parse('press = [{at = 1}, {at = 2}]\nsay = [{text = "a", at = 3}]', Path("a.toml")).steps
    assert [step.at for step in steps] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ('[[say]]\ntext = "a"', '1: say = {…}: needs either "at" or "after", one of the two'),
        ('[[press]]\nat = 1\nafter = "idle"', '1: press = {…}: needs either "at" or "after", one of the two'),
        (
            '[[llm]]\nat = 1\ndoes = "sleep"',
            '3: llm.does = "sleep": is not known; allowed: "start", "stop", "hang", "full" or "slow"',
        ),
        ("[[say]]\nat = 1", '1: say = {…}: needs either "file" or "text", one of the two'),
        ("[[say]]", '1: say = {…}: needs either "at" or "after" and either "file" or "text", one of the two'),
        ('[[say]]\nat = 1\nfile = "no.wav"', '3: say.file = "no.wav": there is no such file'),
        ('[room]\nnoise = "."', '2: room.noise = ".": there is no such file'),
        ("\n[[press]]\nat = -1", "3: press.at = -1: is out of range; allowed: a number from 0 to 43200"),
        ("duration = 0", "1: duration = 0: is out of range; allowed: a number, more than 0 and at most 43200"),
        (
            "duration = 5\n[[press]]\nat = 5",
            "3: press: begins at 5, which is not before the end; allowed: less than duration = 5",
        ),
        ("[[expect]]", '1: expect = {…}: needs at least one of "heard", "reply" and "intent"'),
        (
            '[[expect]]\nheard = "("\nreply = "*"',
            (
                '1: expect = {…}: heard = "(" is no regular expression: missing ), '
                "unterminated subpattern at position 0; "
                'reply = "*" is no regular expression: nothing to repeat at position 0'
            ),
        ),
        (
            '[[press]]\nafter = "replay"\n[room]\necko_db = 3\nnoise = "no.wav"',
            (
                '2: press.after = "replay": is not known; allowed: "ready", "wake", "reply", "silence" or "idle"; '
                'did you mean "reply"?\n'
                '4: room.ecko_db = 3: is not known here; allowed: "echo_db", "echo_delay_ms", "noise" or "noise_db"; '
                'did you mean "echo_db"?\n'
                '5: room.noise = "no.wav": there is no such file'
            ),
        ),
    ],
)
def test_all_problems_are_named_with_their_lines(text: str, problems: str) -> None:
    with pytest.raises(SeveralProblemsError) as error:
        parse(text, Path("a.toml"))
    assert list(error.value.problems) == [f"a.toml:{problem}" for problem in problems.split("\n")]
    assert error.value.status == 2


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        read(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "caf\xe9"')
    with pytest.raises(BadInputError, match=r"latin\.toml: is no text in UTF-8"):
        read(tmp_path / "latin.toml")


PIECES = st.sampled_from(
    [
        *FULL.splitlines(),
        "[[",
        "]",
        "=",
        '"',
        "'''",
        "nan",
        "-inf",
        "1e999",
        "{a=1}",
        "[[say]]",
        "[say]",
        "at = 1",
        "é",
        "\0",
    ]
)
MUTATIONS = st.lists(
    st.tuples(st.integers(0, len(FULL)), st.integers(0, 40), st.one_of(PIECES, st.text(max_size=8))), max_size=6
)


@settings(deadline=None)
@given(MUTATIONS)
def test_any_text_is_a_scenario_or_bad_input(folder: Path, mutations: list[tuple[int, int, str]]) -> None:
    text = FULL
    for start, length, piece in mutations:
        text = text[:start] + piece + text[start + length :]
    with contextlib.suppress(BadInputError):
        assert isinstance(parse(text, folder / "a.toml"), Scenario)
