"""A folder for a machine without a network."""

import getpass
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.errors import BadInputError
from appliance.installation.bundle import INDEX, Bundle, index

CONTROL = "Package: bell\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\nDescription: rings\n"


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="dpkg-deb is not installed")
def test_the_index_has_what_apt_needs_of_each_package(tmp_path: Path) -> None:
    (tmp_path / "bell/DEBIAN").mkdir(parents=True)
    (tmp_path / "bell/DEBIAN/control").write_text(CONTROL)
    subprocess.run(["dpkg-deb", "--build", tmp_path / "bell"], check=True, capture_output=True)
    index(tmp_path)
    size = (tmp_path / "bell.deb").stat().st_size
    with lzma.open(tmp_path / INDEX, "rt") as file:
        found = file.read()
    assert found.startswith(f"{CONTROL}Filename: ./bell.deb\nSize: {size}\nSHA256: ")


def test_only_missing_or_damaged_models_are_copied(tmp_path: Path) -> None:
    models, data = tmp_path / "bundle/models", tmp_path / "data"
    contents = {"vad/a": "one", "stt/b": "two", "stt/deep/c": "three", ".fetch/d": "left", "stt/.lock": ""}
    for name, content in contents.items():
        (models / name).parent.mkdir(parents=True, exist_ok=True)
        (models / name).write_text(content)
    (data / "models/stt").mkdir(parents=True)
    (data / "models/stt/b").write_text("owt")
    (data / "models/own").write_text("the owner's")
    (data / "models/vad").mkdir()
    (data / "models/vad/a").write_text("one")
    before = (data / "models/vad/a").stat().st_ino

    Bundle(tmp_path / "bundle").copy_models(data, getpass.getuser())
    found = {str(path.relative_to(data)): path.read_text() for path in data.rglob("*") if path.is_file()}
    assert found == {
        "models/vad/a": "one",
        "models/stt/b": "two",
        "models/stt/deep/c": "three",
        "models/own": "the owner's",
    }
    assert (data / "models/vad/a").stat().st_ino == before


def test_a_folder_that_is_none_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--download"):
        Bundle(tmp_path).require()
