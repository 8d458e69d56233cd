"""The language model that this machine is to serve itself, as the configuration names it."""

from pathlib import Path

from appliance.config import wording
from appliance.errors import ApplianceError, BadInputError
from appliance.models.directory import REPAIR, damages, models_in
from appliance.models.manifest import load_manifest


def find_weights(name: str, directory: Path) -> Path:
    """The file that `llm.local_model` means: a model of the manifest in a data directory, or any file by its path.

    ApplianceError when it is not there.
    """
    place = f"llm.local_model {wording.quoted(name)}"
    if Path(name).is_absolute():
        if not name.endswith(".gguf") or not Path(name).is_file():
            raise BadInputError(place, "there is no such file", allowed="the path of a .gguf file")
        return Path(name)
    models = {model.name: model for model in load_manifest().models if model.role == "language model"}
    if name not in models:
        allowed = f"{wording.any_of(models)}, or the path of a .gguf file, from / on"
        raise BadInputError(place, f"there is no such model{wording.meant(name, models)}", allowed=allowed)
    if damage := damages(models[name], directory, contents=False):
        raise ApplianceError(place, f"{damage[0].path}: {damage[0].problem}", remedy=f"{REPAIR} {name}")
    return models_in(directory) / name
