"""The other end of the control socket. Imports little, so that a command that uses it is quick."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from appliance.errors import ApplianceError, BadInputError
from appliance.service.address import control_socket, place_of
from appliance.service.request import Answer, Request, encode

TIMEOUT = 5.0
"""Seconds that an appliance may take to answer."""

_LONGEST = 1 << 20
"""Bytes of an answer."""


class NotRunningError(ApplianceError):
    """Nobody is there to do it."""


class RefusedError(BadInputError):
    """The appliance says, in its own words, what is wrong with what it was asked for."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(place, words)
        self.args = (words,)


def ask(directory: Path, request: Request, timeout: float = TIMEOUT) -> Answer:
    """Have the appliance of a data directory do it, and return its answer once it is done.

    NotRunningError when there is none, any other ApplianceError when it did not do it within `timeout` seconds.
    """
    with asked(directory, request, timeout) as (answer, _):
        return answer


@contextmanager
def asked(
    directory: Path, request: Request, timeout: float = TIMEOUT, pause: float | None = None
) -> Iterator[tuple[Answer, BinaryIO]]:
    """As `ask`; what comes after the answer can be read until the end of the block.

    `pause`: after how many seconds in which nothing comes a TimeoutError is raised, and there is no more to be read.
    """
    place = place_of(directory)
    with ExitStack() as stack:
        with _errors(str(place.parent)):
            address = stack.enter_context(control_socket(place))
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(timeout)
            connection.connect(str(address))
            connection.sendall(encode(request))
            lines = stack.enter_context(connection.makefile("rb"))
            answer = msgspec.json.decode(lines.readline(_LONGEST), type=Answer)
        if answer.bad_input:
            raise RefusedError(str(place.parent), answer.error)
        if not answer.ok:
            raise ApplianceError(str(place.parent), f"the appliance refused: {answer.error}")
        connection.settimeout(pause)
        yield answer, lines


@contextmanager
def _errors(place: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
        raise NotRunningError(
            place,
            "no appliance is running here",
            remedy="Start it with: appliance run. If there is one, wait until it is ready, or name its data directory "
            "with APPLIANCE_DATA",
        ) from error
    except PermissionError as error:
        raise ApplianceError(
            place,
            "the appliance here belongs to another user",
            allowed="that user, its group, and root",
            remedy="Use sudo, or join its group",
        ) from error
    except (TimeoutError, BlockingIOError) as error:
        raise ApplianceError(place, "the appliance here does not answer", remedy="Start it again") from error
    except (OSError, msgspec.DecodeError) as error:
        raise ApplianceError(place, f"the appliance here gave no answer: {error}", remedy="Try again") from error
