"""The other end of the control socket. Imports little, so that a command that uses it is quick."""

import socket
from pathlib import Path

import msgspec

from appliance.errors import ApplianceError
from appliance.service.address import control_socket
from appliance.service.request import Answer, Request, encode

TIMEOUT = 5.0
"""Seconds that an appliance may take to answer."""

_LONGEST = 1 << 20
"""Bytes of an answer."""


class NotRunningError(ApplianceError):
    """Nobody is there to do it."""


def ask(directory: Path, request: Request) -> Answer:
    """Have the appliance of a data directory do it, and return its answer once it is done.

    NotRunningError when there is none, any other ApplianceError when it did not do it.
    """
    place = str(directory)
    try:
        with control_socket(directory) as address, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(str(address))
            connection.sendall(encode(request))
            with connection.makefile("rb") as answers:
                answer = msgspec.json.decode(answers.readline(_LONGEST), type=Answer)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
        raise NotRunningError(
            place,
            "no appliance is running here",
            remedy="Start it with: appliance run. If there is one, wait until it is ready, or name its data directory "
            "with APPLIANCE_DATA",
        ) from error
    except PermissionError as error:
        raise ApplianceError(
            place, "the appliance here belongs to another user", allowed="that user, and root", remedy="Use sudo"
        ) from error
    except (TimeoutError, BlockingIOError) as error:
        raise ApplianceError(place, "the appliance here does not answer", remedy="Start it again") from error
    except (OSError, msgspec.DecodeError) as error:
        raise ApplianceError(place, f"the appliance here gave no answer: {error}", remedy="Try again") from error
    if not answer.ok:
        raise ApplianceError(place, f"the appliance refused: {answer.error}")
    return answer
