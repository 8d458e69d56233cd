"""What a server says of itself by mDNS: hints, written by anyone on the LAN. So all of it is bounded, and checked."""

import re
from collections.abc import Iterable, Mapping

from appliance.thinking.discovery.addresses import url_of
from appliance.thinking.server import Server, Source

TYPES = ("_openai._tcp", "_llm._tcp", "_ollama._tcp", "_llama._tcp", "_vllm._tcp")
"""The services that are looked for, ours first."""

PATH = "/v1"
"""Where the servers of all these types have the interface that is spoken here, unless they say otherwise."""

_KEYS = {
    "path": ("path", "api_path"),
    "model": ("model", "models"),
    "api": ("api",),
    "auth": ("auth",),
    "priority": ("priority",),
    "status": ("status",),
}
"""What is read, and under which keys of a TXT record; the first one that is there counts."""

_LONGEST = 128
"""Characters of a value."""

_PATH = re.compile(r"/?[A-Za-z0-9_~-][A-Za-z0-9._~-]*(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
"""Nothing that could mean another host, another folder above, or a query."""

_ENDPOINT = re.compile(r"/(chat/completions|completions|models)$")
"""What some write behind the base."""

_PRIORITY = re.compile(r"[0-9]{1,5}")
_LAST_PRIORITY = 0xFFFF  # of an SRV record


def advertised_servers(
    service: str,
    label: str,
    host: str,
    port: int,
    addresses: Iterable[str],
    txt: Mapping[bytes, bytes | None],
    priority: int = 0,
    weight: int = 0,
) -> list[Server]:
    """A Server for each of the addresses, in their order, all of one name: they are one machine.

    What is hinted at is in the properties, and with it the `service` and the `host`. A model that is named is only
    what the advertiser would like to be asked for.
    """
    hints = read_hints(txt)
    if "priority" in hints:
        priority = int(hints["priority"])
    model = hints.get("model", "").split(",")[0].strip()
    properties = {**hints, "service": service, "host": readable(host.rstrip("."))}
    path = base_path(hints.get("path", ""))
    name, kind = name_of(service, label), TYPES.index(service)
    return [
        Server(name, url_of(address, port, path), Source.MDNS, priority, weight, model, properties, kind)
        for address in addresses
    ]


def name_of(service: str, label: str) -> str:
    """What people call it. The same label under two types may well be two servers, so all types but ours are named."""
    name = readable(label)
    return name if service == TYPES[0] else f"{name} ({service.removesuffix('._tcp').removeprefix('_')})"


def read_hints(txt: Mapping[bytes, bytes | None]) -> dict[str, str]:
    """What is understood of a TXT record; keys are of any case (RFC 6763), and the rest does not count."""
    given: dict[str, str] = {}
    for key, value in txt.items():
        text = readable((value or b"").decode(errors="replace").strip())
        if text:
            given.setdefault(key.decode(errors="replace").lower(), text)
    hints = {name: text for name, keys in _KEYS.items() if (text := _first(given, keys))}
    if not _PRIORITY.fullmatch(hints.get("priority", "0")) or int(hints.get("priority", "0")) > _LAST_PRIORITY:
        del hints["priority"]
    return hints


def base_path(path: str) -> str:
    """The path of the base, if `path` is one that can be meant; otherwise where it mostly is."""
    if not _PATH.fullmatch(path):
        return PATH
    return _ENDPOINT.sub("", "/" + path.strip("/")) or PATH


def readable(text: str) -> str:
    """Without what a terminal or a log would take for more than text, and no longer than it can sensibly be."""
    return "".join(character if character.isprintable() else "?" for character in text[:_LONGEST])


def _first(given: Mapping[str, str], keys: Iterable[str]) -> str:
    return next((given[key] for key in keys if key in given), "")
