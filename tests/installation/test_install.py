"""The way to a new version, and back."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance import files
from appliance.errors import ApplianceError
from appliance.installation import install as steps
from appliance.installation import unit, weights
from appliance.installation.install import install, uninstall
from appliance.installation.place import Place
from appliance.installation.unit import State
from appliance.service import ends

ROOT = Path(__file__).parents[2]


class Machine:
    """A place that a version can be installed in, where nothing is really started."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = Place(root)
        self.works = {"a": True, "b": True, "c": True}
        """Which versions get ready."""
        self.started: list[str] = []
        self.version = ""
        self.seen: Callable[[], object] = lambda: None
        """Called at each start."""
        monkeypatch.setattr(unit, "require", lambda: None)
        monkeypatch.setattr(unit, "number", lambda: 252)
        monkeypatch.setattr(unit, "control", lambda *_arguments: None)
        monkeypatch.setattr(unit, "state", lambda: State("active" if self.started else "inactive", "", 0, ""))
        monkeypatch.setattr(unit, "restart", self._restart)
        monkeypatch.setattr(steps, "_complete", lambda *_arguments: self._made())
        monkeypatch.setattr(steps, "_make_user", lambda _version: None)
        monkeypatch.setattr(steps, "_fetch_models", self._fetch)
        monkeypatch.setattr(os, "sync", lambda: None)
        monkeypatch.setattr(steps, "_is_user", lambda: False)
        monkeypatch.setattr(weights, "_link_as_user", lambda _version, old, new: weights.fill(old, new))

    def install(self, version: str) -> None:
        self.version = version
        install(Path("/nowhere"), self.place, None, None)

    def boot(self) -> None:
        """What appliance-settle.service does, and then the service starts, if it is to."""
        if self.place.fallback.is_symlink():
            text = (ROOT / "systemd/appliance-settle.service").read_text()
            text = text.replace("/opt/", f"{self.place.root}/opt/").replace("/var/", f"{self.place.root}/var/")
            for line in re.findall("^ExecStart=-?((?:mv|ln) .*)", text, re.MULTILINE):
                subprocess.run(line.split(), check=False, capture_output=True)

    def heard(self) -> str:
        """Which content of the voice the version has that is current."""
        return (self.place.models / "voice/sound").read_text()

    def _fetch(self, version: Path, place: Place, _bundle: object) -> None:
        """All versions have the same ears, but each has a voice of its own, by the same name."""
        models = weights.data_of(version, place) / "models"
        for name, content in (("ears", "same"), ("voice/sound", version.name)):
            path = models / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != content:
                new = path.with_name("new")
                new.write_text(content)
                files.rename(new, path)

    def links(self) -> dict[str, str]:
        """Which version each link leads to."""
        links = (self.place.current, self.place.fallback, self.place.previous)
        return {link.name: link.resolve().name for link in links if link.is_symlink()}

    def _made(self) -> Path:
        version = self.place.versions / self.version
        (version / "systemd").mkdir(parents=True, exist_ok=True)
        (version / "systemd/appliance-settle.service").touch()
        return version

    def _restart(self) -> str:
        current = self.place.current.resolve().name
        self.started.append(current)
        self.seen()
        return "" if self.works[current] else "it failed"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_first_version_has_none_to_go_back_to(machine: Machine) -> None:
    machine.works["a"] = False
    with pytest.raises(ApplianceError, match="it goes on from here"):
        machine.install("a")
    assert machine.links() == {"current": "a"}


def test_the_version_before_is_kept_and_older_ones_are_removed(machine: Machine) -> None:
    for version in "abc":
        machine.install(version)
    assert machine.links() == {"current": "c", "previous": "b"}
    assert sorted(path.name for path in machine.place.versions.iterdir()) == ["b", "c"]


def test_the_same_version_is_not_started_anew(machine: Machine) -> None:
    machine.install("a")
    machine.install("a")
    assert machine.started == ["a"]


def test_one_that_does_not_get_ready_gives_way_to_the_one_before(machine: Machine) -> None:
    machine.install("a")
    machine.works["b"] = False
    with pytest.raises(ApplianceError, match="version b: it failed; version a is back, and ready"):
        machine.install("b")
    assert machine.started == ["a", "b", "a"]
    assert machine.links() == {"current": "a"}


def test_an_upgrade_that_was_cut_off_is_finished_by_another_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install("a")
    with monkeypatch.context() as patch:
        patch.setattr(unit, "restart", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine.install("b")
    assert machine.links() == {"current": "b", "fallback": "a"}
    machine.install("b")
    assert machine.links() == {"current": "b", "previous": "a"}


def test_a_third_version_goes_back_to_the_last_one_that_was_ready(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install("a")
    with monkeypatch.context() as patch:
        patch.setattr(unit, "restart", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine.install("b")
    machine.works["c"] = False
    with pytest.raises(ApplianceError, match="version a is back, and ready"):
        machine.install("c")
    assert machine.links() == {"current": "a"}


def interrupted() -> str:
    raise KeyboardInterrupt


def test_a_version_that_fails_before_it_starts_gives_way_too(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install("a")

    def control(*arguments: str) -> None:
        if arguments[0] == "enable" and machine.place.current.resolve().name == "b":
            raise ApplianceError("systemctl enable", "the unit is bad")

    monkeypatch.setattr(unit, "control", control)
    with pytest.raises(ApplianceError, match=r"the unit is bad.*version a is back, and ready"):
        machine.install("b")
    assert machine.links() == {"current": "a"}


GONE = """
import os, signal, sys
from pathlib import Path
from appliance.installation import command, install, unit
from appliance.installation.place import Place

place = Place(Path(sys.argv[1]))
unit.control = install._link = lambda *_arguments: None

def restart():
    if place.current.resolve().name == "b":  # while it is waited for, the terminal goes
        os.kill(os.getpid(), signal.SIGHUP)
        for stream in (1, 2):
            os.dup2(int(sys.argv[2]), stream)
        return "it failed"
    return ""

unit.restart = restart
command._do = lambda _options: install._try(place.versions / "b", place)
sys.exit(command.main(["install"]))
"""


def test_it_goes_back_though_the_terminal_is_gone(machine: Machine) -> None:
    machine.install("a")
    files.link(machine.place.fallback, machine.place.versions / "a")
    files.link(machine.place.current, machine.place.versions / "b")
    unread, end = os.pipe()
    os.close(unread)
    done = subprocess.run(
        [sys.executable, "-c", GONE, machine.place.root, str(end)],
        pass_fds=[end],
        check=False,
        capture_output=True,
        text=True,
    )
    os.close(end)
    assert (done.returncode, done.stderr) == (1, "")
    assert machine.links() == {"current": "a"}


def test_install_sh_has_no_terminal_hinder_it() -> None:
    lines = (ROOT / "install.sh").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if "-m appliance.installation" in line)
    assert lines[start - 1].startswith("    trap '' HUP")


def test_each_version_has_its_own_models_and_those_that_are_the_same_only_once(machine: Machine) -> None:
    machine.install("a")
    assert machine.heard() == "a"
    ears = (machine.place.models / "ears").stat().st_ino
    (machine.place.models / "mine").write_text("the owner's")
    machine.install("b")
    assert machine.heard() == "b"
    assert (machine.place.models / "ears").stat().st_ino == ears
    assert (machine.place.models / "mine").read_text() == "the owner's"
    assert [path.name for path in machine.place.weights.iterdir()] == ["b"]


@pytest.mark.parametrize("is_first", [False, True])
def test_who_goes_back_has_its_models_again(machine: Machine, *, is_first: bool) -> None:
    """`is_first`: the version before does not yet know of trees."""
    machine.install("a")
    if is_first:
        weights.keep(machine.place)
        (machine.place.versions / "a/weights").unlink()
    machine.works["b"] = False
    heard: list[str] = []
    machine.seen = lambda: heard.append(machine.heard())
    with pytest.raises(ApplianceError, match="version a is back"):
        machine.install("b")
    assert heard == ["b", "a"]
    assert machine.heard() == "a"


class PowerCutError(Exception):
    """Nothing is done any more."""


@pytest.mark.parametrize("is_first", [False, True])
def test_whenever_the_power_is_cut_the_version_that_boots_has_its_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    is_cut, number = True, 0
    while is_cut:
        with monkeypatch.context() as patch:
            machine = Machine(tmp_path / str(number), patch)
            machine.install("a")
            if is_first:
                weights.keep(machine.place)
                (machine.place.versions / "a/weights").unlink()
            with monkeypatch.context() as cut:
                cut_after(number, cut, machine)
                try:
                    machine.install("b")
                    is_cut = False
                except PowerCutError:
                    pass
            machine.boot()
            version = machine.place.current.resolve().name
            assert machine.heard() == version, f"after {number} steps"
            assert is_cut or version == "b"
            machine.install("b")
            assert machine.heard() == "b"
            assert [path.name for path in machine.place.weights.iterdir()] == ["b"]
        number += 1
    assert number > 20


def cut_after(number: int, patch: pytest.MonkeyPatch, machine: Machine) -> None:
    """Cut the power when so many changes were made; all that is said and asked is none."""
    left = [number]

    def counted(change: Callable[..., object]) -> Callable[..., object]:
        def changed(*arguments: object, **named: object) -> object:
            if left[0] == 0:
                raise PowerCutError
            left[0] -= 1
            return change(*arguments, **named)

        return changed

    for owner, name in ((os, "link"), (Path, "replace"), (Path, "symlink_to"), (Path, "mkdir"), (Path, "unlink")):
        patch.setattr(owner, name, counted(getattr(owner, name)))


def test_what_is_removed_leaves_the_models_in_a_folder_and_the_next_start_is_a_first_one(machine: Machine) -> None:
    machine.install("a")
    assert machine.place.last_end.name == ends.NAME
    machine.place.last_end.touch()
    uninstall(machine.place, purge=False)
    assert not machine.place.last_end.exists()
    assert not machine.place.models.is_symlink()
    assert machine.heard() == "a"
    assert sorted(path.name for path in machine.place.data.iterdir()) == ["models"]
    ears = (machine.place.models / "ears").stat().st_ino
    machine.started.clear()
    machine.install("b")
    assert (machine.heard(), (machine.place.models / "ears").stat().st_ino) == ("b", ears)
