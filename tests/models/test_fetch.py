"""Fetching from start to end: a real pip on a folder of wheels, a real server for archives, real kills."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest

from appliance.errors import ApplianceError
from appliance.models.directory import damages, files_of
from appliance.models.fetch import fetch
from appliance.models.manifest import Manifest, Model
from appliance.models.report import Report
from tests.models.made import CONTENTS, FOLDER, VOICE, from_archive, from_files, manifest_of, put, write_wheel, zipped
from tests.models.server import Server, serving

BIG = os.urandom(400_000)
DAMAGED = BIG[:-1] + bytes([BIG[-1] ^ 1])
ARCHIVE = zipped({"vosk-xx-0.1/am/final.mdl": BIG, "vosk-xx-0.1/README": b"read"})
OTHER_ARCHIVE = zipped({"vosk-xx-0.2/am/final.mdl": BIG, "vosk-xx-0.2/NEWS": b"news"})


@pytest.fixture(autouse=True)
def wheel(index: Path) -> Path:
    """The wheel of the made models, in the index."""
    return write_wheel(index)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(ARCHIVE) as server:
        yield server


def fetched(directory: Path, *models: Model, manifest: Manifest | None = None) -> str:
    """Fetch, and give what was said about it."""
    stream = StringIO()
    fetch(models, directory, manifest or manifest_of(*models), Report(stream))
    return stream.getvalue()


def tree(directory: Path) -> dict[str, bytes]:
    """All files of models; nothing else may be left but the lock and an empty work folder."""
    root = directory / "models"
    assert not list((root / ".fetch").iterdir())
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_models_from_a_wheel(tmp_path: Path) -> None:
    said = fetched(tmp_path, FOLDER, VOICE)
    assert tree(tmp_path) == CONTENTS | {".lock": b""}
    assert said == "made-models==1.0 (1.0 kB)\nstt/folder is here\nvoice/joe.onnx is here\n"
    assert (tmp_path / "models/stt/folder").stat().st_mode & 0o777 == 0o755


def test_what_is_here_is_not_fetched_again(tmp_path: Path) -> None:
    put(tmp_path, FOLDER, VOICE)
    assert not fetched(tmp_path, FOLDER, VOICE)


def test_only_the_damaged_file_is_replaced(tmp_path: Path) -> None:
    put(tmp_path, FOLDER, VOICE)
    damaged = tmp_path / "models/stt/folder/am/final.mdl"
    damaged.write_bytes(b"ledom")
    others = {
        path: path.stat().st_ino for path in (tmp_path / "models").rglob("*") if path.is_file() and path != damaged
    }
    said = fetched(tmp_path, FOLDER, VOICE)
    assert damaged.read_bytes() == b"model"
    assert {path: path.stat().st_ino for path in others} == others
    assert "stt/folder/am/final.mdl: wrong content; it will be replaced\n" in said
    assert "voice" not in said


def test_a_wheel_with_wrong_files_changes_nothing(index: Path, tmp_path: Path) -> None:
    write_wheel(index, CONTENTS | {"stt/folder/conf/model.conf": b"CONF"})
    put(tmp_path, VOICE)
    with pytest.raises(ApplianceError, match=r"stt/folder/conf/model\.conf in it is not the one that the manifest"):
        fetched(tmp_path, FOLDER, VOICE)
    assert not (tmp_path / "models/stt").exists()
    assert not damages(VOICE, tmp_path)


def test_a_model_from_an_archive(server: Server, tmp_path: Path) -> None:
    model = from_archive(server.url, ARCHIVE)
    said = fetched(tmp_path, model)
    assert not damages(model, tmp_path)
    contents = tree(tmp_path)
    assert contents["stt/vosk-xx/am/final.mdl"] == BIG
    assert contents["stt/vosk-xx/README"] == b"read"
    assert json.loads(contents["stt/vosk-xx.files.json"])["archive"] == model.sha256
    assert said.endswith("stt/vosk-xx is here\n")
    assert not fetched(tmp_path, model)


def test_the_record_says_which_file_of_an_archive_is_damaged(server: Server, tmp_path: Path) -> None:
    model = from_archive(server.url, ARCHIVE)
    fetched(tmp_path, model)
    damaged, other = (tmp_path / "models/stt/vosk-xx" / name for name in ("am/final.mdl", "README"))
    damaged.write_bytes(DAMAGED)
    before = other.stat().st_ino
    said = fetched(tmp_path, model)
    assert said.startswith("stt/vosk-xx/am/final.mdl: wrong content; it will be replaced\n")
    assert damaged.read_bytes() == BIG
    assert other.stat().st_ino == before


@pytest.mark.parametrize("record", [None, b"", b"{}", b'{"archive": "' + b"0" * 64 + b'", "files": []}'])
def test_a_model_without_a_record_is_fetched_anew(server: Server, tmp_path: Path, record: bytes | None) -> None:
    model = from_archive(server.url, ARCHIVE)
    fetched(tmp_path, model)
    path = tmp_path / "models/stt/vosk-xx.files.json"
    path.unlink()
    if record is not None:
        path.write_bytes(record)
    assert not files_of(model, tmp_path)
    assert "the record of its files is missing or of another version; it will be replaced" in fetched(tmp_path, model)
    assert not damages(model, tmp_path)


def test_another_version_of_an_archive_replaces_the_folder_as_a_whole(server: Server, tmp_path: Path) -> None:
    fetched(tmp_path, from_archive(server.url, ARCHIVE))
    server.content = OTHER_ARCHIVE
    model = from_archive(server.url, OTHER_ARCHIVE)
    fetched(tmp_path, model)
    assert {path.name for path in (tmp_path / "models/stt/vosk-xx").iterdir()} == {"am", "NEWS"}
    assert not damages(model, tmp_path)


def test_a_model_of_single_files(server: Server, tmp_path: Path) -> None:
    model = from_files(server.url, ARCHIVE, ARCHIVE)
    said = fetched(tmp_path, model)
    assert tree(tmp_path) == {".lock": b"", "voice/xx.onnx": ARCHIVE, "voice/xx.onnx.json": ARCHIVE}
    assert said.endswith("voice/xx.onnx is here\n")
    server.asked.clear()
    (tmp_path / "models/voice/xx.onnx.json").write_bytes(ARCHIVE[:-1] + b"?")
    assert "voice/xx.onnx.json: wrong content; it will be replaced" in fetched(tmp_path, model)
    assert not damages(model, tmp_path)
    assert len(server.asked) == 1


def test_a_single_file_goes_on_where_it_broke_off(server: Server, tmp_path: Path) -> None:
    model = from_files(server.url, ARCHIVE, OTHER_ARCHIVE)
    with pytest.raises(ApplianceError, match="that the manifest promises"):
        fetched(tmp_path, model)  # the server has but one of the two
    assert damages(model, tmp_path)
    assert not (tmp_path / "models/voice").exists()
    part = tmp_path / "models/.fetch" / f"{model.files[0].sha256}.part"
    part.write_bytes(ARCHIVE[:1000])
    server.asked.clear()
    fetched(tmp_path, from_files(server.url, ARCHIVE, ARCHIVE))
    assert server.asked[0] == "bytes=1000-"


def test_wrong_bytes_put_nothing_in_place(server: Server, tmp_path: Path) -> None:
    server.content = OTHER_ARCHIVE
    with pytest.raises(ApplianceError, match="that the manifest promises"):
        fetched(tmp_path, from_archive(server.url, ARCHIVE[: len(OTHER_ARCHIVE)]))
    assert tree(tmp_path) == {".lock": b""}


def test_wheels_come_even_when_an_archive_does_not(server: Server, tmp_path: Path) -> None:
    server.statuses = [404]
    with pytest.raises(ApplianceError, match="404"):
        fetched(tmp_path, from_archive(server.url, ARCHIVE), VOICE)
    assert not damages(VOICE, tmp_path)


_FETCH = """
import sys
from pathlib import Path
from appliance.models.fetch import fetch
from appliance.models.manifest import load_manifest
from appliance.models.report import Report
from appliance.errors import ApplianceError
manifest = load_manifest(Path(sys.argv[1]))
try:
    fetch(manifest.models, Path(sys.argv[2]), manifest, Report(sys.stderr))
except ApplianceError as error:
    sys.exit(str(error))
"""


def _manifest_file(tmp_path: Path, model: Model) -> Path:
    keys = ("name", "role", "language", "licence", "engine", "url", "sha256")
    lines = ["[[model]]", f"size = {model.size}", *(f'{key} = "{getattr(model, key)}"' for key in keys)]
    path = tmp_path / "manifest.toml"
    path.write_text("\n".join(lines))
    return path


def test_a_killed_fetch_is_resumed(server: Server, tmp_path: Path) -> None:
    server.stalls_at = 200_000
    model = from_archive(server.url, ARCHIVE)
    part = tmp_path / "data/models/.fetch" / f"{model.sha256}.part"
    command: list[str | Path] = [sys.executable, "-c", _FETCH, _manifest_file(tmp_path, model), tmp_path / "data"]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as killed:
        deadline = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size > 100_000):
            assert killed.poll() is None, "the fetch ended by itself"
            assert time.monotonic() < deadline, "nothing arrives"
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
    left = part.stat().st_size
    (part.parent / "of-the-killed").mkdir()
    (part.parent / "of-another-version.part").touch()
    server.stalls_at = None
    server.asked.clear()
    fetched(tmp_path / "data", model)
    assert server.asked == [f"bytes={left}-"]
    assert not damages(model, tmp_path / "data")
    assert "README" in "".join(tree(tmp_path / "data"))


def test_two_fetches_at_once(server: Server, tmp_path: Path) -> None:
    server.stalls_at = 200_000
    model = from_archive(server.url, ARCHIVE)
    said: list[str] = []
    first = Thread(target=lambda: said.append(fetched(tmp_path, model)))
    first.start()
    waiting = StringIO()
    second = Thread(target=lambda: fetch([model], tmp_path, manifest_of(model), Report(waiting)))
    deadline = time.monotonic() + 60
    while not server.asked:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    second.start()
    while "Another fetch is under way" not in waiting.getvalue():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    server.stalls_at = None
    server.release.set()
    first.join()
    second.join()
    assert waiting.getvalue() == "Another fetch is under way; waiting for it\n"
    assert not damages(model, tmp_path)


def test_a_full_disk(server: Server, tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=300k tmpfs "$1" && shift && exec "$@"'
    small: list[str | Path] = ["unshare", "-m", "sh", "-c", script, "sh", tmp_path]
    if subprocess.run([*small, "true"], check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    manifest = _manifest_file(tmp_path.parent, from_archive(server.url, ARCHIVE))
    command = [*small, sys.executable, "-c", _FETCH, manifest, tmp_path]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be written: No space left on device. Make room" in done.stderr


def test_a_data_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ApplianceError, match=r"file/models: cannot be written: Not a directory\. Name another folder"):
        fetched(tmp_path / "file", VOICE)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_on_a_terminal(server: Server, tmp_path: Path) -> None:
    model = from_archive(server.url, ARCHIVE)
    terminal = Terminal()
    fetch([model], tmp_path, manifest_of(model), Report(terminal))
    assert "model.zip: 100%|" in terminal.getvalue()
