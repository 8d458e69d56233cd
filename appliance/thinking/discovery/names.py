"""The servers that names lead to: what the owner configured, and what the DNS of the house knows of itself.

Rules:
- What the owner named is never missing: while its name leads nowhere, it is there by its name.
- What nobody answers stays as it was; what is answered with "there is none" goes.
- Several addresses of one name are several servers (those of IPv4, if there are any). A single one is asked by its
  name, since a proxy in front of it may go by that; so is all that is encrypted, since certificates do.
- What only the network named, its search domains, counts where it leads into the house.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from appliance.thinking.discovery.addresses import is_address, of_the_house, url_of
from appliance.thinking.discovery.advertised import PATH, TYPES
from appliance.thinking.discovery.interfaces import Interface
from appliance.thinking.discovery.places import Place, ServiceName
from appliance.thinking.discovery.resolve import Unanswered
from appliance.thinking.server import Server, Source

DOMAINS = 3
"""Search domains that are asked."""

_STEP = 0x10000
"""So far apart are the priorities of two places: each has those of SRV records to itself."""

_ENCRYPTED = 443
"""The one port of an SRV record that tells how to talk to what is there."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a service is, by an SRV record."""

    priority: int
    weight: int
    port: int
    host: str


class Resolver(Protocol):
    """Who knows names. Both questions may raise Unanswered."""

    async def addresses(self, name: str) -> tuple[str, ...]:
        """Of all machines that have the name, IPv4 first; none if there is no such name."""

    async def targets(self, service: str) -> tuple[Target, ...]:
        """Where there is a service like _openai._tcp.lan."""

    def search_domains(self) -> list[str]:
        """Which domains this network says that it is."""


class Names:
    """Keeps what the names lead to; `on_change` is called when that has changed."""

    def __init__(
        self, places: Sequence[Place | ServiceName], resolver: Resolver, on_change: Callable[[], None], *, search: bool
    ) -> None:
        self._places = places
        self._resolver = resolver
        self._on_change = on_change
        self._search = search
        self._known: dict[str | int, list[Server]] = {
            position: [_by_name(place, position)] for position, place in enumerate(places) if isinstance(place, Place)
        }

    def servers(self) -> list[Server]:
        """Where the names led when they were last asked for."""
        return [server for servers in self._known.values() for server in servers]

    async def refresh(self, interfaces: Collection[Interface]) -> None:
        """Ask for all of them, as far as the answers are over."""
        domains = self._resolver.search_domains()[:DOMAINS] if self._search else []
        for gone in [key for key in self._known if isinstance(key, str) and key not in domains]:
            self._keep(gone, [])
        await asyncio.gather(
            *(self._refresh_place(position, place, interfaces) for position, place in enumerate(self._places)),
            *(self._refresh_domain(domain, interfaces) for domain in domains),
        )

    async def _refresh_place(
        self, position: int, place: Place | ServiceName, interfaces: Collection[Interface]
    ) -> None:
        try:
            if isinstance(place, ServiceName):
                targets = await self._resolver.targets(place.name)
                machines = await asyncio.gather(*(self._at(target, Source.CONFIGURED, position) for target in targets))
                self._keep(position, [server for machine in machines for server in machine])
            elif place.scheme == "http" and not is_address(place.host):
                addresses = await self._resolver.addresses(place.host)
                self._keep(position, _at_addresses(place, position, addresses, interfaces))
        except Unanswered:
            return

    async def _refresh_domain(self, domain: str, interfaces: Collection[Interface]) -> None:
        try:
            targets = await self._resolver.targets(f"{TYPES[0]}.{domain}.")
        except Unanswered:
            return
        machines = await asyncio.gather(*(self._at(target, Source.DNS, 0, interfaces) for target in targets))
        self._keep(domain, [server for machine in machines for server in machine])

    async def _at(
        self, target: Target, source: Source, position: int, interfaces: Collection[Interface] | None = None
    ) -> list[Server]:
        """What is at a target; with `interfaces`, only if that is in the house."""
        try:
            addresses: Sequence[str] = await self._resolver.addresses(target.host)
        except Unanswered:
            addresses = ()
        if interfaces is not None:
            addresses = of_the_house(addresses, interfaces)
            if not addresses:
                return []
        if target.port == _ENCRYPTED:
            urls = [url_of(target.host, target.port, PATH, "https")]
        else:
            urls = [url_of(host, target.port, PATH) for host in addresses or (target.host,)]
        name = f"{target.host}:{target.port}"
        priority = position * _STEP + target.priority
        return [Server(name, url, source, priority, target.weight) for url in urls]

    def _keep(self, key: str | int, servers: list[Server]) -> None:
        if servers != self._known.get(key, []):
            self._known[key] = servers
            self._on_change()


def _by_name(place: Place, position: int) -> Server:
    return Server(place.text, place.at(place.host), Source.CONFIGURED, position * _STEP)


def _at_addresses(
    place: Place, position: int, addresses: Sequence[str], interfaces: Collection[Interface]
) -> list[Server]:
    priority = position * _STEP
    if place.host.endswith(".local"):  # one machine, which its own name may be unknown to all but mDNS
        urls = [place.at(address) for address in of_the_house(addresses, interfaces)]
        servers = [Server(place.text, url, Source.CONFIGURED, priority) for url in urls]
    else:
        alike = [address for address in addresses if ":" not in address] or addresses
        servers = [
            Server(f"{place.text} at {address}", place.at(address), Source.CONFIGURED, priority) for address in alike
        ]
        servers = servers if len(alike) > 1 else []
    return servers or [_by_name(place, position)]
