"""What the owner may write to name a server: a URL, a name with its port, or the name of a service in the DNS."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from appliance.errors import BadInputError
from appliance.thinking.discovery.addresses import is_address, url_of
from appliance.thinking.discovery.advertised import PATH
from appliance.thinking.server import Server, Source

ALLOWED = "a URL like http://gpu.lan:8080/v1, a name and port like gpu.lan:11434, or a service like _openai._tcp.lan"

LOCAL_PORTS = (("llama.cpp", 8080), ("Ollama", 11434), ("LM Studio", 1234), ("vLLM", 8000))
"""Where programs listen that serve a model, if nobody tells them otherwise."""

_NAME = re.compile(
    r"(?=.{1,253}\.?$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?"
)
_SECRETS = re.compile(r"(?<=//)[^/]*@|[^/]+@|(?<=[?#]).*", re.DOTALL)
"""Where a key may have been written, which is not to be repeated."""

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    """A server, or several behind one name."""

    text: str
    """As it was written."""
    scheme: str
    host: str
    port: int
    path: str

    def at(self, host: str) -> str:
        """The base of the URLs of this place, at one of its addresses or by its name."""
        return url_of(host, self.port, self.path, self.scheme)


@dataclass(frozen=True, slots=True)
class ServiceName:
    """A name that has SRV records."""

    name: str


def parse_place(text: str) -> Place | ServiceName:
    """What the owner wrote. BadInputError: it names no server."""
    if re.match(r"_[a-z0-9-]+\._tcp\.", text, re.IGNORECASE) and _NAME.fullmatch(text):
        return ServiceName(text.rstrip(".").lower())
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise _unusable(text, str(error)) from error
    host = parts.hostname or ""
    if parts.scheme not in _PORTS:
        raise _unusable(text, f'"{parts.scheme}" is not a way to talk to a server')
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise _unusable(text, "a key, a user or a question does not belong here")
    if not is_address(host) and not _NAME.fullmatch(host):
        raise _unusable(text, "there is no name or address in it")
    if port is None and "://" not in text:
        raise _unusable(text, "the port is missing")
    return Place(text, parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/") or PATH)


def local_servers() -> list[Server]:
    """What may run on this machine, in order."""
    return [
        Server(f"{program} on this machine", url_of("localhost", port, PATH), Source.LOCAL, priority)
        for priority, (program, port) in enumerate(LOCAL_PORTS)
    ]


def _unusable(text: str, why: str) -> BadInputError:
    return BadInputError(f'"{_SECRETS.sub("...", text)}"', why, allowed=ALLOWED)
