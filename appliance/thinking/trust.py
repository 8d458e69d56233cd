"""Who may hear the family, given that anyone on the LAN can advertise a server.

Rules:
1. A server that the owner has configured, and one on this machine, are trusted.
2. As long as nothing has ever been decided, the first server found that proves itself is trusted from then on. Of
   several that are known at once, each gets its turn by source, priority, name and address, until one proves itself.
3. From then on, a server found is trusted if it has the name and the key properties of one that is remembered. Its
   address and its models may change; with anything else changed it is somebody else, until the owner says otherwise.
4. Nothing makes room for another first one: not that a server is gone for good, not that it is forgotten, not that the
   file is damaged. Further servers are trusted by the owner, one by one.

A name and properties can be copied by whoever wants to deceive, so this keeps out what comes along (a second server,
the neighbour's), and what comes later. Against an impostor only https helps, which is a key property.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Literal

import msgspec

from appliance.thinking.server import Server, Source

_HINTS = ("service", "host", "api", "auth")
"""Properties that are key properties."""


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server that is trusted."""

    name: str
    by: Literal["first found", "owner"]
    since: str
    """The date, for people."""
    properties: dict[str, str] | None = None
    """None until it is found: then it is trusted by its name alone, and remembered with what it has."""


Known = tuple[Remembered, ...] | None
"""All that are remembered, each name once; None as long as nothing has ever been decided."""


class Verdict(Enum):
    """Whether a server may be asked."""

    CONFIGURED = "by configuration"
    REMEMBERED = "remembered"
    FIRST = "the first one found may be asked"
    CHANGED = "it has a remembered name, but other properties"
    STRANGER = "it is not known"

    @property
    def trusted(self) -> bool:
        """Whether it may hear a question."""
        return self in (Verdict.CONFIGURED, Verdict.REMEMBERED)

    @property
    def allowed(self) -> bool:
        """Whether it may be tried."""
        return self.trusted or self is Verdict.FIRST


def key_properties(server: Server) -> dict[str, str]:
    """What has to stay the same. Not the address, which a router may change, nor what comes with another model."""
    scheme, _, rest = server.url.partition("://")  # urlsplit refuses some, and whoever advertises must break nothing
    return {
        "source": server.source.name.lower(),
        "scheme": scheme,
        "path": "/" + rest.partition("/")[2].strip("/"),
        **{hint: server.properties.get(hint, "") for hint in _HINTS},
    }


def verdict(server: Server, known: Known) -> Verdict:
    """Whether `server` may be asked."""
    if server.source in (Source.CONFIGURED, Source.LOCAL):
        return Verdict.CONFIGURED
    if known is None:
        return Verdict.FIRST
    remembered = find(server.name, known)
    if remembered is None:
        return Verdict.STRANGER
    return Verdict.CHANGED if _changes(server, remembered) else Verdict.REMEMBERED


def explain(server: Server, known: Known) -> str:
    """Why `server` may not be asked, in one line."""
    remembered = find(server.name, known)
    if remembered is None:
        return "it is not trusted"
    changed = [f'{key} "{now}" instead of "{was}"' for key, (was, now) in _changes(server, remembered).items()]
    return f"it has the name of a trusted server, but {', '.join(changed)}"


def _changes(server: Server, remembered: Remembered) -> dict[str, tuple[str, str]]:
    """The key properties in which `server` is not what is remembered: what they were and what they are."""
    now = key_properties(server)
    return {
        key: (was, now.get(key, "")) for key, was in (remembered.properties or {}).items() if now.get(key, "") != was
    }


def seniority(server: Server) -> tuple[Source, int, int, str, str]:
    """Which of several comes first as the first one found."""
    return server.source, server.kind, server.priority, server.name.casefold(), server.url


def same_name(one: str, other: str) -> bool:
    """Whether two names are one, as in DNS."""
    return one.casefold() == other.casefold()


def find(name: str, known: Known) -> Remembered | None:
    """What is remembered under `name`."""
    return next((each for each in known or () if same_name(each.name, name)), None)


def with_trusted(known: Known, new: Remembered) -> tuple[Remembered, ...]:
    """`known` and `new`, instead of what had its name."""
    return (*without(known, new.name), new)


def without(known: Known, name: str) -> tuple[Remembered, ...]:
    """`known` without what has that name; from now on something has been decided."""
    return tuple(each for each in known or () if not same_name(each.name, name))


def met(server: Server, known: Known, today: str) -> Known:
    """What is known once `server` has proved itself."""
    match verdict(server, known):
        case Verdict.FIRST:
            return (Remembered(server.name, "first found", today, key_properties(server)),)
        case Verdict.REMEMBERED:
            remembered = find(server.name, known)
            if remembered is not None and remembered.properties is None:
                completed = msgspec.structs.replace(remembered, properties=key_properties(server))
                return with_trusted(known, completed)
    return known


def encode(known: Sequence[Remembered]) -> bytes:
    """The content of the file."""
    return msgspec.json.format(msgspec.json.encode(_File(tuple(known)))) + b"\n"


def decode(content: bytes) -> tuple[Remembered, ...]:
    """What the file says; ValueError, of one line, when it is damaged."""
    try:
        servers = msgspec.json.decode(content, type=_File).servers
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error
    known: tuple[Remembered, ...] = ()
    for each in servers:
        known = with_trusted(known, each)
    return known


class _File(msgspec.Struct, frozen=True):
    servers: tuple[Remembered, ...]
