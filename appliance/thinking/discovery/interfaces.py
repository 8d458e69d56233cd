"""The network's interfaces, as the kernel tells of them (rtnetlink), and of their changes. Nothing else wakes it."""

import asyncio
import ipaddress
import socket
import struct
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface

SETTLE = 0.25
"""Seconds that a change is given to become the whole of it: links and addresses come in several steps."""

_HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_LINK = struct.Struct("=BxHiII")  # ifinfomsg: family, type, index, flags, change
_ADDRESS = struct.Struct("=BBBBI")  # ifaddrmsg: family, prefix length, flags, scope, index
_ATTRIBUTE = struct.Struct("=HH")  # rtattr: length, type

_GET_LINK, _NEW_LINK, _GET_ADDRESS, _NEW_ADDRESS = 18, 16, 22, 20
_ERROR, _DONE = 2, 3
_REQUEST_DUMP = 0x301
_GROUPS = 0x1 | 0x10 | 0x100  # links, IPv4 addresses, IPv6 addresses
_NAME = 3  # IFLA_IFNAME
_PEER, _LOCAL = 1, 2  # IFA_ADDRESS, IFA_LOCAL: the same but on links from point to point

_UP, _LOOPBACK, _MULTICAST, _CARRIER = 0x1, 0x8, 0x1000, 0x10000
_UNUSABLE = 0x08 | 0x40  # an address that is a duplicate, or is not yet known to be none

_BUFFER = 1 << 16


@dataclass(frozen=True, slots=True)
class Interface:
    """One that is up, has a link, can multicast, and has addresses."""

    index: int
    name: str
    addresses: tuple[Address, ...]


def interfaces() -> frozenset[Interface]:
    """Those that there are now. OSError: the kernel does not tell."""
    names = dict(_links())
    found: dict[int, list[Address]] = {}
    for index, address in _addresses():
        if index in names:
            found.setdefault(index, []).append(address)
    return frozenset(Interface(index, names[index], tuple(addresses)) for index, addresses in found.items())


async def changing_interfaces() -> AsyncGenerator[frozenset[Interface], None]:
    """Those that there are now, and then anew each time that they have changed. OSError: the kernel does not tell."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as news:
        news.setblocking(False)
        news.bind((0, _GROUPS))

        def read() -> None:
            told.set()
            try:
                while news.recv(_BUFFER):
                    pass
            except OSError:
                pass  # that was all; or there was more than was kept, and then too it is time to look

        loop.add_reader(news, read)
        try:
            known = interfaces()
            yield known
            while True:
                await told.wait()
                await asyncio.sleep(SETTLE)
                told.clear()
                if (now := interfaces()) != known:
                    known = now
                    yield known
        finally:
            loop.remove_reader(news)


def _links() -> Iterator[tuple[int, str]]:
    for body in _dump(_GET_LINK, _NEW_LINK):
        _, _, index, flags, _ = _LINK.unpack_from(body)
        if not flags & _LOOPBACK and flags & _UP and flags & _CARRIER and flags & _MULTICAST:
            yield index, _attributes(body[_LINK.size :])[_NAME].rstrip(b"\0").decode(errors="replace")


def _addresses() -> Iterator[tuple[int, Address]]:
    for body in _dump(_GET_ADDRESS, _NEW_ADDRESS):
        family, length, flags, _, index = _ADDRESS.unpack_from(body)
        attributes = _attributes(body[_ADDRESS.size :])
        packed = attributes.get(_LOCAL) or attributes.get(_PEER)
        if packed is None or flags & _UNUSABLE:
            continue
        if family == socket.AF_INET:
            yield index, ipaddress.IPv4Interface((packed, length))
        elif family == socket.AF_INET6:
            yield index, ipaddress.IPv6Interface((packed, length))


def _dump(request: int, answer: int) -> Iterator[bytes]:
    """The bodies of all messages of one kind that the kernel has."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        body = bytes(_LINK.size)
        kernel.sendto(_HEADER.pack(_HEADER.size + len(body), request, _REQUEST_DUMP, 1, 0) + body, (0, 0))
        while True:
            data = kernel.recv(_BUFFER)
            while data:
                length, kind, *_ = _HEADER.unpack_from(data)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    (code,) = struct.unpack_from("=i", data, _HEADER.size)
                    raise OSError(-code, "the kernel does not tell of the network's interfaces")
                if kind == answer:
                    yield data[_HEADER.size : length]
                data = data[_aligned(length) :]


def _attributes(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while len(data) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(data)
        found[kind] = data[_ATTRIBUTE.size : length]
        data = data[_aligned(length) :]
    return found


def _aligned(length: int) -> int:
    return (length + 3) & ~3
