"""The network, and what is found in it."""

import ipaddress
from collections.abc import Iterable
from pathlib import Path

from appliance.doctor.check import Finding, Patient, bad, good
from appliance.doctor.multicast import multicast_problems
from appliance.thinking.discovery.interfaces import interfaces

ROUTES = Path("/proc/net/route")
"""The kernel's routes of IPv4."""

ROUTES_6 = Path("/proc/net/ipv6_route")


def network(patient: Patient) -> Iterable[Finding]:
    """Whether it is in one."""
    found = [
        f"{address.ip} on {interface.name}"
        for interface in sorted(interfaces(), key=lambda each: each.name)
        for address in interface.addresses
        if not address.ip.is_link_local or isinstance(address.ip, ipaddress.IPv4Address)
    ]
    if not found:
        yield bad("network", "this machine is in none", "Plug in a cable, or see: nmcli device wifi list")
    elif not _leads_out():
        yield bad(
            "network", f"{', '.join(found)}; no way leads out of it", "See whether the router gives one: ip route"
        )
    else:
        yield good("network", ", ".join(found))


def language_model(patient: Patient) -> Iterable[Finding]:
    """Whether there is one to be asked; where no appliance looks for one, some seconds are taken for that."""
    name, wanted = "language model", patient.settings.llm
    if not wanted.enabled:
        yield good(name, "off, by the configuration")
        return
    if wanted.search:
        yield from multicast_problems(interfaces())
    servers, is_running = patient.servers, patient.condition is not None
    if not is_running:
        from appliance.doctor.servers import found  # which takes its time

        servers = found(wanted, patient.directory)
    # One on this machine is only a guess, unless it is being served here.
    guesses = () if wanted.local_model and is_running else ("local",)
    usable = [server for server in servers if server.trusted and server.source not in guesses]
    ready = [server for server in servers if server.trusted and server.state == "ready"]
    strangers = [server for server in servers if not server.trusted]
    if ready:
        yield good(name, f"{ready[0].name} ({ready[0].url}) is ready")
    elif usable:
        first = usable[0]
        yield bad(name, f"{first.name} ({first.url}) is {first.state}: {first.why}", "See: appliance llm list")
    elif strangers:
        yield bad(name, f"{strangers[0].name} was found, and is not trusted", "Type: appliance llm trust NAME")
    elif wanted.servers:
        yield bad(name, "none of llm.servers was found", "See: appliance llm list")
    elif wanted.local_model and not is_running:
        yield good(name, f"none was found; the running appliance serves {wanted.local_model} itself")
    else:
        yield good(name, "none was found; it answers what it can by itself")


def _leads_out() -> bool:
    try:
        if any(line.split()[1:2] == ["00000000"] for line in ROUTES.read_text().splitlines()):
            return True
        # The default route of a machine without IPv6 is one on lo, which rejects.
        routes = [line.split() for line in ROUTES_6.read_text().splitlines()]
    except OSError:
        return True  # the kernel does not tell
    return any(route[:2] == ["0" * 32, "00"] and route[-1] != "lo" for route in routes)
