"""Names and services that a real DNS server of the network knows, which is asked as resolv.conf says."""

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.thinking.discovery.network import TIMEOUT, Child, Host, Lan


@pytest.fixture
def router(lan: Lan) -> Host:
    """The host whose DNS server the others ask."""
    if shutil.which("dnsmasq") is None:
        pytest.skip("there is no DNS server here: install dnsmasq-base")
    return lan.host("router", "10.0.0.1/24")


def serve(router: Host, *records: str) -> Child:
    """A DNS server that knows these, and nothing else."""
    options = ["--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--local=/lan/", "--user=root", "--pid-file="]
    return router.start("dnsmasq", "--keep-in-foreground", *options, *records)


def seek(lan: Lan, *places: str, dns: bool = False, search: str = "") -> Child:
    box = lan.host("box", "10.0.0.9/24")
    box.resolve_at("10.0.0.1", *([f"search {search}"] if search else []))
    settings = json.dumps({"places": places, "mdns": False, "dns": dns})
    return box.start_python("tests.thinking.discovery.seeker", settings)


def known(*urls: str) -> Callable[[Any], bool]:
    return lambda said: "servers" in said and [server["url"] for server in said["servers"]] == list(urls)


def test_a_name_with_three_addresses_is_three_servers(lan: Lan, router: Host) -> None:
    serve(router, *(f"--host-record=llm.lan,10.0.0.{i},fd00::{i}" for i in (2, 3, 4)))
    seeker = seek(lan, "http://llm.lan:8080/v1")
    found = seeker.wait_for(lambda said: len(said["servers"]) == 3)["servers"]
    assert sorted(server["url"] for server in found) == [f"http://10.0.0.{i}:8080/v1" for i in (2, 3, 4)]
    assert {server["source"] for server in found} == {"CONFIGURED"}
    assert seeker.finish() == ""


def test_a_service_is_found_with_its_priorities_and_weights(lan: Lan, router: Host) -> None:
    serve(
        router,
        "--host-record=big.lan,10.0.0.2,fd00::2",
        "--host-record=small.lan,10.0.0.3",
        "--srv-host=_openai._tcp.lan,big.lan,8080,10,60",
        "--srv-host=_openai._tcp.lan,small.lan,8081,10,40",
        "--srv-host=_openai._tcp.lan,spare.example,8082,20,0",
    )
    seeker = seek(lan, "_openai._tcp.lan")
    found = seeker.wait_for(lambda said: len(said["servers"]) == 4)["servers"]
    assert sorted((server["priority"], server["weight"], server["name"], server["url"]) for server in found) == [
        (10, 40, "small.lan:8081", "http://10.0.0.3:8081/v1"),
        (10, 60, "big.lan:8080", "http://10.0.0.2:8080/v1"),
        (10, 60, "big.lan:8080", "http://[fd00::2]:8080/v1"),
        (20, 0, "spare.example:8082", "http://spare.example:8082/v1"),
    ]


def test_the_domain_that_the_network_names_is_asked_for_our_service(lan: Lan, router: Host) -> None:
    serve(
        router,
        "--host-record=big.lan,10.0.0.2",
        "--host-record=far.lan,203.0.113.5",
        "--srv-host=_openai._tcp.lan,big.lan,8080",
        "--srv-host=_openai._tcp.lan,far.lan,8080",
    )
    [server] = seek(lan, dns=True, search="lan").wait_for(lambda said: said["servers"])["servers"]
    assert (server["url"], server["source"]) == ("http://10.0.0.2:8080/v1", "DNS")


def test_a_short_name_is_looked_for_in_the_domain(lan: Lan, router: Host) -> None:
    serve(router, "--host-record=llm.lan,10.0.0.2", "--host-record=llm.lan,10.0.0.3")
    seek(lan, "llm:8080", search="lan").wait_for(lambda said: len(said["servers"]) == 2)


def test_what_is_known_is_not_asked_again_before_it_is_over(lan: Lan, router: Host) -> None:
    queries = ("--log-queries", "--log-facility=-")
    server = serve(router, "--host-record=llm.lan,10.0.0.2,1000", "--host-record=llm.lan,10.0.0.3,1000", *queries)
    seeker = seek(lan, "llm.lan:8080")
    seeker.wait_for(lambda said: len(said["servers"]) == 2)
    for _ in range(20):
        seeker.tell(do="refresh")
        seeker.wait_for(lambda said: "refreshed" in said)
    seeker.finish()
    server.kill()
    assert server.errors().count("query[A] llm.lan") == 1


def test_what_changes_is_found_when_somebody_wants_to_know(lan: Lan, router: Host) -> None:
    first = serve(router, "--srv-host=_openai._tcp.lan,old.lan,8080", "--host-record=old.lan,10.0.0.2")
    seeker = seek(lan, "_openai._tcp.lan")
    seeker.wait_for(known("http://10.0.0.2:8080/v1"))
    first.kill()
    seeker.tell(do="refresh")  # nobody answers: it stays
    seeker.wait_for(lambda said: said == {"refreshed": ["http://10.0.0.2:8080/v1"]})
    serve(router, "--srv-host=_openai._tcp.lan,new.lan,8080", "--host-record=new.lan,10.0.0.3")
    until_refreshed(seeker, "http://10.0.0.3:8080/v1")


def test_a_server_that_begins_to_answer_later(lan: Lan, router: Host) -> None:
    seeker = seek(lan, "http://llm.lan:8080/v1")
    seeker.wait_for(known("http://llm.lan:8080/v1"))
    seeker.tell(do="refresh")
    seeker.wait_for(lambda said: said == {"refreshed": ["http://llm.lan:8080/v1"]})
    serve(router, "--host-record=llm.lan,10.0.0.2", "--host-record=llm.lan,10.0.0.3")
    until_refreshed(seeker, "http://10.0.0.2:8080/v1", "http://10.0.0.3:8080/v1")
    assert seeker.finish() == ""


def until_refreshed(seeker: Child, *urls: str) -> None:
    """Ask again and again, as one would at each question of the user, until it is so."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        seeker.tell(do="refresh")
        with suppress(AssertionError):
            seeker.wait_for(lambda said: sorted(said.get("refreshed", [])) == list(urls), timeout=1.0)
            return
    pytest.fail(f"never {urls}: {seeker.errors()}")
