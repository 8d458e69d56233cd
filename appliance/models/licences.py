"""The licences of what a running appliance brings along besides the models, as models/licences.toml lists them."""

import msgspec

from appliance.config.checked import decode
from appliance.share import share


class Package(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Python package and its licence as an SPDX expression; `note` says what else comes in it."""

    name: str
    licence: str
    note: str = ""


class Licences(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"packages": "package"}):
    """All packages, and what follows for who passes an appliance on."""

    summary: str
    packages: tuple[Package, ...]


def load_licences() -> Licences:
    """The table that came with the appliance. BadInputError, with lines, when it is wrong."""
    path = share("models") / "licences.toml"
    return decode(path.read_text(encoding="utf-8"), Licences, str(path))
