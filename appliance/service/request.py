"""What a running appliance can be asked, as one line of JSON: {"command": "press", "gesture": "tap"}.

The answer is one line too: {"ok": true}, with what was asked for, or {"error": "what is wrong"}. After the one to
{"command": "watch"} there follow more lines, until either side has enough.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Literal, cast

import msgspec

from appliance.config import wording
from appliance.errors import BadInputError
from appliance.service.condition import Condition
from appliance.thinking.trust import Remembered

LONGEST = 4096
"""Bytes of a request."""

LONGEST_TEXT = 500
"""Characters of what is to be said."""

LONGEST_NAME = 128
"""Characters of the name of a server."""

GESTURES = {"tap": ((0.0, 0.1),), "double": ((0.0, 0.1), (0.2, 0.1)), "hold": ((0.0, 2.0),)}
"""How the button can be pressed: seconds to wait before each time that it goes down, and until it comes up."""

LONGEST_HOLD = 60.0
"""Seconds that it can be held."""

_PLACE = "request"


class Press(msgspec.Struct, frozen=True):
    """Press the button, in one of GESTURES. `seconds`: how long it is held each time, instead."""

    gesture: str
    seconds: float | msgspec.UnsetType = msgspec.UNSET
    command: Literal["press"] = "press"


class Say(msgspec.Struct, frozen=True):
    """Say a text, as soon as nothing else is said."""

    text: str
    command: Literal["say"] = "say"


class Servers(msgspec.Struct, frozen=True):
    """Tell which servers of a language model are known, and how they stand."""

    command: Literal["servers"] = "servers"


class Trust(msgspec.Struct, frozen=True):
    """Let a server be asked that was found in the network."""

    name: str
    command: Literal["trust"] = "trust"


class Forget(msgspec.Struct, frozen=True):
    """Trust a server no longer."""

    name: str
    command: Literal["forget"] = "forget"


class Status(msgspec.Struct, frozen=True):
    """Tell how the appliance is."""

    command: Literal["status"] = "status"


class Apply(msgspec.Struct, frozen=True):
    """Take over the configuration as it is in the files now; the answer comes when its trial is over."""

    command: Literal["apply"] = "apply"


class Watch(msgspec.Struct, frozen=True):
    """Tell what happens, line by line, from now on."""

    command: Literal["watch"] = "watch"


Request = Press | Say | Servers | Trust | Forget | Status | Apply | Watch

COMMANDS: dict[str, type[Request]] = {
    "press": Press,
    "say": Say,
    "servers": Servers,
    "trust": Trust,
    "forget": Forget,
    "status": Status,
    "apply": Apply,
    "watch": Watch,
}

_KEYS = tuple(dict.fromkeys(key for request in COMMANDS.values() for key in request.__struct_fields__))


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


class Applied(msgspec.Struct, frozen=True, omit_defaults=True):
    """What has come of a configuration."""

    generation: int | None
    """The one that is in force now; None if it could not be recorded."""
    changed: tuple[str, ...] = ()
    taken_back: str = ""
    """Why the one before is in force again; nothing if it is not."""
    postponed: bool = False
    """The appliance was stopped before it was known whether it works, and tries it again when it starts."""
    file: str = ""
    """The appliance was started with this file, and no other one counts; nothing if those of the system do."""
    notes: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether it was done, or why not."""

    ok: bool = False
    error: str = ""
    bad_input: bool = False
    """It is the request that is wrong."""
    said: str = ""
    """What has come of it, for people."""
    servers: tuple[ListedServer, ...] = ()
    remembered: tuple[Remembered, ...] = ()
    """The servers that are trusted, there or not."""
    status: Condition | None = None
    applied: Applied | None = None


def press(gesture: object, place: str = _PLACE, seconds: object = None) -> Press:
    """The press in that gesture; a BadInputError that names `place` when there is no such gesture, or no such time."""
    known = _known(gesture, GESTURES, "gesture", place)
    if seconds is None:
        return Press(known)
    if known == "hold" and type(seconds) in (int, float) and 0 < (held := cast("float", seconds)) <= LONGEST_HOLD:
        return Press(known, held)
    allowed = f'with "hold", a number above 0, up to {LONGEST_HOLD:g}'
    raise BadInputError(place, f"{wording.shown(seconds)} seconds cannot be done", allowed=allowed)


def say(text: object, place: str = _PLACE) -> Say:
    """The wish to have `text` said; a BadInputError that names `place` when that cannot be."""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if 0 < len(words) <= LONGEST_TEXT and words.isprintable():
        return Say(words)
    raise BadInputError(
        place, f"{wording.shown(text)} cannot be said", allowed=f"text of up to {LONGEST_TEXT} characters"
    )


def server_name(name: object, place: str = _PLACE) -> str:
    """`name`, if a server can have it; otherwise a BadInputError that names `place`."""
    if isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST_NAME and name == name.strip():
        return name
    raise BadInputError(place, f"{wording.shown(name)} is no name", allowed=f"up to {LONGEST_NAME} letters")


def encode(message: Request | Answer) -> bytes:
    """The line for it."""
    return msgspec.json.encode(message) + b"\n"


_READERS: dict[type[Request], Callable[[Mapping[str, object]], Request]] = {
    Press: lambda fields: press(fields.get("gesture", "tap"), seconds=fields.get("seconds")),
    Say: lambda fields: say(fields.get("text", "")),
    Trust: lambda fields: Trust(server_name(fields.get("name", ""))),
    Forget: lambda fields: Forget(server_name(fields.get("name", ""))),
    Servers: lambda _: Servers(),
    Status: lambda _: Status(),
    Apply: lambda _: Apply(),
    Watch: lambda _: Watch(),
}


def parse(line: bytes) -> Request:
    """What a line asks for; when it asks for nothing that there is, a BadInputError of one line. Nothing else."""
    if len(line) > LONGEST:
        raise BadInputError(_PLACE, "is too long", allowed=f"{LONGEST:,} bytes")
    try:
        fields = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        found = f"{wording.shown(line.decode(errors='replace'))} cannot be understood"
        raise BadInputError(_PLACE, found, allowed=f"one line like {encode(Press('tap')).decode().strip()}") from error
    _check_keys(fields, _KEYS)
    request = COMMANDS[_known(fields.get("command", ""), COMMANDS, "command", _PLACE)]
    _check_keys(fields, request.__struct_fields__)
    return _READERS[request](fields)


def _check_keys(fields: Collection[str], keys: Collection[str]) -> None:
    for key in fields:
        _known(key, keys, "key", _PLACE)


def _known(name: object, names: Collection[str], what: str, place: str) -> str:
    if isinstance(name, str) and name in names:
        return name
    found = f"there is no {what} {wording.shown(name)}{wording.meant(name, names)}"
    raise BadInputError(place, found, allowed=wording.any_of(names))
