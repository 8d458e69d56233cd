"""Power cuts at random moments, and what the appliance is like when the power is back.

    first start            the first time that it starts after its installation
    change                 two owners change two settings each, again and again, and the running appliance tries them
    change, not running    the same while the appliance is stopped
    upgrade                a version that was never here is installed
    switch                 one that was here before is installed

After each cut it has to become ready by itself, with the version from before or the new one. What each owner has
changed has to be whole: both settings, which lie in two files, have the values that were acknowledged last, or both
those that were on their way.
"""

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.system.machine import LONGEST
from tests.system.power.board import Board, Powered
from tests.system.power.editor import value
from tests.system.power.image import MADE, UPGRADE, Image

OWNERS = {"anna": ("wake.threshold", "listening.pause"), "ben": ("wake.refractory", "listening.preroll")}
"""What each changes: a setting in the main file, and one in the drop-in."""

BEGINNING = 0
"""The number of what they have set before the first start."""

FIRST_START, CHANGE, CHANGE_NOT_RUNNING, NEW_VERSION, SWITCH = (
    *("first start", "change", "change, not running", "upgrade", "switch"),
)

SECONDS = {FIRST_START: 15.0, CHANGE: 15.0, CHANGE_NOT_RUNNING: 5.0, NEW_VERSION: 60.0, SWITCH: 14.0}
STEPS = {FIRST_START: 80, CHANGE: 600, CHANGE_NOT_RUNNING: 600, NEW_VERSION: 1500, SWITCH: 80}
"""A cut comes after so many seconds (on the fastest board), or writes and flushes of the disk, at most."""
BY_TIME = 0.3
"""The share of the cuts by seconds: most happens in the moments in which it is written."""

EDITING = (
    "umask 7; exec runuser -u {name} -- env APPLIANCE_DATA=/var/lib/appliance"
    " /opt/appliance/current/.venv/bin/python -B /srv/editor.py {name} {first} {keys} >>{telling} 2>&1"
)

READY = """
until systemctl --quiet is-active appliance; do sleep 1; done
until status=$(appliance status --json) && ! echo "$status" | grep --quiet '"on_trial": true'; do sleep 1; done
"""

COMMENTS = {"appliance.toml": "# What is mine.", "appliance.toml.d/room.toml": "# What the room needs."}

LINE = 4
"""Words of a line of the editor."""

DISK_IS_GONE = "Input/output error", "Read-only file system"
"""What a program may still say that has not noticed in time that there is no power."""

LOOK = 0.2
"""Seconds between two looks at how far it is."""


@dataclass(slots=True)
class Cut:
    """One power cut, and what came of it."""

    kind: str
    seed: int
    moment: str = ""
    lost: tuple[int, int] = 0, 0
    """Blocks, and of how many that were in the disk's cache only."""
    before: str = ""
    """What was said last before the cut."""
    outcome: str = ""
    ready: float = 0.0
    """Seconds from the power's coming back to ready."""
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Known:
    """What it may be like: of each owner the number of the values, and the version; the first is the old one."""

    numbers: dict[str, list[int]] = field(default_factory=lambda: {name: [BEGINNING] for name in OWNERS})
    versions: list[str] = field(default_factory=lambda: [MADE[-1]])
    unfinished: str = ""
    """A version whose installation was cut off."""
    used: int = BEGINNING
    """The largest number that an owner has used."""


def cuts(kind_of_board: type[Board], image: Image, folder: Path, plan: Sequence[tuple[str, int]]) -> Iterator[Cut]:
    """Cut the power, of this kind and with this seed, one after the other. The first one is a `first start`.

    An upgrade that was cut off is done again next time, and completed in the end.
    """
    board: Board | None = None
    known, last = Known(), None
    for kind, seed in plan:
        chance, cut = random.Random(seed), Cut(kind, seed)  # noqa: S311  it can be had again
        if kind == FIRST_START:
            if board is not None and last is not None:
                with board.powered() as powered:
                    yield look(powered, known, last)
                board.close()
            board, known = kind_of_board(image, folder), Known()
        assert board is not None, "the first one is a first start"
        with board.powered() as powered:
            if kind != FIRST_START and last is not None:
                yield look(powered, known, last)
            begin(powered, known, cut, board.telling)
            interrupt(powered, chance, cut, board.slowness)
            note(powered, known, cut)
        cut.lost = board.lose(chance)
        last = cut
    if board is not None and last is not None:
        with board.powered() as powered:
            yield look(powered, known, last)
            if known.unfinished:
                powered.check("sh", "-c", UPGRADE.format(number=known.unfinished, telling=board.telling))
                known.versions = [known.unfinished]
                yield look(powered, known, Cut("no more", 0))
        board.close()


def begin(powered: Powered, known: Known, cut: Cut, telling: str) -> None:
    """Have it do what is to be cut, and wait until it does."""
    if cut.kind == FIRST_START:
        return
    if cut.kind in (CHANGE, CHANGE_NOT_RUNNING):
        if cut.kind == CHANGE_NOT_RUNNING:
            powered.check("systemctl", "stop", "appliance")
        for name, keys in OWNERS.items():
            editing = EDITING.format(name=name, first=known.used + 1, keys=" ".join(keys), telling=telling)
            powered.start("sh", "-c", editing)
        started = [f"{name} begin" for name in OWNERS]
    else:
        old = known.versions[0]
        number = next(each for each in MADE if each != old) if cut.kind == SWITCH else known.unfinished
        number = number or f"0.2.{cut.seed}"
        known.versions.append(number)
        powered.start("sh", "-c", UPGRADE.format(number=number, telling=telling))
        started = ["==> Version" if cut.kind == NEW_VERSION else "==> Models"]
    deadline = time.monotonic() + LONGEST
    while not all(any(line.startswith(each) for line in powered.progress()) for each in started):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{cut.kind} does not begin: {powered.progress()}")
        time.sleep(LOOK)


def interrupt(powered: Powered, chance: random.Random, cut: Cut, slowness: float) -> None:
    """Cut the power at a random moment."""
    began, steps_before = time.monotonic(), powered.steps()
    if chance.random() < BY_TIME:
        seconds = chance.uniform(0, SECONDS[cut.kind] * slowness)
        powered.cut_after_seconds(seconds)
    else:
        powered.cut_after_steps(chance.randint(1, STEPS[cut.kind]), 2 * SECONDS[cut.kind] * slowness)
    cut.moment = f"after {time.monotonic() - began:.2f} s and {powered.steps() - steps_before} steps"


def note(powered: Powered, known: Known, cut: Cut) -> None:
    """What it may be like after this."""
    for line in powered.progress():
        if any(sign in line for sign in DISK_IS_GONE):
            break
        cut.before, words = line, line.split() or [""]
        if words[0] in OWNERS and len(words) == LINE:  # the last one may have been cut off too
            name, what, number, result = words
            if what == "begin":
                known.numbers[name].append(int(number))
                known.used = max(known.used, int(number))
            elif result == "0":
                known.numbers[name] = [int(number)]
            else:
                cut.wrong.append(f"a change failed: {line}")
        elif line.startswith("==> The appliance runs"):
            known.versions = known.versions[-1:]


def look(powered: Powered, known: Known, cut: Cut) -> Cut:
    """What it is like; that is known, then."""
    began = time.monotonic()
    done = powered.run("timeout", str(LONGEST - 60), "sh", "-c", READY)
    cut.ready = time.monotonic() - began
    if done.status != 0:
        cut.wrong.append(f"it is not ready: {powered.run('journalctl', '--unit=appliance', '--lines=60').output}")
        return cut
    outcomes = []
    shown = json.loads(powered.check("appliance", "config", "show", "--json"))
    for name, keys in OWNERS.items():
        found = {_at(shown, key) for key in keys}
        allowed = {float(value(number)): number for number in known.numbers[name]}
        if len(found) != 1 or not found <= allowed.keys():
            cut.wrong.append(f"{name}: {found}, and not both {' or '.join(map(str, allowed))}")
        elif len(allowed) > 1:
            outcomes.append("old" if found == {next(iter(allowed))} else "new")
        known.numbers[name] = [allowed.get(each, BEGINNING) for each in found][:1]
    cut.wrong += _history(powered)
    version = Path(powered.check("readlink", "/opt/appliance/current").strip()).name
    number = version.partition("-")[0]
    if number not in known.versions:
        cut.wrong.append(f"version {version}, and not {' or '.join(known.versions)}")
    elif len(known.versions) > 1:
        outcomes.append("old" if number == known.versions[0] else "new")
    if cut.kind == NEW_VERSION:
        known.unfinished = known.versions[-1] if number != known.versions[-1] else ""
    known.versions = [number]
    for path, there in (("current/complete", True), ("current/.venv/bin/appliance", True), ("fallback", False)):
        if (powered.run("test", "-e", f"/opt/appliance/{path}").status == 0) is not there:
            cut.wrong.append(f"{path} is {'not ' if there else ''}there")
    nothing = "the same" if cut.kind == FIRST_START else "new"  # for that was acknowledged
    cut.outcome = " and ".join(outcomes) or nothing
    return cut


def _history(powered: Powered) -> list[str]:
    """What is wrong with the generations, and with the files."""
    wrong = []
    files = {name: powered.check("cat", f"/etc/appliance/{name}") for name in COMMENTS}
    wrong += [f"{name} has lost its comment" for name, text in files.items() if COMMENTS[name] not in text]
    history = json.loads(powered.check("appliance", "config", "history", "--json"))
    confirmed = powered.run("appliance", "config", "history", str(history["confirmed"]), "--json")
    status = json.loads(powered.check("appliance", "status", "--json"))
    if status["configuration"]["generation"] != history["confirmed"]:
        wrong.append(f"in force: {status['configuration']}, confirmed: {history['confirmed']}")
    if confirmed.status != 0 or json.loads(confirmed.output) != files:
        wrong.append(f"the files are not those of generation {history['confirmed']}{confirmed.errors}")
    for path in ("var/lib/appliance/config/state.json.damaged",):
        if powered.run("test", "-e", f"/{path}").status == 0:
            wrong.append(f"/{path} is there")
    return wrong


def _at(settings: Any, key: str) -> float:
    for name in key.split("."):
        settings = settings[name]
    return float(settings)
