"""A power cut at any moment of any change leaves the old or the new configuration, whole, and the appliance starts."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from appliance.config.generations import Generations, Start
from appliance.config.states import decode
from tests.config.power import FakeDisk, PowerCutError

ETC, DATA = Path("/etc/appliance"), Path("/data/config")
MAIN = ETC / "appliance.toml"
OLD = {
    "appliance.toml": b"[wake]\nthreshold = 0.4\n",
    "appliance.toml.d/10-room.toml": b"[llm]\nroom = 'kitchen'\n",
    "appliance.toml.d/20-button.toml": b"[button]\npin = 4\n",
}
NEW = {
    "appliance.toml": b"[wake]\nthreshold = 0.6\n",
    "appliance.toml.d/10-room.toml": b"[llm]\nroom = 'den'\n",
    "appliance.toml.d/30-voice.toml": b"[listening]\npause = 1\n",
}
OLD_ROOM, NEW_ROOM = "kitchen", "den"


def generations(disk: FakeDisk) -> Generations:
    return Generations(DATA, MAIN, disk)


def confirmed(disk: FakeDisk) -> int:
    """It has started with what is there, and that works."""
    start = generations(disk).at_start()
    assert start.generation is not None
    generations(disk).confirm(start.generation)
    return start.generation


def change(disk: FakeDisk) -> None:
    these = generations(disk)
    with these.alone():
        these.record(NEW, "a test")


def begin(disk: FakeDisk) -> None:
    generations(disk).begin_trial()


def confirm(disk: FakeDisk) -> None:
    generations(disk).confirm(2)


def reject(disk: FakeDisk) -> None:
    generations(disk).reject(2, "no sound")


def start(disk: FakeDisk) -> None:
    generations(disk).at_start()


def first_start(disk: FakeDisk) -> None:
    confirmed(disk)


def roll_back(disk: FakeDisk) -> None:
    these = generations(disk)
    with these.alone():
        these.record(these.files_of(1), "rollback")


def made_by(*doing: Callable[[FakeDisk], None]) -> FakeDisk:
    """OLD, and what was done with it."""
    disk = FakeDisk({ETC / name: content for name, content in OLD.items()})
    for each in doing:
        each(disk)
    return disk


_FRESH = made_by()
_OLD = made_by(first_start)
_WAITING = made_by(first_start, change)
_ON_TRIAL = made_by(first_start, change, begin)


def fresh() -> FakeDisk:
    """OLD was never started with."""
    return _FRESH.rebooted(None)


def old() -> FakeDisk:
    """OLD is in force."""
    return _OLD.rebooted(None)


def waiting() -> FakeDisk:
    """NEW is written, and waits."""
    return _WAITING.rebooted(None)


def on_trial() -> FakeDisk:
    """NEW is on trial."""
    return _ON_TRIAL.rebooted(None)


Case = tuple[Callable[[], FakeDisk], Callable[[FakeDisk], None]]
CASES: dict[str, Case] = {
    "a change": (old, change),
    "its trial begins": (waiting, begin),
    "it is confirmed": (on_trial, confirm),
    "it is rejected": (on_trial, reject),
    "a start with a change that waits": (waiting, start),
    "a start after a crash on trial": (on_trial, start),
    "a rollback": (on_trial, roll_back),
    "the very first start": (fresh, first_start),
}


def cut(disk: FakeDisk, after: int, doing: Callable[[FakeDisk], None], chance: random.Random | None) -> FakeDisk:
    """The disk after the power went after so many operations, and came back."""
    disk.left = after
    with suppress(PowerCutError):
        doing(disk)
    return disk.rebooted(chance)


def operations(case: Case) -> int:
    """How many the change takes."""
    disk = case[0]()
    disk.done = 0
    case[1](disk)
    return disk.done


def is_whole(disk: FakeDisk, began: Start) -> None:
    """What is in force is the old or the new, and so are the owner's files, once it has started."""
    etc = generations(disk).owner.read()
    assert etc in (OLD, NEW)
    assert (began.settings.llm.room, began.settings.wake.threshold) in ((OLD_ROOM, 0.4), (NEW_ROOM, 0.6))
    assert began.settings.button.pin == (4 if began.settings.llm.room == OLD_ROOM else 17)
    assert began.generation is not None
    assert not any("damaged" in note for note in began.notes), began.notes
    in_force = OLD if began.settings.llm.room == OLD_ROOM else NEW
    assert generations(disk).files_of(began.generation) == in_force
    assert etc == in_force
    assert decode(disk.read(DATA / "state.json")).writing is None


def moments(case: Case) -> Iterator[tuple[int, random.Random | None]]:
    for after in range(operations(case) + 1):
        yield after, None
        for seed in range(3):
            yield after, random.Random(seed)  # noqa: S311


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_power_cut_after_every_operation(case: Case) -> None:
    before, doing = case
    assert operations(case) >= 3
    for after, chance in moments(case):
        disk = cut(before(), after, doing, chance)
        is_whole(disk, generations(disk).at_start())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_second_power_cut_while_it_starts_again(case: Case) -> None:
    before, doing = case
    chance = random.Random(1)  # noqa: S311
    for after in range(operations(case) + 1):
        for second in range(0, 30, 4):
            disk = cut(before(), after, doing, chance)
            disk = cut(disk, second, start, chance)
            is_whole(disk, generations(disk).at_start())


def test_what_was_confirmed_or_rejected_stays_so() -> None:
    disk = on_trial()
    confirm(disk)
    disk = disk.rebooted(None)
    assert generations(disk).at_start().settings.llm.room == NEW_ROOM
    disk = on_trial()
    reject(disk)
    disk = disk.rebooted(None)
    assert generations(disk).at_start().settings.llm.room == OLD_ROOM
    assert generations(disk).owner.read() == OLD


def test_a_change_that_nobody_was_told_of_may_be_completed_only_where_nobody_else_wrote() -> None:
    total = operations((old, change))
    for after in range(total):
        disk = cut(old(), after, change, None)
        theirs = b"[llm]\nroom = 'attic'\n"
        room = ETC / "appliance.toml.d/10-room.toml"
        disk.remove(room)
        disk.write(room, theirs)
        generations(disk).at_start()
        assert disk.read(room) == theirs


CHANGING = """
import json, sys
from pathlib import Path
from appliance.config.generations import Generations
these = Generations(Path(sys.argv[1]), Path(sys.argv[2]))
states = [{name: text.encode() for name, text in state.items()} for state in json.loads(sys.argv[3])]
while True:
    for state in states:
        with these.alone():
            these.record(state, "a test")
        these.confirm(these.begin_trial().generation)
    print("round", flush=True)
"""


def test_a_process_that_is_killed_on_a_real_disk(tmp_path: Path) -> None:
    main = tmp_path / "etc/appliance.toml"
    (main.parent / "appliance.toml.d").mkdir(parents=True)
    for name, content in OLD.items():
        (main.parent / name).write_bytes(content)
    these = Generations(tmp_path / "data", main)
    states = json.dumps([{name: content.decode() for name, content in state.items()} for state in (NEW, OLD)])
    chance = random.Random(2)  # noqa: S311
    highest = 0
    for _ in range(8):
        command = [sys.executable, "-c", CHANGING, str(tmp_path / "data"), str(main), states]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "round\n"
            time.sleep(chance.uniform(0, 0.2))  # wherever it is then
            process.kill()
        began = these.at_start()
        assert began.settings.llm.room in (OLD_ROOM, NEW_ROOM)
        assert these.owner.read() == (OLD if began.settings.llm.room == OLD_ROOM else NEW)
        assert not any("damaged" in note for note in began.notes)
        highest = max(record.number for record in these.history().records)
    assert highest > 8, "there was something to be killed in"
