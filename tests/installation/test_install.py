"""The way to a new version, and back."""

from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.installation import install as steps
from appliance.installation import unit
from appliance.installation.install import install
from appliance.installation.place import Place
from appliance.installation.unit import State


class Machine:
    """A place that a version can be installed in, where nothing is really started."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = Place(root)
        self.works = {"a": True, "b": True, "c": True}
        """Which versions get ready."""
        self.started: list[str] = []
        self.version = ""
        monkeypatch.setattr(unit, "require", lambda: None)
        monkeypatch.setattr(unit, "number", lambda: 252)
        monkeypatch.setattr(unit, "control", lambda *_arguments: None)
        monkeypatch.setattr(unit, "state", lambda: State("active" if self.started else "inactive", "", 0, ""))
        monkeypatch.setattr(unit, "restart", self._restart)
        monkeypatch.setattr(steps, "_complete", lambda *_arguments: self._made())
        monkeypatch.setattr(steps, "_make_user", lambda _version: None)
        monkeypatch.setattr(steps, "_fetch_models", lambda *_arguments: None)

    def install(self, version: str) -> None:
        self.version = version
        install(Path("/nowhere"), self.place, None, None)

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
