"""Models made for tests: small, but in wheels and archives of the real form."""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from appliance.models.manifest import File, Manifest, Model, Wheel

CONTENTS = {
    "stt/folder/am/final.mdl": b"model",
    "stt/folder/conf/model.conf": b"conf",
    "voice/joe.onnx": b"the voice of joe",
    "voice/joe.onnx.json": b"{}",
}


def _file(path: str) -> File:
    content = CONTENTS[path]
    return File(path, len(content), hashlib.sha256(content).hexdigest(), member=f"made/{path}")


def _model(name: str, role: str, engine: str = "") -> Model:
    files = tuple(_file(path) for path in CONTENTS if path.startswith(name))
    return Model(name, role, "en", "MIT", engine=engine, package="made-models==1.0", files=files)  # type: ignore[arg-type]


FOLDER = _model("stt/folder", "speech-to-text", "vosk")
VOICE = _model("voice/joe.onnx", "voice")
WHEEL = Wheel("made-models==1.0", size=1000)


def manifest_of(*models: Model) -> Manifest:
    return Manifest(models, (WHEEL,))


def put(directory: Path, *models: Model) -> None:
    """Put the right files in place."""
    for model in models:
        for file in model.files:
            path = directory / "models" / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(CONTENTS[file.path])


def zipped(contents: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def write_wheel(folder: Path, contents: Mapping[str, bytes] = CONTENTS, tag: str = "py3-none-any") -> Path:
    """A wheel of made-models 1.0 that pip takes."""
    info = "made_models-1.0.dist-info"
    members = {f"made/{path}": content for path, content in contents.items()}
    members[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: made-models\nVersion: 1.0\n"
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    members[f"{info}/RECORD"] = b""
    path = folder / f"made_models-1.0-{tag}.whl"
    path.write_bytes(zipped(members))
    return path


def from_archive(url: str, archive: bytes, name: str = "stt/vosk-xx") -> Model:
    """A model that is fetched as an archive."""
    sha256 = hashlib.sha256(archive).hexdigest()
    return Model(name, "speech-to-text", "xx", "MIT", engine="vosk", url=url, size=len(archive), sha256=sha256)


def from_files(url: str, *contents: bytes) -> Model:
    """A model whose files are fetched one by one, all from one address."""
    files = tuple(
        File(f"voice/xx{suffix}", len(content), hashlib.sha256(content).hexdigest(), url=url)
        for content, suffix in zip(contents, (".onnx", ".onnx.json"), strict=True)
    )
    return Model("voice/xx.onnx", "voice", "xx", "MIT", files=files)
