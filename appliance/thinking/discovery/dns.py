"""Questions to the resolver of the house (unicast DNS), cached. What it does not know is no error."""

import asyncio
from collections.abc import Awaitable, Callable

from dns.asyncresolver import Resolver
from dns.exception import DNSException
from dns.name import root
from dns.rdatatype import RdataType
from dns.rdtypes.IN.A import A
from dns.rdtypes.IN.AAAA import AAAA
from dns.rdtypes.IN.SRV import SRV
from dns.resolver import NXDOMAIN, NoAnswer

from appliance.thinking.discovery.names import Target
from appliance.thinking.discovery.resolve import Answer, Cache, Unanswered

TRY = 1.0
"""Seconds that one name server may take."""

LIFETIME = 3.0
"""Seconds after which a question is given up."""

MOST = 16
"""Records that are used of one answer."""


class Dns:
    """Answers of the name servers of resolv.conf, which is read for each question: another network has another one.

    They know nothing of the names that end with .local: `local` is asked for those.
    """

    def __init__(self, local: Callable[[str], Awaitable[tuple[str, ...]]] | None = None) -> None:
        self._local = local
        self._addresses = Cache(self._look_up_addresses)
        self._targets = Cache(self._look_up_targets)

    async def addresses(self, name: str) -> tuple[str, ...]:
        """Of all machines that have the name, IPv4 first; none if there is no such name. Raises Unanswered."""
        if not name.endswith(".local"):
            return await self._addresses.get(name)
        if self._local is None:
            raise Unanswered(f"{name}: mDNS is turned off")
        return await self._local(name)

    async def targets(self, service: str) -> tuple[Target, ...]:
        """Where there is a service like _openai._tcp.lan. Raises Unanswered."""
        return await self._targets.get(service)

    def search_domains(self) -> list[str]:
        """Which domains this network says that it is."""
        try:
            resolver = _resolver()
        except Unanswered:
            return []
        domains = [str(domain).rstrip(".") for domain in resolver.search or [resolver.domain]]
        return [domain for domain in domains if domain not in ("", "local")]

    def forget(self) -> None:
        """The network is another one."""
        self._addresses.forget()
        self._targets.forget()

    async def close(self) -> None:
        """Ask nothing more."""
        await self._addresses.close()
        await self._targets.close()

    async def _look_up_addresses(self, name: str) -> Answer[tuple[str, ...]]:
        answers = await asyncio.gather(_ask(name, RdataType.A), _ask(name, RdataType.AAAA), return_exceptions=True)
        known = [answer for answer in answers if not isinstance(answer, BaseException) and answer.value]
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if failures and not known:
            raise Unanswered(str(failures[0]))
        records = [record for answer in known for record in answer.value[:MOST]]
        addresses = tuple(record.address for record in records if isinstance(record, A | AAAA))
        return Answer(addresses, min((answer.ttl for answer in known), default=0.0))

    async def _look_up_targets(self, service: str) -> Answer[tuple[Target, ...]]:
        answer = await _ask(service, RdataType.SRV)
        targets = tuple(
            Target(record.priority, record.weight, record.port, str(record.target).rstrip("."))
            for record in answer.value[:MOST]
            if isinstance(record, SRV) and record.target != root  # which says that there is none
        )
        return Answer(targets, answer.ttl)


def _resolver() -> Resolver:
    try:
        return Resolver()
    except (DNSException, ValueError, OSError) as error:
        raise Unanswered(f"resolv.conf: {error}") from error


async def _ask(name: str, kind: RdataType) -> Answer[list[object]]:
    resolver = _resolver()
    resolver.timeout = TRY
    try:
        answer = await resolver.resolve(name, kind, search=True, lifetime=LIFETIME)
    except (NXDOMAIN, NoAnswer):
        return Answer([], 0.0)
    except (DNSException, OSError) as error:  # among them: no name server, no network, no answer in time
        raise Unanswered(f"{name}: {error}") from error
    return Answer(list(answer), answer.chaining_result.minimum_ttl)
