"""Real llama.cpp servers on a network with several hosts, found by real mDNS and by a real DNS server."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.thinking.phrases import en
from tests.thinking.discovery.network import Child, Host, Lan
from tests.thinking.real_server import START, missing

pytestmark = pytest.mark.skipif(missing() != "", reason=missing())

URL = "http://{}:8080/v1"


def serve(host: Host, *, endless: bool = False) -> Child:
    """A real server, that is ready."""
    settings = {"host": "0.0.0.0", "port": 8080, "context": 1024, "endless": endless}  # noqa: S104
    server = host.start_python("tests.thinking.real_server", json.dumps(settings))
    server.wait_for(lambda said: said["port"] == 8080, START)
    return server


def advertise(host: Host, label: str, address: str, priority: int = 10) -> Child:
    advertiser = host.start_python("tests.thinking.discovery.advertiser", "V4Only")
    order(advertiser, "advertise", label, address, priority)
    return advertiser


def order(advertiser: Child, do: str, label: str, address: str, priority: int = 10) -> None:
    advertiser.tell(do=do, label=label, addresses=[address], priority=priority)
    advertiser.wait_for(lambda said: said["do"] == do)


def asker(host: Host, directory: Path, *places: str, search: bool = True) -> Child:
    settings = {"places": places, "search": search, "directory": str(directory)}
    return host.start_python("tests.thinking.asker", json.dumps(settings))


def standing(*states: tuple[str, str, str, str]) -> Callable[[Any], bool]:
    """Whether it is said that the servers which were found stand so: name, address, state, verdict."""
    wanted = [[name, URL.format(address), state, verdict] for name, address, state, verdict in states]
    return lambda said: "standing" in said and all(each in said["standing"] for each in wanted)


def ask(child: Child, question: str = "Who are you?") -> tuple[str, str]:
    """The reply, and who gave it."""
    child.tell(ask=question)
    said = child.wait_for(lambda said: "reply" in said, START)
    return said["reply"].replace(en.ONE_MOMENT, "").strip(), said["by"]


def test_found_by_mdns_it_answers_and_is_followed_to_another_address(lan: Lan, tmp_path: Path) -> None:
    box, gpu = lan.host("box", "10.0.0.1/24"), lan.host("gpu", "10.0.0.2/24")
    child = asker(box, tmp_path)
    assert ask(child) == (en.UNKNOWN, ""), "nobody is there at the boot, and nobody is missed"
    serve(gpu)
    advertiser = advertise(gpu, "gpu", "10.0.0.2")
    child.wait_for(standing(("gpu", "10.0.0.2", "ready", "REMEMBERED")))
    reply, by = ask(child)
    assert len(reply) > 20
    assert by == "gpu"
    gpu.move("10.0.0.2/24", "10.0.0.7/24")
    order(advertiser, "change", "gpu", "10.0.0.7")
    child.wait_for(standing(("gpu", "10.0.0.7", "ready", "REMEMBERED")))
    reply, by = ask(child)
    assert len(reply) > 20
    assert by == "gpu"
    errors = child.finish()
    assert errors.splitlines() == [
        f"WARNING:appliance.thinking.truststore:gpu ({URL.format('10.0.0.2')}) was found, and is trusted from now on"
    ]


def test_it_dies_in_the_middle_and_nobody_else_takes_its_place(lan: Lan, tmp_path: Path) -> None:
    box, gpu, rogue = lan.host("box", "10.0.0.1/24"), lan.host("gpu", "10.0.0.2/24"), lan.host("rogue", "10.0.0.3/24")
    child = asker(box, tmp_path)
    server = serve(gpu, endless=True)
    advertise(gpu, "gpu", "10.0.0.2")
    child.wait_for(standing(("gpu", "10.0.0.2", "ready", "REMEMBERED")))
    trap = rogue.start_python("tests.thinking.full_server")
    trap.wait_for(lambda said: "port" in said)
    strangers = [("clever", "10.0.0.3"), ("another name for the trusted one", "10.0.0.2")]
    for label, address in strangers:
        advertise(rogue, label, address, priority=0)
    child.wait_for(standing(*((*stranger, "not tried yet", "STRANGER") for stranger in strangers)))
    child.tell(ask="Tell me a story.")
    child.wait_for(lambda said: "piece" in said and said["piece"].strip() not in ("", en.ONE_MOMENT), START)
    server.kill()
    assert child.wait_for(lambda said: "reply" in said)["reply"].endswith(en.BROKE_OFF)
    assert ask(child) == (en.NO_MODEL, "")
    serve(gpu)
    child.wait_for(standing(("gpu", "10.0.0.2", "ready", "REMEMBERED")), 2.0 + START)
    assert ask(child)[1] == "gpu"
    trap.say_nothing(0.1)
    assert "clever (http://10.0.0.3:8080/v1) was found and is not used" in child.finish()


def test_found_by_dns_it_answers_and_where_one_is_full_the_other_does(lan: Lan, tmp_path: Path) -> None:
    if shutil.which("dnsmasq") is None:
        pytest.skip("there is no DNS server here: install dnsmasq-base")
    router, box = lan.host("router", "10.0.0.1/24"), lan.host("box", "10.0.0.9/24")
    full, gpu = lan.host("full", "10.0.0.2/24"), lan.host("gpu", "10.0.0.3/24")
    machines = [("full", "10.0.0.2"), ("gpu", "10.0.0.3")]
    resolve(router, *machines)
    busy = full.start_python("tests.thinking.full_server")
    busy.wait_for(lambda said: "port" in said)
    serve(gpu)
    box.resolve_at("10.0.0.1")
    child = asker(box, tmp_path, "_openai._tcp.lan", search=False)
    child.wait_for(standing(*((f"{n}.lan:8080", a, "ready", "CONFIGURED") for n, a in machines)))
    for _ in range(2):
        reply, by = ask(child)
        assert len(reply) > 20
        assert by == "gpu.lan:8080"
        busy.wait_for(lambda said: said["asked"] == "/v1/chat/completions")
    assert child.finish() == ""


def test_what_the_dns_says_later_and_then_otherwise_counts_at_the_next_question(lan: Lan, tmp_path: Path) -> None:
    if shutil.which("dnsmasq") is None:
        pytest.skip("there is no DNS server here: install dnsmasq-base")
    router, box = lan.host("router", "10.0.0.1/24"), lan.host("box", "10.0.0.9/24")
    first, second = lan.host("first", "10.0.0.2/24"), lan.host("second", "10.0.0.3/24")
    box.resolve_at("10.0.0.1")
    child = asker(box, tmp_path, "_openai._tcp.lan", search=False)
    assert ask(child) == (en.UNKNOWN, ""), "there is no DNS at the boot"
    full = first.start_python("tests.thinking.full_server")
    full.wait_for(lambda said: "port" in said)
    dns = resolve(router, ("gpu", "10.0.0.2"))
    ask_until(child, en.MODEL_BUSY)
    full.kill()
    dns.kill()
    second.start_python("tests.thinking.full_server").wait_for(lambda said: "port" in said)
    resolve(router, ("gpu", "10.0.0.3"))
    ask_until(child, en.MODEL_BUSY)


def resolve(router: Host, *machines: tuple[str, str]) -> Child:
    """A DNS server that knows these names and addresses of servers of a language model, the first as the best."""
    options = ["--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--local=/lan/", "--user=root", "--pid-file="]
    records = [f"--host-record={name}.lan,{address}" for name, address in machines]
    records += [f"--srv-host=_openai._tcp.lan,{name}.lan,8080,{place}" for place, (name, _) in enumerate(machines)]
    return router.start("dnsmasq", "--keep-in-foreground", *options, *records)


def ask_until(child: Child, reply: str) -> None:
    """Somebody asks again and again."""
    replies = []
    for _ in range(20):
        replies.append(ask(child)[0])
        if replies[-1] == reply:
            return
    pytest.fail(f"never {reply!r}: {replies}")
