"""Where the files that come with the appliance are: in the checkout, or where a wheel puts its shared data."""

import sys
from pathlib import Path

from appliance.errors import ApplianceError


def share(name: str) -> Path:
    """The folder `name` ("models", "config") that came with this installation. ApplianceError when it is not there."""
    checkout = Path(__file__).parents[1]
    base = checkout if (checkout / "pyproject.toml").is_file() else Path(sys.prefix) / "share/appliance"
    folder = base / name
    if not folder.is_dir():
        raise ApplianceError(str(folder), "there is no such folder", remedy="Install the appliance again")
    return folder
