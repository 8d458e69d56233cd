"""The manifest: every model that the appliance can use, as models/manifest.toml lists it."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from appliance.config import wording
from appliance.config.checked import decode
from appliance.errors import BadInputError
from appliance.share import share

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, msgspec.Meta(ge=1)]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file; `path` is below models/ in the data directory, `member` is its name in the wheel, if it is in one."""

    path: str
    size: Size
    sha256: Sha256
    member: str = ""
    url: str = ""
    """Where it comes from, if it comes by itself."""


class Wheel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wheel of the package index; `size` is what a download costs, `platform` is set where it is for one only."""

    package: str
    size: Size
    platform: str = ""


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is fetched and used as one: a file (and what lies beside it) or a folder, named by its path."""

    name: str
    role: Literal["wake features", "wake word", "voice activity", "speech-to-text", "voice", "language model"]
    language: str
    """As in BCP 47, or "any"."""
    licence: str
    engine: str = ""
    package: str = ""
    files: tuple[File, ...] = ()
    """Those in the wheel of `package`, or each with its url; those of an archive are known when it is here."""
    url: str = ""
    """Where the archive comes from, if it is one."""
    size: int = 0
    sha256: Sha256 | Literal[""] = ""

    def __post_init__(self) -> None:
        alone = any(file.url for file in self.files)
        if [bool(self.package), bool(self.url), alone].count(True) != 1:
            raise ValueError("has either a package or a url, or files that have one each")
        if self.package and not (self.files and all(file.member for file in self.files)):
            raise ValueError("a model from a package has files, each with its member")
        if self.url and (self.files or not (self.size and self.sha256)):
            raise ValueError("a model from a url has size and sha256, and no files")
        if alone and not all(file.url and not file.member for file in self.files):
            raise ValueError("of the files of a model that is in no package, each has a url, and none a member")
        for url in filter(None, (self.url, *(file.url for file in self.files))):
            if not _trusted(url):
                raise ValueError(f"the url is not https (http is for this machine only): {url}")
        for path in (self.name, *(file.path for file in self.files)):
            if not is_below(path):
                raise ValueError(f"the path leads out of models/: {path}")

    @property
    def source(self) -> str:
        """Where it comes from, for a person."""
        return self.package or self.url or self.files[0].url

    @property
    def size_here(self) -> int:
        """The bytes of its files; of an archive, the bytes to download."""
        return self.size or sum(file.size for file in self.files)


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"models": "model", "wheels": "wheel"}):
    """All models, and the wheels that some of them are in."""

    models: tuple[Model, ...]
    wheels: tuple[Wheel, ...] = ()

    def __post_init__(self) -> None:
        wheels = {wheel.package for wheel in self.wheels}
        for model in self.models:
            if model.package and model.package not in wheels:
                raise ValueError(f"{model.name}: there is no [[wheel]] with package = {model.package!r}")

    def wheel(self, package: str) -> Wheel:
        """The wheel of `package`."""
        return next(wheel for wheel in self.wheels if wheel.package == package)

    def find(self, name: str) -> Model:
        """The model of that name, or that a file of that path belongs to. BadInputError when there is none."""
        for model in self.models:
            if name == model.name or any(name == file.path for file in model.files):
                return model
        names = [model.name for model in self.models]
        raise BadInputError(
            f"model {wording.quoted(name)}", f"is not known{_meant(name, names)}", allowed=", ".join(names)
        )


def is_below(path: str) -> bool:
    """Whether a path with / in it stays below the folder that it starts from."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and not {"\\", "\0"} & set(path)


def load_manifest(path: Path | None = None) -> Manifest:
    """The manifest that came with the appliance, or the one at `path`. BadInputError, with lines, when it is wrong."""
    path = path or share("models") / "manifest.toml"
    return decode(path.read_text(encoding="utf-8"), Manifest, str(path))


def needed(manifest: Manifest, language: str, engine: str, wake_words: Iterable[str], voice: str) -> tuple[Model, ...]:
    """The models that an appliance with this configuration loads. BadInputError names what there is no model for."""
    models = [model for model in manifest.models if model.role == "voice activity"]
    models += [model for model in manifest.models if model.role == "wake features"]
    models += [_named(manifest, "wake word", word) for word in wake_words]
    models.append(_recogniser(manifest, engine, language))
    models.append(_named(manifest, "voice", voice))
    return tuple(dict.fromkeys(models))


def with_siblings(manifest: Manifest, models: Iterable[Model]) -> tuple[Model, ...]:
    """The models, and what else is in the wheels they come in: it costs next to nothing more to have it all here."""
    models = tuple(models)
    packages = {model.package for model in models if model.package}
    return (*models, *(each for each in manifest.models if each.package in packages and each not in models))


def _named(manifest: Manifest, role: str, name: str) -> Model:
    """The model of a role by the name that the configuration uses: its file's name without suffix and folder."""
    models = {PurePosixPath(model.name).stem: model for model in manifest.models if model.role == role}
    if name not in models:
        found = f"there is no model for it{_meant(name, models)}"
        raise BadInputError(f"{role} {wording.quoted(name)}", found, allowed=wording.any_of(models))
    return models[name]


def _recogniser(manifest: Manifest, engine: str, language: str) -> Model:
    models = [model for model in manifest.models if model.role == "speech-to-text"]
    for model in models:
        if (model.engine, model.language) == (engine, language):
            return model
    pairs = ", ".join(sorted(f"{model.engine} with {model.language}" for model in models))
    place = f"speech-to-text {wording.quoted(engine)} with language {wording.quoted(language)}"
    raise BadInputError(place, "there is no model for these two together", allowed=pairs)


def _meant(name: str, names: Iterable[str]) -> str:
    hint = wording.meant(name, names).removeprefix("; ")
    return f" ({hint})" if hint else ""


def _trusted(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1"))
