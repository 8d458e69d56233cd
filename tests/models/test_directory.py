"""Where the data directory is, and what is said of files that are not what they should be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.models import directory as directories
from appliance.models.directory import Damage, damages, data_directory, is_here, require
from appliance.models.manifest import load_manifest, needed
from tests.models.made import FOLDER, VOICE, put


def test_the_directory_given_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path / "given"))
    monkeypatch.setattr(directories, "_SYSTEM", tmp_path)
    assert data_directory() == tmp_path / "given"


def test_then_the_directory_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("APPLIANCE_DATA", raising=False)
    monkeypatch.setattr(directories, "_SYSTEM", tmp_path)
    assert data_directory() == tmp_path


def test_then_the_one_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("APPLIANCE_DATA", raising=False)
    monkeypatch.setattr(directories, "_SYSTEM", tmp_path / "absent")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_directory() == tmp_path / "xdg/appliance"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_directory() == tmp_path / "home/.local/share/appliance"


def test_undamaged(tmp_path: Path) -> None:
    put(tmp_path, FOLDER, VOICE)
    assert not damages(FOLDER, tmp_path)
    assert not damages(VOICE, tmp_path)


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "truncated: 4 of 5 bytes"),
        (lambda path: path.write_bytes(path.read_bytes() + b"!"), "too long: 6 of 5 bytes"),
        (lambda path: path.write_bytes(path.read_bytes()[::-1]), "wrong content"),
        (lambda path: path.unlink(), "missing"),
        (lambda path: (path.unlink(), path.mkdir()), "not a file"),
        (lambda path: (path.unlink(), path.symlink_to(path)), "cannot be read: Too many levels of symbolic links"),
    ],
    ids=["truncated", "too long", "wrong content", "missing", "folder", "loop"],
)
def test_damages_are_named(tmp_path: Path, harm: Callable[[Path], object], problem: str) -> None:
    put(tmp_path, FOLDER)
    harm(tmp_path / "models/stt/folder/am/final.mdl")
    assert damages(FOLDER, tmp_path) == (Damage("stt/folder/am/final.mdl", problem),)
    assert is_here(FOLDER, tmp_path)
    seen_at_start = damages(FOLDER, tmp_path, contents=False)
    assert bool(seen_at_start) == (problem != "wrong content")


def test_nothing_is_here(tmp_path: Path) -> None:
    assert not is_here(FOLDER, tmp_path)
    assert [damage.problem for damage in damages(FOLDER, tmp_path / "absent")] == ["missing", "missing"]


def test_require_is_content_with_what_is_there(tmp_path: Path) -> None:
    put(tmp_path, FOLDER, VOICE)
    require([FOLDER, VOICE], tmp_path)


def test_require_names_all_that_is_wrong_at_once(tmp_path: Path) -> None:
    put(tmp_path, FOLDER)
    (tmp_path / "models/stt/folder/conf/model.conf").write_bytes(b"")
    message = (
        r"stt/folder/conf/model\.conf: truncated: 0 of 4 bytes; voice/joe\.onnx: missing; "
        r"voice/joe\.onnx\.json: missing\. Run: appliance models fetch stt/folder voice/joe\.onnx\."
    )
    with pytest.raises(ApplianceError, match=message):
        require([FOLDER, VOICE], tmp_path)


def test_the_default_models_are_found(models_dir: Path) -> None:
    require(needed(load_manifest(), "en", "moonshine", ["alexa"], "en_US-joe-medium"), models_dir)
