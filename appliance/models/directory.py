"""Where the model files lie, and whether each is what it should be."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.errors import ApplianceError
from appliance.models.manifest import File, Model, Sha256

_SYSTEM = Path("/var/lib/appliance")
REPAIR = "Run: appliance models fetch"


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was in the archive of that hash; lies beside the folder that was made of it."""

    archive: Sha256
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Damage:
    """A file, named as in the manifest, that is not what it should be, and in what way."""

    path: str
    problem: str


def data_directory() -> Path:
    """Where the appliance keeps its data: $APPLIANCE_DATA, /var/lib/appliance if it can be written, the user's own."""
    if given := os.environ.get("APPLIANCE_DATA"):
        return Path(given)
    if os.access(_SYSTEM, os.W_OK | os.X_OK):
        return _SYSTEM
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "appliance"


def models_in(directory: Path) -> Path:
    """The folder of the models in a data directory."""
    return directory / "models"


def record_path(model: Model, directory: Path) -> Path:
    """Where the record of a model from an archive lies."""
    return models_in(directory) / f"{model.name}.files.json"


def files_of(model: Model, directory: Path) -> tuple[File, ...]:
    """The files of a model, as the manifest or the record has them; none when there is no valid record."""
    if not model.url:
        return model.files
    try:
        record = msgspec.json.decode(record_path(model, directory).read_bytes(), type=Record)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
        return ()
    return record.files if record.archive == model.sha256 else ()


def is_here(model: Model, directory: Path) -> bool:
    """Whether anything of a model is there, whole or not."""
    return any((models_in(directory) / path).exists() for path in (model.name, *(file.path for file in model.files)))


def damages(model: Model, directory: Path, *, contents: bool = True) -> tuple[Damage, ...]:
    """What is wrong with the files of a model. Without `contents` only sizes are compared, which is quick."""
    files = files_of(model, directory)
    if not files:
        problem = "the record of its files is missing or of another version" if is_here(model, directory) else "missing"
        return (Damage(model.name, problem),)
    return tuple(_damages(files, directory, contents))


def _damages(files: Iterable[File], directory: Path, contents: bool) -> Iterator[Damage]:
    for file in files:
        path = models_in(directory) / file.path
        try:
            size = path.stat().st_size
            if not path.is_file():
                yield Damage(file.path, "not a file")
            elif size != file.size:
                how = "truncated" if size < file.size else "too long"
                yield Damage(file.path, f"{how}: {size:,} of {file.size:,} bytes")
            elif contents and sha256_of(path) != file.sha256:
                yield Damage(file.path, "wrong content")
        except (FileNotFoundError, NotADirectoryError):
            yield Damage(file.path, "missing")
        except OSError as error:
            yield Damage(file.path, f"cannot be read: {error.strerror}")


def sha256_of(path: Path) -> str:
    """The hash of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(models: Iterable[Model], directory: Path) -> None:
    """Each file of the models is there in its right size; if not, one ApplianceError names all that are not."""
    found = {model: damages(model, directory, contents=False) for model in models}
    damaged = [model.name for model, damage in found.items() if damage]
    if damaged:
        listed = "; ".join(f"{each.path}: {each.problem}" for damage in found.values() for each in damage)
        # By name, since what the configuration of this command needs need not be what the default one does.
        raise ApplianceError(str(models_in(directory)), listed, remedy=f"{REPAIR} {' '.join(damaged)}")
