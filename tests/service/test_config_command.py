"""`appliance config`, as somebody types it, and as automation does."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance import cli
from appliance.cli import main
from appliance.config import store
from appliance.config.generations import Generations
from appliance.errors import ApplianceError
from appliance.service import client
from appliance.service.control import Controls, ControlServer
from appliance.service.request import Applied

Typed = Callable[..., str]


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The main file, in an empty folder; models are not looked for."""
    main_file = tmp_path / "etc/appliance.toml"
    main_file.parent.mkdir()
    monkeypatch.setattr(store, "SYSTEM_FILE", main_file)
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path / "data"))
    return main_file


@pytest.fixture
def typed(etc: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    """What it prints; with another status than 0, the error."""

    def run(*words: str, status: int = 0) -> str:
        assert main(["config", *words]) == status
        said = capsys.readouterr()
        if status and "--json" not in words:
            assert not said.out
            return said.err
        assert not said.err
        return said.out

    return run


@pytest.fixture
def generations(etc: Path, tmp_path: Path) -> Generations:
    return Generations(tmp_path / "data/config", etc)


class Daemon:
    """An appliance that runs; `why`: it takes each change back."""

    def __init__(self, generations: Generations, why: str = "") -> None:
        self.generations = generations
        self.why = why
        start = generations.at_start()
        assert start.generation is not None
        generations.confirm(start.generation)

    async def apply(self) -> Applied:
        trial = self.generations.begin_trial()
        if not trial.on_trial:
            return Applied(trial.generation, trial.changed)
        if self.why:
            back = self.generations.reject(trial.generation, self.why)
            return Applied(back.generation, trial.changed, self.why)
        self.generations.confirm(trial.generation)
        return Applied(trial.generation, trial.changed, notes=("The room is loud.",))


@pytest.fixture
def serve(tmp_path: Path, generations: Generations) -> Callable[..., ControlServer]:
    def make(why: str = "") -> ControlServer:
        return ControlServer(tmp_path / "data", Controls(lambda: None, apply=Daemon(generations, why).apply))

    return make


def test_a_change_in_which_the_appliance_ends_is_seen_to_be_taken_back(
    typed: Typed, etc: Path, generations: Generations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Daemon(generations)
    before = etc.read_bytes() if etc.exists() else b""
    starts = []

    def dies(*_: object) -> None:
        generations.begin_trial()
        raise ApplianceError("data", "the appliance here gave no answer")

    def starts_again(_: float) -> None:
        starts.append(generations.at_start())

    monkeypatch.setattr(client, "ask", dies)
    monkeypatch.setattr(time, "sleep", starts_again)
    said = json.loads(typed("set", "wake.threshold", "0.7", "--json", status=1))
    assert (said["changed"], said["applied"], said["generation"]) == (False, False, 1)
    assert said["taken_back"] == "the appliance ended before this was confirmed"
    assert len(starts) == 1
    assert (etc.read_bytes() if etc.exists() else b"") == before


@pytest.mark.parametrize(
    ("applied", "said"),
    [
        (Applied(None, ("wake.threshold",), postponed=True), "The appliance was stopped meanwhile"),
        (Applied(2, file="/home/me/mine.toml"), "was started with --config /home/me/mine.toml, and only that file"),
    ],
)
def test_what_does_not_come_into_force_now_is_not_said_to_be(
    applied: Applied, said: str, typed: Typed, generations: Generations, tmp_path: Path
) -> None:
    Daemon(generations)

    async def apply() -> Applied:
        return applied

    with ControlServer(tmp_path / "data", Controls(lambda: None, apply=apply)):
        assert said in typed("set", "wake.threshold", "0.7")
        after = json.loads(typed("set", "wake.threshold", "0.8", "--json"))
    assert (after["changed"], after["applied"]) == (True, False)


def test_a_change_that_was_taken_back_with_others_is_not_said_to_be_in_force(
    typed: Typed, generations: Generations, tmp_path: Path
) -> None:
    daemon = Daemon(generations)

    async def apply() -> Applied:
        with generations.alone():
            files = {"appliance.toml": b"[wake]\nthreshold = 0.7\n[microphone]\ncard = 'nosuch'\n"}
            generations.record(files, "somebody else, at the same time")
        daemon.why = "the microphone did not work with it"
        await daemon.apply()  # for the other one
        return await daemon.apply()

    with ControlServer(tmp_path / "data", Controls(lambda: None, apply=apply)):
        said = typed("set", "wake.threshold", "0.7", status=1)
    assert "with others that were made at the same time, the microphone did not work with it" in said
    assert typed("get", "wake.threshold") == "0.5\n"


@pytest.mark.parametrize("place", ["ftp://den", "http://me:secret@den/v1", "http://den:99999"])
def test_what_names_no_server_is_refused(place: str, etc: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    monkeypatch.setattr(cli, "_checked", lambda _: None)
    said = typed("set", "llm.servers", f'["{place}"]', status=2)
    assert "secret" not in said
    assert not etc.exists()


def test_a_value_is_set_and_seen(typed: Typed, etc: Path) -> None:
    assert typed("get", "wake.threshold") == "0.5\n"
    said = typed("set", "wake.threshold", "0.6")
    assert said == f"Written: {etc}\nNothing is running: this is tried at the next start.\n"
    assert typed("get", "wake.threshold") == "0.6\n"
    assert etc.read_text() == "[wake]\nthreshold = 0.6\n"


def test_that_the_history_was_damaged_is_said(typed: Typed, generations: Generations, tmp_path: Path) -> None:
    typed("set", "wake.threshold", "0.6")
    (tmp_path / "data/config/state.json").write_bytes(b"{")
    (note,) = json.loads(typed("set", "wake.threshold", "0.7", "--json"))["notes"]
    assert "is set aside as state.json.damaged" in note


def test_the_same_value_changes_nothing_and_says_so(typed: Typed, etc: Path, generations: Generations) -> None:
    typed("set", "wake.threshold", "0.6")
    assert typed("set", "wake.threshold", "0.60") == "Nothing to change: wake.threshold = 0.6.\n"
    assert json.loads(typed("set", "wake.threshold", "0.6", "--json"))["changed"] is False
    assert json.loads(typed("set", "wake.words", "[alexa]", "llm.enabled=true", "--json"))["changed"] is False
    assert len(generations.history().records) == 1


def test_several_pairs_are_one_change(typed: Typed, etc: Path, generations: Generations) -> None:
    etc.write_text("# mine\n[llm]\nroom = 'den' # for now\n")
    typed("set", "llm.room", "kitchen", "wake.threshold=0.7", "microphone.card = 'USB Audio'")
    assert etc.read_text() == (
        '# mine\n[llm]\nroom = "kitchen" # for now\n\n[wake]\nthreshold = 0.7\n\n[microphone]\ncard = "USB Audio"\n'
    )
    (record,) = generations.history().records
    assert record.by.endswith(": set llm.room, wake.threshold, microphone.card")


def test_if_one_of_several_is_bad_nothing_is_written(typed: Typed, etc: Path, generations: Generations) -> None:
    error = typed("set", "wake.threshold=0.6", "listening.pause=9", status=2)
    assert error == "appliance config set: listening.pause = 9: is out of range; allowed: a number from 0.2 to 3\n"
    assert "is none of the words" in typed("set", "wake.thresholds.timer", "0.5", status=2)
    assert not etc.exists()
    assert not generations.history().records


def test_a_drop_in_that_has_the_key_is_where_it_is_written(typed: Typed, etc: Path) -> None:
    drop_in = etc.parent / "appliance.toml.d/50-house.toml"
    drop_in.parent.mkdir()
    drop_in.write_text("wake.threshold = 0.4\n")
    assert str(drop_in) in typed("set", "wake.threshold", "0.6")
    assert drop_in.read_text() == "wake.threshold = 0.6\n"
    assert not etc.exists()
    typed("unset", "wake.threshold")
    assert drop_in.read_text() == ""
    assert typed("unset", "wake.threshold") == "Nothing to change: wake.threshold not in the files.\n"


def test_a_bad_file_can_be_mended_with_set_and_unset(typed: Typed, etc: Path) -> None:
    etc.write_text("[wake]\nthreshold = 6\nthresholds.timer = 0.5\n")
    assert ":2: wake.threshold = 6: is out of range" in typed("show", status=2)
    assert ":2: wake.threshold = 6: is out of range" in typed("set", "llm.room", "den", status=2)
    assert ":3: wake.thresholds.timer" in typed("set", "wake.threshold", "0.6", status=2)
    typed("set", "wake.threshold=0.6", "wake.words=[alexa,timer]", status=1)  # its model is not here
    typed("unset", "wake.threshold", "wake.thresholds.timer")
    assert typed("check") == f"{etc.parent}: the configuration is good.\n"
    etc.write_text("[wake\n")
    assert f"{etc}:1: [wake: " in typed("set", "wake.threshold", "0.6", status=2)
    assert etc.read_text() == "[wake\n"


def test_what_needs_a_model_that_is_not_here_is_not_written(typed: Typed, etc: Path) -> None:
    error = typed("set", "wake.words", "alexa,hey_jarvis", status=1)
    assert "appliance models fetch" in error
    assert "language" in typed("set", "language", "xx", status=2)
    assert not etc.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "wake.treshold", "0.6"], 'did you mean "wake.threshold"?'),
        (["set", "wake.threshold"], "there is no value for wake.threshold"),
        (["set", "microphone.card", "USB", "Audio"], "over ssh two pairs of them"),
        (["set", "wake", "3"], "wake is a table"),
        (["get", "a b"], '"a b" is no key'),
        (["get", "wake.thrshold"], "is not known"),
        (["unset", "wake.thrshold"], "is not known"),
        (["rollback", "7"], "there is no generation 7"),
        (["history", "7"], "there is no generation 7"),
        (["check", "nowhere.toml"], "nowhere.toml: there is no such file"),
    ],
)
def test_wrong_usage(typed: Typed, words: list[str], said: str) -> None:
    error = typed(*words, status=2)
    assert said in error
    assert len(error.splitlines()) == 1


def test_get_gives_programs_and_people_what_they_read(typed: Typed) -> None:
    typed("set", "microphone.card", "USB Audio", "wake.thresholds.alexa", "0.7")
    assert typed("get", "microphone.card") == "USB Audio\n"
    assert typed("get", "wake.words") == '["alexa"]\n'
    assert typed("get", "llm.enabled") == "true\n"
    assert json.loads(typed("get", "wake", "--json"))["thresholds"] == {"alexa": 0.7}
    assert json.loads(typed("get", "microphone.card", "--json")) == "USB Audio"
    assert "[thresholds]\nalexa = 0.7\n" in typed("get", "wake")
    assert "wake.thresholds.timer is not set" in typed("get", "wake.thresholds.timer", status=1)


def test_show_is_a_configuration_and_says_where_each_value_comes_from(typed: Typed, etc: Path, tmp_path: Path) -> None:
    typed("set", "profile", "jetson", "wake.threshold", "0.6")
    copy = tmp_path / "copy.toml"
    copy.write_text(typed("show"))
    assert store.load(copy) == store.load(None)
    shown = typed("show", "--origin")
    assert f"threshold = 0.6 # {etc}:4" in shown
    assert 'card = "USB Audio" # ' in shown
    assert "confirm = 10.0 # built-in" in shown
    copy.write_text(shown)
    assert store.load(copy) == store.load(None)
    assert json.loads(typed("show", "--json"))["wake"]["threshold"] == 0.6
    origins = json.loads(typed("show", "--origin", "--json"))
    assert origins["wake.threshold"] == {"value": 0.6, "origin": f"{etc}:4"}


def test_check_says_all_that_is_wrong(typed: Typed, etc: Path, tmp_path: Path) -> None:
    assert json.loads(typed("check", "--json")) == {"good": True, "problems": []}
    etc.write_text("[wake]\nthreshold = 6\nx = 1\n")
    assert len(typed("check", status=2).splitlines()) == 2
    assert len(json.loads(typed("check", "--json", status=2))["problems"]) == 2
    other = tmp_path / "other.toml"
    other.write_text("profile = 'pi-usb'\n")
    assert typed("check", str(other)) == f"{other}: the configuration is good.\n"
    assert "no such file" in json.loads(typed("check", str(tmp_path / "no"), "--json", status=2))["problems"][0]


def test_a_running_appliance_tries_it_and_it_is_confirmed(
    etc: Path, serve: Callable[..., ControlServer], capsys: pytest.CaptureFixture[str]
) -> None:
    with serve():
        assert main(["config", "set", "wake.threshold", "0.6"]) == 0
    said = capsys.readouterr()
    assert said.out == f"Written: {etc}\nIn force: generation 2, with wake.threshold.\n"
    assert said.err == "The room is loud.\n"


def test_one_that_does_not_work_is_taken_back_and_the_command_says_so(
    typed: Typed, etc: Path, serve: Callable[..., ControlServer], generations: Generations
) -> None:
    with serve("the microphone did not work with it"):
        error = typed("set", "microphone.card", "nonsense", status=1)
        assert error == (
            "appliance config: the change was taken back: the microphone did not work with it. Generation 1 is in "
            "force again. What was tried is kept: appliance config history.\n"
        )
        answer = json.loads(typed("set", "microphone.card", "nonsense", "--json", status=1))
    assert (answer["changed"], answer["applied"], answer["generation"]) == (False, False, 1)
    assert answer["taken_back"] == "the microphone did not work with it"
    assert not etc.exists()
    assert generations.files_of(2) == {"appliance.toml": b'[microphone]\ncard = "nonsense"\n'}


def test_files_that_were_copied_are_taken_over_by_apply(
    typed: Typed, etc: Path, serve: Callable[..., ControlServer], generations: Generations
) -> None:
    with serve():
        etc.write_text("[wake]\nthreshold = 0.6\n[llm]\nroom = 'den'\n")
        answer = json.loads(typed("apply", "--json"))
        assert (answer["changed"], answer["applied"], answer["generation"]) == (True, True, 2)
        assert answer["keys"] == ["wake.threshold", "llm.room"]
        assert json.loads(typed("apply", "--json"))["changed"] is False
        assert typed("apply") == "In force: generation 2.\n"
        etc.write_text("[wake]\nthreshold = 6\n")
        assert ":2: wake.threshold = 6" in typed("apply", status=2)
    assert generations.history().confirmed == 2


def test_without_a_running_appliance_apply_has_them_tried_at_the_next_start(
    typed: Typed, etc: Path, generations: Generations
) -> None:
    etc.write_text("[wake]\nthreshold = 0.6\n")
    for _ in range(2):
        assert typed("apply") == "Nothing is running: this is tried at the next start.\n"
    (record,) = generations.history().records
    assert record.outcome == "waiting"
    generations.confirm(generations.begin_trial().generation)
    assert "Nothing to change" in typed("apply")


def test_rollback_takes_the_one_before_or_any_other(
    typed: Typed, etc: Path, serve: Callable[..., ControlServer], generations: Generations
) -> None:
    assert "nothing else was ever confirmed" in typed("rollback", status=1)
    etc.write_text("# the first\n")
    with serve():
        for threshold in ("0.6", "0.7"):
            json.loads(typed("set", "wake.threshold", threshold, "--json"))
        json.loads(typed("rollback", "--json"))
        assert etc.read_text() == "# the first\n\n[wake]\nthreshold = 0.6\n"
        json.loads(typed("rollback", "1", "--json"))
        assert etc.read_text() == "# the first\n"
        assert "Nothing to change" in typed("rollback", "1")
        etc.write_text("[wake]\nthreshold = 6 # never applied\n")
        json.loads(typed("rollback", "--json"))
        assert etc.read_text() == "# the first\n"
    assert [record.by.split(": ")[-1] for record in generations.history().records][3:] == [
        "rollback to 2",
        "rollback to 1",
        "what was there before a rollback",
        "rollback to 5",
    ]
    assert generations.files_of(6) == {"appliance.toml": b"[wake]\nthreshold = 6 # never applied\n"}


def test_history_lists_what_became_of_each(
    typed: Typed, etc: Path, serve: Callable[..., ControlServer], generations: Generations
) -> None:
    assert "no generation yet" in typed("history")
    with serve("no sound"):
        typed("set", "wake.threshold", "0.6", status=1)
    first, second, third = [line.split(maxsplit=3) for line in typed("history").splitlines()]
    assert first == ["N", "WHEN", "STATE", "BY"]
    assert second[3].split() == ["confirmed", "files", "changed", "by", "hand", "in", "force"]
    assert third[3].startswith("rejected: no sound  ")
    found = json.loads(typed("history", "--json"))
    assert found["confirmed"] == 1
    assert [each["outcome"] for each in found["generations"]] == ["confirmed", "rejected"]
    assert typed("history", "2") == "# appliance.toml\n[wake]\nthreshold = 0.6\n"
    assert json.loads(typed("history", "2", "--json")) == {"appliance.toml": "[wake]\nthreshold = 0.6\n"}


def test_what_is_written_and_cannot_be_applied_is_said(
    typed: Typed, etc: Path, tmp_path: Path, generations: Generations
) -> None:
    (tmp_path / "data").mkdir()
    with ControlServer(tmp_path / "data", Controls(lambda: None)):
        error = typed("set", "wake.threshold", "0.6", status=1)
    assert "the change is written, and whether it came into force is not known" in error
    assert "appliance config apply" in error
    assert etc.exists()


COMMAND = """
import sys
from pathlib import Path
from appliance.config import store
from appliance.errors import ApplianceError
from appliance.service import client
store.SYSTEM_FILE = Path(sys.argv.pop(1))
from appliance import cli
from appliance.cli import main
sys.exit(main())
"""


def test_two_at_once_lose_no_change(etc: Path, tmp_path: Path, generations: Generations) -> None:
    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", COMMAND, str(etc), "config", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    pairs = [f"{key}={value}" for value in (2, 3) for key in ("listening.limit", "listening.patience", "llm.patience")]
    running = [start("set", pair) for pair in pairs]
    ended = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0] * len(pairs), ended
    settings = store.load(etc)
    assert {settings.listening.limit, settings.listening.patience, settings.llm.patience} <= {2.0, 3.0}
    assert [record.number for record in generations.history().records] == list(range(1, len(pairs) + 1))


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have a shell script edit "$1"."""

    def use(script: str) -> None:
        path = tmp_path / "an editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("VISUAL", f"'{path}'")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return use


def copies(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("appliance-*.toml"))


def test_edit_takes_over_what_is_good(
    typed: Typed, etc: Path, tmp_path: Path, editor: Callable[[str], None], generations: Generations
) -> None:
    etc.write_text("# mine\n")
    editor('echo "[wake]\nthreshold = 0.6" >>"$1"')
    assert str(etc) in typed("edit")
    assert etc.read_text() == "# mine\n[wake]\nthreshold = 0.6\n"
    editor("true")
    assert typed("edit") == "Nothing was changed.\n"
    assert not copies(tmp_path)
    assert generations.history().records[-1].by.endswith(": edit")


def test_edit_offers_to_go_on_when_it_is_bad(
    etc: Path,
    tmp_path: Path,
    editor: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = iter(["\n", "n\n"])
    monkeypatch.setattr("sys.stdin.readline", lambda: next(answers), raising=False)
    editor('echo "x = 1" >>"$1"')
    assert main(["config", "edit"]) == 1
    error = capsys.readouterr().err
    assert error.count("x = 1: is not known here") == 1
    assert "Cannot overwrite" in error
    (copy,) = copies(tmp_path)
    assert f"Your text is kept in {copy}" in error
    assert copy.read_text() == "x = 1\nx = 1\n"
    assert not etc.exists()


def test_edit_notices_that_somebody_was_quicker(
    typed: Typed, etc: Path, tmp_path: Path, editor: Callable[[str], None]
) -> None:
    etc.write_text("# mine\n")
    editor(f'echo "# theirs" >"{etc}"; echo "# more" >>"$1"')
    error = typed("edit", status=1)
    (copy,) = copies(tmp_path)
    assert f"somebody else has changed {etc} meanwhile" in error
    assert f"kept in {copy}: compare it with {etc}" in error
    assert etc.read_text() == "# theirs\n"
    assert copy.read_text() == "# mine\n# more\n"


def test_edit_with_an_editor_that_fails_or_is_missing(
    typed: Typed, tmp_path: Path, editor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor('echo "# x" >>"$1"; exit 3')
    assert "ended with status 3" in typed("edit", status=1)
    assert len(copies(tmp_path)) == 1
    monkeypatch.setenv("VISUAL", str(tmp_path / "nowhere"))
    assert "nowhere is not here" in typed("edit", status=1)
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "there is no editor here" in typed("edit", status=1)


def test_who_may_not_write_is_told_what_to_do(
    typed: Typed, etc: Path, generations: Generations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    typed("set", "wake.threshold", "0.6")
    really = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest: refuse(path) if str(path).endswith("/lock") else really(path, *rest)
    )
    error = typed("set", "wake.threshold", "0.7", status=1)
    assert error.startswith(f"{generations.owner.main.parent.parent}/data/config/lock: it cannot be used")
    assert "Use sudo, or log in as somebody in the group appliance" in error
