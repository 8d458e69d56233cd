"""API keys come out of files, of which a systemd credential is one: never from a command line, nor into a log."""

from pathlib import Path

from appliance.thinking.server import Problem, ServerError


def read_key(file: Path) -> str:
    """The key in `file`, as it is now. ServerError, without a word of it: it cannot be used."""
    try:
        key = file.read_text("ascii").strip()
    except OSError as error:
        raise _unusable(file, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise _unusable(file, "holds what cannot be a key") from None
    if not key:
        raise _unusable(file, "is empty")
    if not key.isprintable() or " " in key:
        raise _unusable(file, "holds what cannot be a key")
    return key


def _unusable(file: Path, why: str) -> ServerError:
    return ServerError(Problem.MISCONFIGURED, f"its key file {file} {why}")
