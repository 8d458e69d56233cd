"""A server of a language model, and the four ways in which one fails to answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum


class Source(IntEnum):
    """Where a server is known from; what comes first here is asked first."""

    CONFIGURED = 0
    """The owner named it."""
    MDNS = 1
    """It was advertised on the LAN, which anyone there can do."""
    DNS = 2
    """The resolver of the house knows it."""
    LOCAL = 3
    """It runs on this machine."""


@dataclass(frozen=True, slots=True)
class Server:
    """One instance that may be asked."""

    name: str
    """What people call it."""
    url: str
    """What `/models` and `/chat/completions` are appended to: "http://192.168.1.20:8080/v1"."""
    source: Source
    priority: int = 0
    """The lowest is asked first, among those of one source and kind."""
    weight: int = 0
    """How often it is asked, against the others of its priority."""
    model: str = ""
    """The model to ask for; empty for whichever the server has."""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What it advertised of itself: hints, which nothing may rely on."""
    kind: int = 0
    """The rank of the service that it was advertised as; the lowest is asked first, among those of one source."""


class Problem(Enum):
    """Why a server gave no answer, by what is done about it; all but the last are the server's."""

    AT_CAPACITY = "at capacity"
    """It works and has too much to do: it is asked again, though not before the time that it named."""
    WARMING = "warming"
    """It loads its model: it is asked again, and never hurried, since it might begin anew each time."""
    BROKEN = "broken"
    """Refused, silent, reset or garbage: another one is asked, and this one is left alone for longer each time."""
    MISCONFIGURED = "misconfigured"
    """No waiting helps (a wrong key, no such model): its owner is told once, and another one is asked."""
    TOO_LONG = "too long"
    """What it was told is more than its model can take: it is asked again with less. It may be asked anything else."""


class ServerError(Exception):
    """A server gave no answer, or not all of it. `detail` is one line for its owner, `retry_after` seconds from now."""

    def __init__(self, problem: Problem, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail
        self.retry_after = retry_after
