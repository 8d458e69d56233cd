"""Names of servers, by the system's own lookup, which also knows /etc/hosts. Whoever gives up leaves nothing behind.

The lookup may take half a minute where a name server is gone, and cannot be called off. In the loop's own executor it
would hold up others' work, and the end of the program; so each has a thread of its own, and each name one lookup.
"""

import asyncio
import contextlib
import socket
import threading

from aiohttp.abc import AbstractResolver, ResolveResult

from appliance.thinking.discovery.resolve import Answer, Cache, Unanswered

GOOD_FOR = 2.0
"""Seconds: a lookup that takes too long for a trial is there for the next one."""

Addresses = tuple[tuple[socket.AddressFamily, str], ...]


class SystemLookup(AbstractResolver):
    """What aiohttp asks for the addresses of a name. Belongs to one event loop."""

    def __init__(self) -> None:
        self._cache: Cache[str, Addresses] = Cache(_look_up)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of `host`, of all families. Raises OSError."""
        try:
            addresses = await self._cache.get(host)
        except Unanswered as error:
            raise OSError(None, str(error)) from error
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for kind, address in addresses
        ]

    async def close(self) -> None:
        """Wait for nothing more."""
        await self._cache.close()


async def _look_up(host: str) -> Answer[Addresses]:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Addresses] = loop.create_future()

    def settle(addresses: Addresses, why: str) -> None:
        if found.done():
            return
        if addresses:
            found.set_result(addresses)
        else:
            found.set_exception(Unanswered(why))

    def look_up() -> None:
        addresses: Addresses = ()
        why = "it has no address"
        try:
            infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            addresses = tuple((kind, str(address[0])) for kind, _, _, _, address in infos)
        except OSError as error:
            why = str(error.strerror)
        except UnicodeError:
            why = "it is no name"
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, addresses, why)

    threading.Thread(target=look_up, name=f"lookup of {host}", daemon=True).start()
    return Answer(await found, GOOD_FOR)
