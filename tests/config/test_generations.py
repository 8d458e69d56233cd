"""Which configuration is in force after what has happened, and what the owner is told."""

import json
import os
import stat
from datetime import datetime
from pathlib import Path

import pytest

from appliance.config import shelf
from appliance.config.disk import Disk
from appliance.config.generations import Generations
from appliance.config.owner import Files
from appliance.config.schema import Settings
from appliance.config.states import KEPT
from appliance.errors import ApplianceError, BadInputError
from tests.config.power import FakeDisk

NOW = datetime(2026, 3, 1, 12).astimezone()


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return tmp_path / "etc/appliance.toml"


@pytest.fixture
def these(tmp_path: Path, main: Path) -> Generations:
    main.parent.mkdir()
    return Generations(tmp_path / "data/config", main, now=lambda: NOW)


def confirmed(these: Generations) -> int:
    start = these.at_start()
    assert start.generation is not None
    assert these.confirm(start.generation) == ()
    return start.generation


def outcomes(these: Generations) -> list[str]:
    return [record.outcome for record in these.history().records]


def record(these: Generations, files: Files) -> int:
    with these.alone():
        return these.record(files, "a test")


def test_without_any_file_the_defaults_are_tried_and_confirmed(these: Generations) -> None:
    start = these.at_start()
    assert (start.settings, start.generation, start.on_trial, start.notes) == (Settings(), 1, True, ())
    assert outcomes(these) == ["trial"]
    these.confirm(1)
    start = these.at_start()
    assert (start.generation, start.on_trial) == (1, False)
    assert outcomes(these) == ["confirmed"]


def test_even_where_the_folder_of_the_owner_is_missing(tmp_path: Path) -> None:
    these = Generations(tmp_path / "a/b", tmp_path / "c/d/appliance.toml")
    assert these.at_start().settings == Settings()
    assert record(these, {"appliance.toml": b"language = 'ko'\n"}) == 2
    assert (tmp_path / "c/d/appliance.toml").read_bytes() == b"language = 'ko'\n"


def test_a_first_trial_that_never_ended_is_begun_again(these: Generations, main: Path) -> None:
    main.write_text("language = 'ko'")
    assert these.at_start().on_trial
    start = these.at_start()
    assert (start.settings.language, start.generation, start.on_trial) == ("ko", 1, True)
    assert main.read_text() == "language = 'ko'"


def test_nothing_to_go_back_to_leaves_what_the_owner_says(these: Generations, main: Path) -> None:
    main.write_text("language = 'ko'")
    these.at_start()
    back = these.reject(1, "no sound")
    assert (back.settings.language, back.generation, back.on_trial) == ("ko", 1, False)
    assert main.read_text() == "language = 'ko'"
    assert these.at_start().generation == 1, "it is the same generation that is tried again"


def test_files_that_were_changed_by_hand_are_a_new_trial(these: Generations, main: Path) -> None:
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.6, 2, True)
    last = these.history().records[-1]
    assert (last.by, last.at) == ("files changed by hand", NOW.isoformat())


def test_a_crash_on_trial_puts_the_files_back(these: Generations, main: Path) -> None:
    main.write_text("[wake]\nthreshold = 0.4\n")
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    these.at_start()
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.4, 1, False)
    assert "Generation 2 of the configuration was taken back" in start.notes[0]
    assert main.read_text() == "[wake]\nthreshold = 0.4\n"
    assert outcomes(these) == ["confirmed", "rejected"]
    assert these.files_of(2) == {"appliance.toml": b"[wake]\nthreshold = 0.6\n"}
    assert these.at_start().notes == ()


def test_a_trial_that_an_orderly_stop_ends_begins_anew_at_the_next_start(these: Generations, main: Path) -> None:
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    trial = these.begin_trial()
    these.postpone(trial.generation)
    assert (outcomes(these), main.read_text()) == (["confirmed", "waiting"], "[wake]\nthreshold = 0.6\n")
    start = these.at_start()
    assert (start.generation, start.on_trial, start.changed) == (2, True, ("wake.threshold",))
    assert start.notes == ()
    these.confirm(2)
    these.postpone(2)
    assert outcomes(these) == ["confirmed", "confirmed"], "what is over is not begun again"


def test_a_trial_that_is_rejected_takes_its_files_along(these: Generations, main: Path) -> None:
    main.write_text("[wake]\nthreshold = 0.4\n")
    confirmed(these)
    drop_in = main.parent / "appliance.toml.d/10.toml"
    drop_in.parent.mkdir()
    drop_in.write_text("[llm]\nroom = 'den'\n")
    trial = these.begin_trial()
    assert (trial.generation, trial.on_trial, trial.changed) == (2, True, ("llm.room",))
    back = these.reject(2, "no sound")
    assert (back.settings.llm.room, back.settings.wake.threshold, back.generation) == ("", 0.4, 1)
    assert not drop_in.exists()
    assert these.history().records[-1].why == "no sound"


def test_files_that_somebody_changed_during_the_trial_are_left_alone(these: Generations, main: Path) -> None:
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    these.begin_trial()
    main.write_text("[wake]\nthreshold = 0.7\n")
    assert these.reject(2, "no sound").settings == Settings()
    assert main.read_text() == "[wake]\nthreshold = 0.7\n"
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.7, 3, True)


def test_bad_files_leave_the_confirmed_ones_in_force_and_are_left_alone(these: Generations, main: Path) -> None:
    main.write_text("[wake]\nthreshold = 0.4\n")
    confirmed(these)
    main.write_text("[wake]\nthreshold = 4\nwrds = 1")
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.4, 1, False)
    assert f"{main}:2: wake.threshold = 4" in start.notes[0]
    assert f"{main}:3: wake.wrds" in start.notes[0]
    assert "generation 1 stays in force" in start.notes[0]
    assert main.read_text() == "[wake]\nthreshold = 4\nwrds = 1"
    with pytest.raises(BadInputError, match=r"wake\.threshold = 4"):
        these.begin_trial()
    assert outcomes(these) == ["confirmed"]


def test_bad_files_at_the_very_first_start(these: Generations, main: Path) -> None:
    main.write_bytes(b"\xff\x00 = [")
    start = these.at_start()
    assert (start.settings, start.generation, start.on_trial) == (Settings(), None, False)
    assert "the built-in defaults are in force" in start.notes[0]


def test_a_change_that_nothing_ran_with_is_tried_at_the_next_start(these: Generations, main: Path) -> None:
    confirmed(these)
    assert record(these, {"appliance.toml": b"[wake]\nthreshold = 0.6\n"}) == 2
    assert outcomes(these) == ["confirmed", "waiting"]
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.6, 2, True)


def test_one_that_waits_is_not_tried_when_another_comes(these: Generations, main: Path) -> None:
    confirmed(these)
    record(these, {"appliance.toml": b"[wake]\nthreshold = 0.6\n"})
    record(these, {"appliance.toml": b"[wake]\nthreshold = 0.7\n"})
    assert these.begin_trial().generation == 3
    assert outcomes(these) == ["confirmed", "untried", "trial"]


def test_a_change_that_comes_during_a_trial_does_not_end_it(these: Generations, main: Path) -> None:
    confirmed(these)
    record(these, {"appliance.toml": b"[wake]\nthreshold = 0.6\n"})
    these.begin_trial()
    record(these, {"appliance.toml": b"[wake]\nthreshold = 0.7\n"})
    assert outcomes(these) == ["confirmed", "trial", "waiting"]
    these.confirm(2)
    assert these.history().confirmed == 2
    trial = these.begin_trial()
    assert (trial.generation, trial.on_trial) == (3, True)
    assert these.reject(3, "no sound").settings.wake.threshold == 0.6
    assert main.read_text() == "[wake]\nthreshold = 0.6\n"


def test_a_change_that_is_undone_before_it_was_tried_is_no_trial(these: Generations, main: Path) -> None:
    main.write_text("# 1")
    confirmed(these)
    record(these, {"appliance.toml": b"[wake]\nthreshold = 0.6\n"})
    main.write_text("# 1")
    trial = these.begin_trial()
    assert (trial.generation, trial.on_trial, trial.changed) == (1, False, ())
    assert outcomes(these) == ["confirmed", "untried"]


def test_a_change_of_comments_is_confirmed_at_once(these: Generations, main: Path) -> None:
    confirmed(these)
    main.write_text("# nothing\n")
    trial = these.begin_trial()
    assert (trial.generation, trial.on_trial, trial.changed) == (2, False, ())
    main.write_text("# nothing at all\n")
    start = these.at_start()
    assert (start.generation, start.on_trial) == (3, False)
    assert outcomes(these) == ["confirmed"] * 3


def test_what_was_rejected_is_tried_again_only_when_somebody_asks(these: Generations, main: Path) -> None:
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    these.begin_trial()
    these.reject(2, "no sound")
    main.write_text("[wake]\nthreshold = 0.6\n")
    start = these.at_start()
    assert (start.settings, start.generation) == (Settings(), 1)
    assert "generation 2, taken back because no sound" in start.notes[0]
    assert "appliance config apply" in start.notes[0]
    trial = these.begin_trial()
    assert (trial.generation, trial.on_trial) == (2, True)


def test_a_rollback_is_a_new_generation_with_the_old_files(these: Generations, main: Path) -> None:
    main.write_text("# old\n[wake]\nthreshold = 0.4\n")
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    these.confirm(these.begin_trial().generation)
    assert record(these, these.files_of(1)) == 3
    assert main.read_text() == "# old\n[wake]\nthreshold = 0.4\n"
    trial = these.begin_trial()
    assert (trial.generation, trial.changed) == (3, ("wake.threshold",))


def test_only_so_many_are_kept_and_always_the_confirmed_one(these: Generations, tmp_path: Path) -> None:
    confirmed(these)
    for index in range(KEPT + 5):
        record(these, {"appliance.toml": f"# {index}\n".encode()})
    numbers = [each.number for each in these.history().records]
    assert numbers == [1, *range(7, KEPT + 7)]
    folders = sorted(int(path.name) for path in (tmp_path / "data/config/generations").iterdir())
    assert folders == numbers
    with pytest.raises(BadInputError, match="there is no generation 3"):
        these.files_of(3)


def test_what_the_group_may_do(these: Generations, main: Path, tmp_path: Path) -> None:
    main.write_text("# x\n")
    main.chmod(0o640)
    before = os.umask(0o077)
    try:
        record(these, {"appliance.toml": b"# y\n", "appliance.toml.d/a.toml": b"# z\n"})
    finally:
        os.umask(before)
    assert stat.S_IMODE(main.stat().st_mode) == 0o640
    assert stat.S_IMODE((main.parent / "appliance.toml.d/a.toml").stat().st_mode) == 0o664
    folders = [main.parent / "appliance.toml.d", tmp_path / "data/config", tmp_path / "data/config/generations/0001"]
    for folder in folders:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o2770
    assert stat.S_IMODE((tmp_path / "data/config/state.json").stat().st_mode) == 0o664


def test_two_changes_wait_for_each_other_and_not_for_ever(
    these: Generations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "PATIENCE", 0.1)
    other = Generations(tmp_path / "data/config", these.owner.main)
    with these.alone():
        with pytest.raises(ApplianceError, match="another change is being made"), other.alone():
            pass
        start = other.at_start()
    assert (start.settings, start.generation, start.on_trial) == (Settings(), None, False)
    assert "not taken back by itself" in start.notes[0]
    with other.alone():
        pass


RUBBISH = [b"", b"{", b"\x00" * 100, b"[1]", b"null", b'{"records": 3}', b'{"records": [{"number": -1, "digest": ""}]}']
ODD = [b'{"confirmed": 77}', b'{"writing": {"number": 5, "before": {}}}', b"{}", b'{"confirmed": 1, "unheard": 1}']


@pytest.mark.parametrize("content", RUBBISH + ODD + [b"[" * 100_000, b"x" * (2 << 20)])
def test_a_damaged_state_keeps_nothing_from_starting(
    these: Generations, main: Path, tmp_path: Path, content: bytes
) -> None:
    main.write_text("[wake]\nthreshold = 0.4\n")
    confirmed(these)
    state = tmp_path / "data/config/state.json"
    state.write_bytes(content)
    main.write_text("[wake]\nthreshold = 4\n")
    start = these.at_start()
    if content not in ODD:
        assert (start.settings.wake.threshold, start.generation) == (0.4, 1), "the files of the generation still say it"
        assert "state.json.damaged" in start.notes[0]
        assert state.with_name("state.json.damaged").read_bytes() == content
    main.write_text("[wake]\nthreshold = 0.7\n")
    start = these.at_start()
    assert (start.settings.wake.threshold, start.on_trial) == (0.7, True)
    assert start.generation is not None
    these.confirm(start.generation)
    assert these.at_start().generation == start.generation


@pytest.mark.parametrize("name", ["state.json", "lock", "generations", "generations/0002", "generations/.new"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_anything_in_the_place_of_ours_keeps_nothing_from_starting(
    these: Generations, main: Path, tmp_path: Path, name: str, what: str
) -> None:
    main.write_text("[wake]\nthreshold = 0.4\n")
    place = tmp_path / "data/config" / name
    place.parent.mkdir(parents=True)
    if what == "file":
        place.write_bytes(b"rubbish")
    else:
        place.mkdir()
    assert these.at_start().settings.wake.threshold == 0.4
    assert these.at_start().settings.wake.threshold == 0.4


def test_anything_in_the_place_of_the_owners_files_is_said(these: Generations, main: Path) -> None:
    confirmed(these)
    main.mkdir()
    drop_ins = main.parent / "appliance.toml.d"
    drop_ins.mkdir()
    os.mkfifo(drop_ins / "pipe.toml")
    (drop_ins / "large.toml").write_bytes(b"#" * (2 << 20))
    (drop_ins / "gone.toml").symlink_to("nowhere")
    (drop_ins / "a\nb.toml").touch()
    (drop_ins / ".hidden.toml").write_bytes(b"\xff")
    (drop_ins / "notes.txt").write_bytes(b"\xff")
    os.close(os.open(os.fsencode(drop_ins) + b"/\xff.toml", os.O_CREAT))
    (note,) = these.at_start().notes
    for said in (
        f"{main}: it cannot be read (it is not a file)",
        f"{drop_ins}/pipe.toml: it cannot be read (it is not a file)",
        f"{drop_ins}/large.toml: it cannot be read (it has more than 1,048,576 bytes)",
        "'a\\nb.toml' is not printable",
        "'\\udcff.toml' is not printable",
        "generation 1 stays in force",
    ):
        assert said in note
    assert len(note.splitlines()) == 7


def test_a_generation_whose_files_are_damaged_is_not_gone_back_to(
    these: Generations, main: Path, tmp_path: Path
) -> None:
    for threshold in (0.4, 0.6):
        main.write_text(f"[wake]\nthreshold = {threshold}\n")
        confirmed(these)
    (tmp_path / "data/config/generations/0002/appliance.toml").write_text("[wake]\nthreshold = 0.9\n")
    main.write_text("what?")
    start = these.at_start()
    assert (start.settings.wake.threshold, start.generation) == (0.4, 1)
    with pytest.raises(BadInputError, match="generation 2 is damaged"):
        these.files_of(2)


def read_only(disk: FakeDisk) -> Generations:
    disk.read_only = True
    return Generations(Path("/data/config"), Path("/etc/appliance/appliance.toml"), disk)


def test_a_read_only_disk_and_nothing_known() -> None:
    start = read_only(FakeDisk({Path("/etc/appliance/appliance.toml"): b"language = 'ko'"})).at_start()
    assert (start.settings.language, start.generation, start.on_trial) == ("ko", None, False)
    assert "Read-only file system" in start.notes[0]
    start = read_only(FakeDisk({Path("/etc/appliance/appliance.toml"): b"language = 'korean'"})).at_start()
    assert (start.settings, start.generation) == (Settings(), None)
    assert len(start.notes) == 2


@pytest.mark.parametrize("end", ["none", "rejected"])
def test_a_read_only_disk_does_not_bring_back_what_did_not_work(end: str) -> None:
    main = Path("/etc/appliance/appliance.toml")
    disk = FakeDisk({main: b"[wake]\nthreshold = 0.4\n"})
    these = Generations(Path("/data/config"), main, disk)
    confirmed(these)
    disk.remove(main)
    disk.write(main, b"[wake]\nthreshold = 0.6\n")
    these.begin_trial()
    if end == "rejected":
        these.reject(2, "no sound")
        disk.remove(main)
        disk.write(main, b"[wake]\nthreshold = 0.6\n")
    start = read_only(disk).at_start()
    assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.4, 1, False)


def test_when_the_trial_cannot_be_ended_on_disk_the_appliance_goes_on() -> None:
    main = Path("/etc/appliance/appliance.toml")
    disk = FakeDisk({main: b"[wake]\nthreshold = 0.4\n"})
    these = Generations(Path("/data/config"), main, disk)
    confirmed(these)
    disk.remove(main)
    disk.write(main, b"[wake]\nthreshold = 0.6\n")
    these.begin_trial()
    disk.read_only = True
    (note,) = these.confirm(2)
    assert "may be taken back" in note
    back = these.reject(2, "no sound")
    assert (back.settings.wake.threshold, back.generation) == (0.4, 1)
    assert "Read-only file system" in back.notes[0]


class Sealed(Disk):
    """The owner's folder cannot be written to."""

    def write(self, path: Path, content: bytes, mode: int = 0o664) -> None:
        if "etc" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        super().write(path, content, mode)


def test_owner_files_that_cannot_be_put_back_do_not_come_into_force(main: Path, tmp_path: Path) -> None:
    main.parent.mkdir()
    these = Generations(tmp_path / "data/config", main, Sealed())
    main.write_text("[wake]\nthreshold = 0.4\n")
    confirmed(these)
    main.write_text("[wake]\nthreshold = 0.6\n")
    these.begin_trial()
    back = these.reject(2, "no sound")
    assert back.settings.wake.threshold == 0.4
    assert "still holds what was taken back: Permission denied" in back.notes[0]
    for _ in range(2):
        start = these.at_start()
        assert (start.settings.wake.threshold, start.generation, start.on_trial) == (0.4, 1, False)
    with pytest.raises(ApplianceError, match="Use sudo"):
        record(these, {"appliance.toml": b"# new"})
    assert outcomes(these) == ["confirmed", "rejected", "untried"]
    assert json.loads((tmp_path / "data/config/state.json").read_text())["writing"] is None
