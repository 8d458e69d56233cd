"""Which of a server's addresses are asked, and in which order.

What anybody may have written (an advertisement, or a domain that the network named) only counts where it leads into
the house: what the family says is not to be sent elsewhere.
"""

import contextlib
import ipaddress
from collections.abc import Collection, Iterable

from appliance.thinking.discovery.interfaces import Interface

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

MOST = 3
"""Addresses of one machine: more of them say nothing new, and each may cost the time of a trial."""

PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
        *("169.254.0.0/16", "fe80::/10"),  # of one link
        "100.64.0.0/10",  # of a provider, and of networks laid over others
    )
)


def of_the_house(addresses: Iterable[str], interfaces: Collection[Interface]) -> list[str]:
    """Those that lead to a machine of the house, the likeliest first. An IPv6 address of one link needs its scope.

    First those of a network that this machine is in, and of these IPv4. An address that this machine has itself comes
    last: two machines that run containers may well have the same one.
    """
    mine = [own for interface in interfaces for own in interface.addresses]
    ranked: dict[str, tuple[bool, bool, bool, bool]] = {}
    for text in addresses:
        address = _parse(text)
        if address is None or address.is_loopback or address.is_unspecified or address.is_multicast:
            continue
        needs_scope = isinstance(address, ipaddress.IPv6Address) and address.is_link_local
        unscoped = ipaddress.ip_address(text.partition("%")[0])
        near = any(unscoped in own.network for own in mine)
        if (needs_scope and "%" not in text) or not (near or any(unscoped in network for network in PRIVATE)):
            continue
        ranked[text] = (any(unscoped == own.ip for own in mine), needs_scope, not near, address.version == 6)
    return sorted(ranked, key=ranked.__getitem__)[:MOST]


def is_address(host: str) -> bool:
    """Whether it is an address and no name."""
    return _parse(host) is not None


def url_of(host: str, port: int, path: str, scheme: str = "http") -> str:
    """The base of a server's URLs. A scope stays as it is, since aiohttp wants it so."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}"


def _parse(text: str) -> IpAddress | None:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(text)
    return None
