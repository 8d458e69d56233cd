"""Versions: what they are called, when they count, and what is removed."""

import shutil
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.installation.version import (
    FROM_THE_SYSTEM,
    LOCKS,
    Pip,
    copy_code,
    is_complete,
    lock_of,
    make,
    remove_others,
    version_of,
)

ROOT = Path(__file__).parents[2]


class NoPip(Pip):
    """Makes no environment, and may fail at that."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(Path("/nowhere"))
        self._fails = fails

    def make_environment(self, version: Path, lock: str) -> None:
        if self._fails:
            raise ApplianceError("Python packages", "no network")
        (version / ".venv").mkdir()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    copy_code(ROOT, tmp_path / "checkout")
    return tmp_path / "checkout"


def test_a_copy_of_a_checkout_is_the_same_version(checkout: Path) -> None:
    (checkout / "appliance/__pycache__").mkdir()
    (checkout / "appliance/__pycache__/cli.pyc").touch()
    (checkout / "notes").touch()
    assert version_of(checkout, "run") == version_of(ROOT, "run")


def test_another_content_mode_or_set_of_packages_is_another_version(checkout: Path) -> None:
    names = {version_of(checkout, lock) for lock in LOCKS}
    (checkout / "install.sh").chmod(0o644)
    names.add(version_of(checkout, "run"))
    (checkout / "README.md").write_text("Another one")
    names.add(version_of(checkout, "run"))
    (checkout / "docs/service.md").rename(checkout / "docs/services.md")
    names.add(version_of(checkout, "run"))
    assert len(names) == 5


def test_what_is_copied_can_be_read_by_everybody(checkout: Path) -> None:
    assert (checkout / "install.sh").stat().st_mode & 0o777 == 0o755
    assert (checkout / "README.md").stat().st_mode & 0o777 == 0o644


def test_a_version_is_complete_with_its_environment_and_says_what_it_was_made_of(tmp_path: Path) -> None:
    version = tmp_path / "version"
    assert lock_of(version) == "run"
    make(ROOT, version, "local-llm", NoPip())
    assert is_complete(version)
    assert lock_of(version) == "local-llm"


def test_a_version_that_was_cut_off_does_not_count_and_is_made_anew(tmp_path: Path) -> None:
    version = tmp_path / "version"
    with pytest.raises(ApplianceError):
        make(ROOT, version, "run", NoPip(fails=True))
    assert not is_complete(version)
    (version / "appliance/left.py").touch()
    make(ROOT, version, "run", NoPip())
    assert is_complete(version)
    assert not (version / "appliance/left.py").exists()


@pytest.mark.parametrize("lock", LOCKS)
def test_what_the_system_has_compiled_is_not_fetched(lock: str, tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    shutil.copytree(ROOT / "config", tmp_path / "config")
    wanted = Pip(tmp_path).requirements(tmp_path, lock).read_text()
    for name in FROM_THE_SYSTEM:
        assert f"\n{name}==" in (tmp_path / f"config/{lock}.lock").read_text()
        assert f"{name}==" not in wanted
    lines = wanted.splitlines()
    packages = [number for number, line in enumerate(lines) if "==" in line]
    assert all("--hash=" in lines[number + 1] for number in packages)
    assert lines[packages[0] - 1].startswith("#")


def test_only_named_versions_are_kept(tmp_path: Path) -> None:
    versions = tmp_path / "versions"
    for name in ("one", "two", "three", "four"):
        (versions / name).mkdir(parents=True)
        (versions / name / "complete").touch()
    (tmp_path / "current").symlink_to(versions / "four")
    (tmp_path / "previous").symlink_to(versions / "two")
    assert remove_others(versions, [tmp_path / "current", tmp_path / "previous"]) == ["one", "three"]
    assert sorted(path.name for path in versions.iterdir()) == ["four", "two"]
    shutil.rmtree(versions / "two")
    assert remove_others(versions, [tmp_path / "current", tmp_path / "previous"]) == []
