"""Where names lead, whatever the resolver of the house says or does not say."""

import asyncio

from appliance.thinking.discovery.names import Names, Target
from appliance.thinking.discovery.places import parse_place
from appliance.thinking.discovery.resolve import Unanswered
from appliance.thinking.server import Server, Source


class House:
    """A resolver that knows what it is told; what it is not told, there is not."""

    def __init__(self) -> None:
        self.known_addresses: dict[str, tuple[str, ...] | None] = {}  # None: no answer
        self.known_targets: dict[str, tuple[Target, ...] | None] = {}
        self.domains: list[str] = []

    async def addresses(self, name: str) -> tuple[str, ...]:
        if (found := self.known_addresses.get(name, ())) is None:
            raise Unanswered(name)
        return found

    async def targets(self, service: str) -> tuple[Target, ...]:
        if (found := self.known_targets.get(service, ())) is None:
            raise Unanswered(service)
        return found

    def search_domains(self) -> list[str]:
        return self.domains


class Bench:
    def __init__(self, *places: str) -> None:
        self.house = House()
        self.changes = 0
        self.names = Names([parse_place(place) for place in places], self.house, self._changed, search=True)

    def _changed(self) -> None:
        self.changes += 1

    def refreshed(self) -> list[Server]:
        asyncio.run(self.names.refresh(frozenset()))
        return self.names.servers()

    def urls(self) -> list[str]:
        return [server.url for server in self.refreshed()]


def test_urls_are_there_from_the_start_in_their_order() -> None:
    bench = Bench("http://b.lan:8080/v1", "https://a.example.com/v1", "10.0.0.5:8080")
    servers = bench.names.servers()
    assert [server.url for server in servers] == [
        "http://b.lan:8080/v1",
        "https://a.example.com:443/v1",
        "http://10.0.0.5:8080/v1",
    ]
    assert {server.source for server in servers} == {Source.CONFIGURED}
    assert sorted(servers, key=lambda server: server.priority) == servers
    assert len({server.priority for server in servers}) == 3
    assert servers[0].name == "http://b.lan:8080/v1"
    assert bench.refreshed() == servers
    assert bench.changes == 0


def test_a_single_address_is_asked_by_its_name() -> None:
    bench = Bench("http://gpu.lan:8080/v1")
    bench.house.known_addresses["gpu.lan"] = ("10.0.0.5", "fd00::5")
    assert bench.urls() == ["http://gpu.lan:8080/v1"]


def test_each_of_several_addresses_is_a_server() -> None:
    bench = Bench("http://gpus.lan:8080/v1")
    bench.house.known_addresses["gpus.lan"] = ("10.0.0.5", "10.0.0.6", "10.0.0.7", "fd00::5", "fd00::6")
    servers = bench.refreshed()
    assert [(server.name, server.url) for server in servers] == [
        (f"http://gpus.lan:8080/v1 at 10.0.0.{i}", f"http://10.0.0.{i}:8080/v1") for i in (5, 6, 7)
    ]
    assert bench.changes == 1


def test_ipv6_alone_will_do() -> None:
    bench = Bench("gpus.lan:8080")
    bench.house.known_addresses["gpus.lan"] = ("fd00::5", "fd00::6")
    assert bench.urls() == ["http://[fd00::5]:8080/v1", "http://[fd00::6]:8080/v1"]


def test_what_is_encrypted_keeps_its_name_for_the_certificate() -> None:
    bench = Bench("https://gpus.lan/v1")
    bench.house.known_addresses["gpus.lan"] = ("10.0.0.5", "10.0.0.6")
    assert bench.urls() == ["https://gpus.lan:443/v1"]


def test_what_nobody_answers_stays_and_what_there_is_not_goes_back_to_its_name() -> None:
    bench = Bench("gpus.lan:8080")
    bench.house.known_addresses["gpus.lan"] = ("10.0.0.5", "10.0.0.6")
    found = bench.urls()
    bench.house.known_addresses["gpus.lan"] = None
    assert bench.urls() == found
    bench.house.known_addresses["gpus.lan"] = ()
    assert bench.urls() == ["http://gpus.lan:8080/v1"]


def test_the_addresses_of_a_local_name_are_those_of_one_machine() -> None:
    bench = Bench("http://gpu.local:11434")
    assert bench.urls() == ["http://gpu.local:11434/v1"]
    bench.house.known_addresses["gpu.local"] = ("fe80::5%3", "10.0.0.5", "203.0.113.9")
    servers = bench.refreshed()
    assert [(server.name, server.url) for server in servers] == [
        ("http://gpu.local:11434", "http://10.0.0.5:11434/v1"),
        ("http://gpu.local:11434", "http://[fe80::5%3]:11434/v1"),
    ]


def test_a_service_has_the_priorities_and_weights_of_its_records_within_its_place() -> None:
    bench = Bench("10.0.0.1:8080", "_openai._tcp.lan", "10.0.0.2:8080")
    bench.house.known_targets["_openai._tcp.lan"] = (Target(5, 60, 8080, "a.lan"), Target(9, 40, 8081, "b.lan"))
    bench.house.known_addresses |= {"a.lan": ("10.0.0.5", "fd00::5"), "b.lan": ("10.0.0.6",)}
    servers = sorted(bench.refreshed(), key=lambda server: server.priority)
    assert [(server.name, server.url, server.weight) for server in servers] == [
        ("10.0.0.1:8080", "http://10.0.0.1:8080/v1", 0),
        ("a.lan:8080", "http://10.0.0.5:8080/v1", 60),
        ("a.lan:8080", "http://[fd00::5]:8080/v1", 60),
        ("b.lan:8081", "http://10.0.0.6:8081/v1", 40),
        ("10.0.0.2:8080", "http://10.0.0.2:8080/v1", 0),
    ]
    assert servers[3].priority - servers[1].priority == 4


def test_a_target_whose_address_is_not_to_be_found_is_there_by_its_name() -> None:
    bench = Bench("_openai._tcp.lan")
    bench.house.known_targets["_openai._tcp.lan"] = (Target(0, 0, 8080, "a.lan"), Target(0, 0, 443, "b.lan"))
    bench.house.known_addresses["a.lan"] = None
    assert bench.urls() == ["http://a.lan:8080/v1", "https://b.lan:443/v1"]


def test_a_service_that_is_gone_goes_and_one_that_nobody_knows_of_stays() -> None:
    bench = Bench("_openai._tcp.lan")
    bench.house.known_targets["_openai._tcp.lan"] = (Target(0, 0, 8080, "a.lan"),)
    found = bench.urls()
    bench.house.known_targets["_openai._tcp.lan"] = None
    assert bench.urls() == found
    bench.house.known_targets["_openai._tcp.lan"] = ()
    assert bench.urls() == []


def test_the_search_domains_are_asked_and_only_lead_into_the_house() -> None:
    bench = Bench()
    bench.house.domains = ["lan", "example.com"]
    bench.house.known_targets |= {
        "_openai._tcp.lan.": (Target(0, 0, 8080, "a.lan"), Target(0, 0, 8080, "nowhere.lan")),
        "_openai._tcp.example.com.": (Target(0, 0, 443, "llm.example.com"), Target(0, 0, 443, "in.example.com")),
    }
    bench.house.known_addresses |= {
        "a.lan": ("203.0.113.9", "10.0.0.5"),
        "llm.example.com": ("203.0.113.9",),
        "in.example.com": ("10.0.0.6",),
    }
    servers = bench.refreshed()
    assert [server.url for server in servers] == ["http://10.0.0.5:8080/v1", "https://in.example.com:443/v1"]
    assert {server.source for server in servers} == {Source.DNS}


def test_another_network_has_other_domains() -> None:
    bench = Bench()
    bench.house.domains = ["lan"]
    bench.house.known_targets["_openai._tcp.lan."] = (Target(0, 0, 8080, "a.lan"),)
    bench.house.known_addresses["a.lan"] = ("10.0.0.5",)
    assert len(bench.urls()) == 1
    bench.house.domains = []
    assert bench.urls() == []
    assert bench.changes == 2
