"""Servers that are advertised on the LAN (mDNS/DNS-SD), for as long as they are.

Rules:
- An advertisement counts until it is taken back, or until nobody answers for it when that is asked (`reconfirm`). Of
  itself its record lives on for 19 minutes or more after the server has crashed: a probe decides, not the record.
- No network is no error. An interface that has changed in any way is left, and joined anew; then all is asked again.
- All of it may be written by anyone: names, texts and addresses are checked, and there are no more than MOST.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine

from zeroconf import AddressResolver, ServiceStateChange, Zeroconf  # type: ignore[attr-defined]
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from appliance.thinking.discovery.addresses import of_the_house
from appliance.thinking.discovery.advertised import TYPES, advertised_servers, readable
from appliance.thinking.discovery.interfaces import Interface
from appliance.thinking.discovery.resolve import Answer, Cache, Unanswered
from appliance.thinking.server import Server

MOST = 32
"""Advertised services that are considered."""

PATIENCE = 3.0
"""Seconds that an advertiser has to answer: it is asked four times meanwhile."""

ADDRESS_PATIENCE = 1.0
"""The same for the address of a name, which a user may be waiting for."""

FLUSH = 1.1
"""Seconds until what an advertiser has replaced is gone (RFC 6762, 10.2: one)."""

ASK_AFTER = 60.0
"""Seconds between two calls into the LAN, however often somebody wants to know."""

CONFIRM_AFTER = 10.0
"""Seconds between two such questions about one advertisement."""

_log = logging.getLogger(__name__)
# What it warns of are interfaces that come and go, which is seen to here.
logging.getLogger("zeroconf").setLevel(logging.ERROR)


class Mdns:
    """Follows the advertisements; `on_change` is called when what `servers` says has changed."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._interfaces: frozenset[Interface] = frozenset()
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._asked_at = -math.inf
        self._services: dict[str, list[Server]] = {}
        self._confirmed_at: dict[str, float] = {}
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._addresses = Cache(self._look_up_addresses)

    def servers(self) -> list[Server]:
        """Those whose advertisements are known, the types in their order."""
        ranked = sorted(self._services.items(), key=lambda item: TYPES.index(_type_of(item[0])))
        return [server for _, servers in ranked for server in servers]

    async def use(self, interfaces: frozenset[Interface]) -> None:
        """These are the interfaces from now on. OSError: the port cannot be had."""
        before, self._interfaces = self._interfaces, interfaces
        self._addresses.forget()
        if self._zeroconf is None:
            if not interfaces:
                return
            self._zeroconf = AsyncZeroconf(_choice(interfaces))
        else:
            if before - interfaces:
                await self._zeroconf.async_update_interfaces(_choice(before & interfaces))
            await self._zeroconf.async_update_interfaces(_choice(interfaces))
            for name in list(self._services):
                self._confirm(self._zeroconf.zeroconf, name)
        await self._browse(self._zeroconf)

    async def ask(self) -> None:
        """Call into the LAN once more, unless that was just done: an announcement may have been lost."""
        if self._zeroconf is not None and asyncio.get_running_loop().time() - self._asked_at > ASK_AFTER:
            await self._browse(self._zeroconf)

    def reconfirm(self, server: Server) -> None:
        """It does not answer as it should: unless its advertiser still does, it goes."""
        if self._zeroconf is None:
            return
        now = asyncio.get_running_loop().time()
        for name in [name for name, servers in self._services.items() if server in servers]:
            if now - self._confirmed_at.get(name, -math.inf) > CONFIRM_AFTER:
                self._confirmed_at[name] = now
                self._confirm(self._zeroconf.zeroconf, name)

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Of a name that ends with .local, in no order. Raises Unanswered."""
        return await self._addresses.get(host)

    async def close(self) -> None:
        """Leave the network."""
        tasks = list(self._resolving.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._addresses.close()
        if self._browser is not None:
            await self._browser.async_cancel()
        if self._zeroconf is not None:
            await self._zeroconf.async_close()

    async def _browse(self, network: AsyncZeroconf) -> None:
        """Ask who is there, a few times within a quarter of a minute; all that is known comes once more too."""
        if self._browser is not None:
            await self._browser.async_cancel()
        self._asked_at = asyncio.get_running_loop().time()
        types = [f"{service}.local." for service in TYPES]
        self._browser = AsyncServiceBrowser(network.zeroconf, types, handlers=[self._heard])

    def _heard(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is ServiceStateChange.Removed:
            self._stop_resolving(name)
            self._keep(name, [])
        elif self._is_considered(name, service_type):
            self._resolve(name, self._follow(zeroconf, service_type, name))

    def _is_considered(self, name: str, service_type: str) -> bool:
        known = self._services.keys() | self._resolving.keys()
        return name.lower().endswith(f".{service_type}") and (name in known or len(known) < MOST)

    def _confirm(self, network: Zeroconf, name: str) -> None:
        """As if nothing were known of it, so that it is asked for; and if it comes back one day, it is new."""
        service_type = f"{_type_of(name)}.local."
        known = AsyncServiceInfo(service_type, name)
        known.load_from_cache(network)
        for key in {service_type, name, known.server or name}:
            records = network.cache.entries_with_name(key)
            network.cache.async_remove_records([each for each in records if getattr(each, "alias", name) == name])
        self._resolve(name, self._follow(network, service_type, name))

    def _resolve(self, name: str, work: Coroutine[None, None, None]) -> None:
        self._stop_resolving(name)
        task = self._resolving[name] = asyncio.create_task(work, name=f"mdns {name}")
        task.add_done_callback(lambda task: self._resolved(name, task))

    def _stop_resolving(self, name: str) -> None:
        if (task := self._resolving.pop(name, None)) is not None:
            task.cancel()

    def _resolved(self, name: str, task: asyncio.Task[None]) -> None:
        if self._resolving.get(name) is task:
            del self._resolving[name]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.debug("the advertisement %r cannot be used: %s", name, error)

    async def _follow(self, network: Zeroconf, service_type: str, name: str) -> None:
        info = AsyncServiceInfo(service_type, name)
        if not await info.async_request(network, PATIENCE * 1000):
            self._keep(name, [])
            return
        self._understand(info)
        await asyncio.sleep(FLUSH)
        info = AsyncServiceInfo(service_type, name)
        if info.load_from_cache(network):
            self._understand(info)

    def _understand(self, info: AsyncServiceInfo) -> None:
        addresses = of_the_house(info.parsed_scoped_addresses(), self._interfaces)
        servers = advertised_servers(
            service=_type_of(info.name),
            label=info.get_name(),
            host=info.server or "",
            port=info.port or 0,
            addresses=addresses if info.port else (),
            txt=info.properties,
            priority=info.priority,
            weight=info.weight,
        )
        self._keep(info.name, servers)

    def _keep(self, name: str, servers: list[Server]) -> None:
        if servers == self._services.get(name, []):
            return
        if servers:
            self._services[name] = servers
        else:
            del self._services[name]
            self._confirmed_at.pop(name, None)
        self._on_change()

    async def _look_up_addresses(self, host: str) -> Answer[tuple[str, ...]]:
        if self._zeroconf is None:
            raise Unanswered("there is no network")
        resolver = AddressResolver(f"{host.rstrip('.')}.")
        if not await resolver.async_request(self._zeroconf.zeroconf, ADDRESS_PATIENCE * 1000):
            raise Unanswered(f"nobody on this network answers to {readable(host)}")
        return Answer(tuple(resolver.parsed_scoped_addresses()), 0.0)  # zeroconf keeps them for as long as they say


def _choice(interfaces: frozenset[Interface]) -> list[str | int]:
    """What zeroconf is to use: of each interface one IPv4 address, and its number if it has IPv6."""
    choice: list[str | int] = []
    for interface in sorted(interfaces, key=lambda interface: interface.index):
        old = [address.ip for address in interface.addresses if address.version == 4]
        if old:
            choice.append(str(min(old, key=lambda address: address.is_link_local)))
        if len(old) < len(interface.addresses):
            choice.append(interface.index)
    return choice


def _type_of(name: str) -> str:
    """The type in the name of a service; empty if there is none."""
    labels = name.lower().removesuffix(".local.").rsplit(".", 2)
    return ".".join(labels[-2:])
