"""Whether questions to all of the network can be asked (mDNS): servers that are advertised are found by them."""

import errno
import socket
import struct
from collections.abc import Iterable

from appliance.doctor.check import Finding, bad
from appliance.thinking.discovery.interfaces import Interface

PORT = 5353
GROUP, GROUP_6 = "224.0.0.251", "ff02::fb"

QUESTION = b"\0\0\0\0\0\1\0\0\0\0\0\0\7_openai\4_tcp\5local\0\0\x0c\0\1"
"""Who has such a service? Any answer is for those who look for one."""

_REMEDIES = {
    errno.EADDRINUSE: "Another program has UDP port 5353 to itself. If that is Avahi: set disallow-other-stacks=no in "
    "/etc/avahi/avahi-daemon.conf",
    errno.EPERM: f"Let UDP from and to {GROUP}, port {PORT}, pass the firewall: sudo nft list ruleset",
}
_REMEDY = "Try another interface, such as a cable; or name the server in llm.servers, and set llm.search = false"


def multicast_problems(interfaces: Iterable[Interface]) -> Iterable[Finding]:
    """A bad line for each interface by which nobody can be asked."""
    for interface in sorted(interfaces, key=lambda each: each.name):
        try:
            _ask(interface)
        except OSError as error:
            text = f"servers on {interface.name} cannot be looked for: {error.strerror}"
            yield bad("multicast", text, _REMEDIES.get(error.errno or 0, _REMEDY))


def _ask(interface: Interface) -> None:
    old = [str(address.ip) for address in interface.addresses if address.version == 4]
    with socket.socket(socket.AF_INET if old else socket.AF_INET6, socket.SOCK_DGRAM) as asking:
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            asking.setsockopt(socket.SOL_SOCKET, option, 1)
        if old:
            own = socket.inet_aton(old[0])
            asking.bind(("", PORT))
            asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
            asking.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + own)
            asking.sendto(QUESTION, (GROUP, PORT))
        else:
            index = struct.pack("=I", interface.index)
            asking.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            asking.bind(("", PORT))
            asking.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, interface.index)
            group = socket.inet_pton(socket.AF_INET6, GROUP_6)
            asking.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + index)
            asking.sendto(QUESTION, (GROUP_6, PORT, 0, interface.index))
