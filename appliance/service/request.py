"""What a running appliance can be asked, as one line of JSON: {"command": "press", "gesture": "tap"}.

The answer is one line too: {"ok": true}, with "servers" or "status" if that was asked for, or {"error": "what is
wrong"}.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from appliance.config import wording
from appliance.errors import BadInputError

LONGEST = 1000
"""Bytes of a request."""

GESTURES = {"tap": (0.0,), "double": (0.0, 0.3), "hold": (0.0,)}
"""How the button can be pressed: seconds to wait before each time that it goes down. Nobody asks when it comes up."""

_PLACE = "request"


class Press(msgspec.Struct, frozen=True):
    """Press the button, in one of GESTURES."""

    gesture: str
    command: Literal["press"] = "press"


class Servers(msgspec.Struct, frozen=True):
    """Tell which servers of a language model are known, and how they stand."""

    command: Literal["servers"] = "servers"


class Status(msgspec.Struct, frozen=True):
    """Tell how the appliance is."""

    command: Literal["status"] = "status"


Request = Press | Servers | Status

_COMMANDS: dict[str, type[Request]] = {"press": Press, "servers": Servers, "status": Status}


class ListedServer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server of a language model, as the running appliance sees it."""

    name: str
    url: str
    source: str
    trusted: bool
    state: str
    why: str = ""
    next_try: float | None = None
    """In how many seconds it is tried in the background."""
    properties: dict[str, str] = {}
    """Those that have to stay the same as long as it is trusted."""


class CardStatus(msgspec.Struct, frozen=True):
    """A sound card, by its name, and whether it works."""

    name: str
    works: bool


class LastAnswer(msgspec.Struct, frozen=True):
    """What the last answer was for, who gave it ("skills", a server, or "nobody"), and how many seconds ago."""

    intent: str
    by: str
    ago: float


class Condition(msgspec.Struct, frozen=True):
    """How the appliance is; nothing of what was said."""

    phase: str
    running: float
    """In seconds."""
    microphone: CardStatus
    speaker: CardStatus
    language: str
    recogniser: str
    voice: str
    language_model: str
    """How the best of its servers is; "off", or "none found"."""
    last_answer: LastAnswer | None = None


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether it was done, or why not."""

    ok: bool = False
    error: str = ""
    servers: tuple[ListedServer, ...] = ()
    status: Condition | None = None


def press(gesture: object, place: str = _PLACE) -> Press:
    """The press in that gesture; when there is no such gesture, a BadInputError that names `place`."""
    return Press(_known(gesture, GESTURES, "gesture", place))


def encode(message: Request | Answer) -> bytes:
    """The line for it."""
    return msgspec.json.encode(message) + b"\n"


def parse(line: bytes) -> Request:
    """What a line asks for; when it asks for nothing that there is, a BadInputError of one line. Nothing else."""
    if len(line) > LONGEST:
        raise BadInputError(_PLACE, "is too long", allowed=f"{LONGEST:,} bytes")
    try:
        fields = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        found = f"{wording.shown(line.decode(errors='replace'))} cannot be understood"
        raise BadInputError(_PLACE, found, allowed=f"one line like {encode(Press('tap')).decode().strip()}") from error
    _check_keys(fields, Press)  # it has them all
    command = _known(fields.get("command", ""), _COMMANDS, "command", _PLACE)
    _check_keys(fields, _COMMANDS[command])
    match command:
        case "servers":
            return Servers()
        case "status":
            return Status()
        case _:
            return press(fields.get("gesture", "tap"))


def _check_keys(fields: Collection[str], request: type[Request]) -> None:
    for key in fields:
        _known(key, request.__struct_fields__, "key", _PLACE)


def _known(name: object, names: Collection[str], what: str, place: str) -> str:
    if isinstance(name, str) and name in names:
        return name
    found = f"there is no {what} {wording.shown(name)}{wording.meant(name, names)}"
    raise BadInputError(place, found, allowed=wording.any_of(names))
