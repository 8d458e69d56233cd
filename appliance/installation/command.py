"""What install.sh runs, with the system's Python, from a checkout."""

import argparse
import fcntl
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.installation.bundle import Bundle, index
from appliance.installation.install import install, say, tell, uninstall
from appliance.installation.place import Place
from appliance.installation.version import LOCKS

CHECKOUT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing. 0 done, 1 failed, 2 wrong usage or bad input."""
    options = _parser().parse_args(arguments)
    os.umask(0o022)  # what is installed is for everybody to read, whoever installs it
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # The terminal may go, with the network: a version on trial is still waited for, and taken back if need be.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        _do(options)
    except ApplianceError as error:
        tell(str(error), sys.stderr)
        return error.status
    except OSError as error:
        tell(f"{error.filename or 'install.sh'}: {error.strerror}. Mend that, and run it again.", sys.stderr)
        return 1
    except KeyboardInterrupt:
        tell("\nInterrupted. Run it again: it goes on from here.", sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="install.sh")
    commands = parser.add_subparsers(dest="command", required=True)
    installing = commands.add_parser("install")
    installing.add_argument("--offline", type=Path)
    downloading = commands.add_parser("download")
    downloading.add_argument("folder", type=Path)
    for each in (installing, downloading):
        each.add_argument("--local-llm", action="store_true")
    uninstalling = commands.add_parser("uninstall")
    uninstalling.add_argument("--purge", action="store_true")
    return parser


def _do(options: argparse.Namespace) -> None:
    place = Place()
    match options.command:
        case "install":
            bundle = Bundle(options.offline.absolute()) if options.offline else None
            if bundle:
                bundle.require()
            with _alone(place):
                install(CHECKOUT, place, bundle, LOCKS[1] if options.local_llm else None)
        case "download":
            bundle = Bundle(options.folder.absolute())
            index(bundle.debs)
            bundle.fill(CHECKOUT, LOCKS[options.local_llm])
            say(
                f"All is in {bundle.folder}. On the other machine, with it and this folder: "
                f"sudo ./install.sh --offline {bundle.folder.name}"
            )
        case _:
            with _alone(place):
                uninstall(place, purge=options.purge)


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Wait for another one that installs, from wherever."""
    place.home.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place.home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another install.sh is at work: waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
