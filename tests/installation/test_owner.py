"""What a restricted account may do."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.cli import make_parser
from appliance.errors import BadInputError
from appliance.installation.owner import ALLOWED, HARMLESS, command_line, refuse_files


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("appliance status", ["status"]),
        ("appliance say 'Dinner is ready'", ["say", "Dinner is ready"]),
        ("appliance config set wake.threshold 0.6", ["config", "set", "wake.threshold", "0.6"]),
        ("appliance say $(id) ; id", ["say", "$(id)", ";", "id"]),
    ],
)
def test_an_allowed_command_is_split_and_its_words_stay_words(asked: str, words: list[str]) -> None:
    assert command_line(asked) == words


@pytest.mark.parametrize(
    "asked",
    [
        *("", "   ", "appliance", "bash", "/bin/appliance status", "appliance run", "appliance models fetch"),
        *(
            "appliance config edit",
            "appliance --verbose config edit",
            "appliance --help",
            "scp -t /etc",
            "internal-sftp",
        ),
        *("appliance bench", "appliance simulate a.toml --out /tmp", "appliance say 'half", "internal-sftp"),
    ],
)
def test_all_else_is_refused_with_what_is_allowed(asked: str) -> None:
    with pytest.raises(BadInputError, match=r"Allowed: appliance config\|doctor\|"):
        command_line(asked)


@pytest.mark.parametrize(
    "asked",
    [
        *(
            "config check",
            "config set wake.threshold 0.6 --json",
            "config history 3",
            "config get wake",
            "status --json",
        ),
        *("say 'Dinner is at /home'", "press hold", "llm trust my server", "doctor"),
        "--verbose watch",
    ],
)
def test_words_that_are_no_files_are_let_through(asked: str) -> None:
    refuse_files(command_line(f"appliance {asked}") if not asked.startswith("--") else asked.split())


@pytest.mark.parametrize(
    "words",
    [
        ["config", "check", "/etc/appliance/llm.key"],
        ["config", "check", "llm.key", "--json"],
        ["say", "--config", "llm.key", "Hello"],
        ["say", "--config=llm.key", "Hello"],
        ["say", "--conf", "llm.key", "Hello"],
        ["doctor", "--c=llm.key"],
    ],
)
def test_a_file_is_refused_in_whichever_way_it_is_named(words: list[str]) -> None:
    with pytest.raises(BadInputError, match=r"llm\.key\b.*this account may not name files.*/etc/appliance"):
        refuse_files(words)


def arguments(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, argparse.Action]]:
    """All arguments of all commands below a parser that take a value, each with its command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from arguments(below, (*words, name))
        elif action.nargs != 0:
            yield " ".join(words), action


def test_an_argument_is_harmless_by_its_name_or_refused() -> None:
    found = [(command, each) for command, each in arguments(make_parser()) if command.split()[:1][0] in ALLOWED]
    assert {each.dest for _, each in found} >= HARMLESS, "what no command takes any more need not be let through"
    named = {(command, each.dest) for command, each in found if each.dest not in HARMLESS}
    files = {("config check", "file"), ("wake tune", "folder")}
    tuning = {("wake tune", "say"), ("wake tune", "record")}  # which records, and so takes a folder
    own = {(command, "config") for command in ("doctor", "say", "wake test", "wake tune")}
    assert named == {*files, *tuning, *own}, "is it refused, or harmless?"
    for command, each in found:
        text = f"{command} {each.option_strings} {each.dest} {each.metavar} {each.help}".lower()
        is_file = each.type is Path or "file" in text.replace("the files of", "") or "path" in text
        assert each.dest not in HARMLESS or not is_file, text


def test_an_option_that_nobody_has_thought_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--recording")
    parser.add_argument("--name", type=Path)
    monkeypatch.setattr("appliance.installation.owner.make_parser", lambda: parser)
    refuse_files([])
    for option in ("--recording", "--name"):
        with pytest.raises(BadInputError):
            refuse_files([option, "a.wav"])
