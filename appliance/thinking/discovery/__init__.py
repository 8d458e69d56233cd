"""Servers of a language model, found by themselves.

    what the owner named ── URLs, names, services ────► Names ◄─┬── Dns
    the house's DNS ─────── a service in its domain ──► Names ◄─┘
    the LAN ─────────────── what is advertised there ─► Mdns
    this machine ────────── where such programs listen

All of these are candidates only: whether a server is there at all, and who is asked, is decided elsewhere. `draw_order`
puts them in the order in which to try.
"""

import asyncio
import contextlib
import errno
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from appliance.thinking.discovery.interfaces import Interface, changing_interfaces
from appliance.thinking.discovery.names import Names
from appliance.thinking.discovery.order import draw_order
from appliance.thinking.discovery.places import Place, ServiceName, local_servers, parse_place
from appliance.thinking.server import Server

if TYPE_CHECKING:
    from appliance.thinking.discovery.dns import Dns
    from appliance.thinking.discovery.mdns import Mdns

__all__ = ["Discovery", "Place", "ServiceName", "draw_order", "parse_place"]

PATIENCE = 0.5
"""Seconds that `refresh` waits for the answers; those that come later are told as a change."""

RETRY = 60.0
"""Seconds until what the kernel refuses is tried again, such as a port that another program has to itself."""

_log = logging.getLogger(__name__)


class Discovery:
    """Knows the servers that there may be. No network is no error.

    `dns` is whether the domains that the network names are asked for a service; what the owner named always is.
    """

    def __init__(
        self, places: Sequence[Place | ServiceName] = (), *, mdns: bool = True, dns: bool = True, local: bool = True
    ) -> None:
        self._places = places
        self._wants_mdns = mdns
        self._wants_domains = dns
        self._local = local_servers() if local else []
        self._mdns: Mdns | None = None
        self._dns: Dns | None = None
        self._names: Names | None = None
        self._interfaces: frozenset[Interface] = frozenset()
        self._following: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._warned = ""
        self._news = asyncio.Event()
        self.version = 0
        """Another number each time that `servers` has changed."""

    async def start(self) -> None:
        """Begin to look; returns before anything is found."""
        await asyncio.to_thread(self._load)
        self._following = asyncio.create_task(self._follow(), name="discovery")

    async def stop(self) -> None:
        """Leave the network; what was found stays known. One that never started may be stopped too."""
        await _end(self._following)
        await _end(self._asking)
        if self._dns is not None:
            await self._dns.close()
        if self._mdns is not None:
            await self._mdns.close()

    def servers(self) -> list[Server]:
        """Those that are known now, by source and priority. Several may have one URL: any of them may be a lie."""
        known = list(self._local)
        if self._names is not None:
            known += self._names.servers()
        if self._mdns is not None:
            known += self._mdns.servers()
        return sorted(known, key=lambda server: (server.source, server.priority))

    async def changed(self, since: int) -> int:
        """The `version`, as soon as it is another one than `since`."""
        while self.version == since:
            await self._news.wait()
        return self.version

    async def refresh(self) -> None:
        """Somebody is about to need a server: look again, as far as what is known has become old."""
        if self._mdns is not None:
            await self._mdns.ask()
        if self._names is not None:
            if self._asking is None or self._asking.done():
                self._asking = self._ask(self._names)
            await asyncio.wait({self._asking}, timeout=PATIENCE)

    def reconfirm(self, server: Server) -> None:
        """It does not answer as it should: if it was advertised, and nobody stands by that, it is forgotten soon."""
        if self._mdns is not None:
            self._mdns.reconfirm(server)

    def _load(self) -> None:
        """Nothing of this is loaded where no model is used; and it takes a while, so in a thread."""
        from appliance.thinking.discovery.dns import Dns

        if self._wants_mdns:
            from appliance.thinking.discovery.mdns import Mdns

            self._mdns = Mdns(self._tell)
        self._dns = Dns(None if self._mdns is None else self._mdns.addresses)
        self._names = Names(self._places, self._dns, self._tell, search=self._wants_domains)

    async def _follow(self) -> None:
        while True:
            try:
                async with contextlib.aclosing(changing_interfaces()) as changes:
                    async for interfaces in changes:
                        await self._use(interfaces)
            except OSError as error:
                self._warn(error)
            except Exception:  # noqa: BLE001  whatever it is, a server that comes later is to be found
                _log.exception("looking for servers failed, and is begun anew")
            await asyncio.sleep(RETRY)

    async def _use(self, interfaces: frozenset[Interface]) -> None:
        self._interfaces = interfaces
        if self._dns is not None:
            self._dns.forget()
        try:
            if self._mdns is not None:
                await self._mdns.use(interfaces)
        finally:
            if self._asking is not None:
                self._asking.cancel()
            if self._names is not None:
                self._asking = self._ask(self._names)

    def _ask(self, names: Names) -> asyncio.Task[None]:
        return asyncio.create_task(names.refresh(self._interfaces), name="discovery: names")

    def _tell(self) -> None:
        self.version += 1
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _warn(self, error: OSError) -> None:
        problem = error.strerror or str(error)
        if error.errno == errno.EADDRINUSE:
            problem = (
                "another program has the port of mDNS, 5353, to itself. If that is Avahi: set disallow-other-stacks=no "
                "in /etc/avahi/avahi-daemon.conf"
            )
        if problem != self._warned:
            self._warned = problem
            _log.warning("servers that are advertised on this network cannot be found now: %s", problem)


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.wait({task})
