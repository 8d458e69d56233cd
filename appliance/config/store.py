"""Where the settings come from."""

from pathlib import Path

from appliance.config.checked import decode
from appliance.config.schema import Settings
from appliance.errors import BadInputError

SYSTEM_FILE = Path("/etc/appliance/appliance.toml")


def load(path: Path | None) -> Settings:
    """The settings in `path`; without one those in /etc/appliance/appliance.toml, or the defaults if it is not there.

    BadInputError when the file cannot be read or has anything wrong in it.
    """
    place = path or SYSTEM_FILE
    try:
        found = place.read_bytes()
    except FileNotFoundError as error:
        if path is None:
            return Settings()
        raise BadInputError(str(place), "there is no such file", remedy="Check the path") from error
    except OSError as error:
        raise BadInputError(str(place), f"it cannot be read ({error.strerror})") from error
    try:
        text = found.decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        line = found.count(b"\n", 0, error.start) + 1
        raise BadInputError(f"{place}:{line}", "this is not UTF-8 text", remedy="Save the file as UTF-8") from error
    return decode(text, Settings, str(place))
