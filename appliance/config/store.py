"""Where the settings come from."""

from pathlib import Path

from appliance.config.disk import Disk
from appliance.config.layers import Source, combine
from appliance.config.owner import OwnerFiles
from appliance.config.schema import Settings
from appliance.errors import BadInputError

SYSTEM_FILE = Path("/etc/appliance/appliance.toml")


def load(path: Path | None) -> Settings:
    """The settings in `path` alone; without one those in /etc/appliance/appliance.toml and its drop-ins, if any.

    BadInputError when a file cannot be read, or has anything wrong in it.
    """
    if path is None:
        owner = OwnerFiles(SYSTEM_FILE, Disk())
        return combine(owner.sources(owner.read())).settings
    return combine([read(path)]).settings


def read(path: Path) -> Source:
    """One file by itself. BadInputError: it cannot be read."""
    try:
        return Source(str(path), Disk().read(path))
    except FileNotFoundError as error:
        raise BadInputError(str(path), "there is no such file", remedy="Check the path") from error
    except OSError as error:
        raise BadInputError(
            str(path), f"it cannot be read ({error.strerror})", remedy="Check the path, and who may read it"
        ) from error
