"""Servers that are advertised on a network with several hosts: they come, change and go, and so does the network."""

import base64
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from zeroconf import DNSOutgoing, DNSPointer  # type: ignore[attr-defined]

from tests.thinking.discovery.network import TIMEOUT, Child, Host, Lan


def seek(host: Host, **settings: Any) -> Child:
    return host.start_python("tests.thinking.discovery.seeker", json.dumps(settings))


def advertise(at: Host, label: str, *addresses: str, **more: Any) -> Child:
    """An advertiser that has told the network once."""
    child = at.start_python("tests.thinking.discovery.advertiser", "V4Only")
    order(child, do="advertise", label=label, addresses=addresses, **more)
    return child


def order(advertiser: Child, **what: Any) -> None:
    """Have it done."""
    advertiser.tell(**what)
    advertiser.wait_for(lambda said: said["do"] == what["do"])


def known(*urls: str) -> Callable[[Any], bool]:
    return lambda said: "servers" in said and [server["url"] for server in said["servers"]] == list(urls)


def at(*addresses: str) -> Callable[[Any], bool]:
    return known(*(f"http://{address}:8080/v1" for address in addresses))


def test_a_server_that_is_started_later_is_found_with_its_hints(lan: Lan) -> None:
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(known())
    txt = {"models": "qwen3:8b,gemma3", "status": "ready"}
    advertise(lan.host("gpu", "10.0.0.2/24"), "Big box", "10.0.0.2", host="gpu", txt=txt, weight=3)
    assert seeker.wait_for(at("10.0.0.2"))["servers"] == [
        {
            "name": "Big box",
            "url": "http://10.0.0.2:8080/v1",
            "source": "MDNS",
            "priority": 0,
            "weight": 3,
            "model": "qwen3:8b",
            "properties": {"model": txt["models"], "status": "ready", "service": "_openai._tcp", "host": "gpu.local"},
        }
    ]
    assert seeker.finish() == ""


def test_all_types_of_service_are_found_ours_first(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    types = ["_vllm", "_llama", "_ollama", "_llm", "_openai"]
    advertiser = advertise(gpu, "gpu", "10.0.0.2", type="_vllm._tcp", port=8000)
    for port, name in enumerate(types[1:], start=8001):
        order(advertiser, do="advertise", label="gpu", addresses=["10.0.0.2"], type=f"{name}._tcp", port=port)
    found = seek(lan.host("box", "10.0.0.1/24")).wait_for(lambda said: len(said["servers"]) == len(types))
    assert [server["name"] for server in found["servers"]] == [
        *("gpu", "gpu (llm)", "gpu (ollama)", "gpu (llama)", "gpu (vllm)")
    ]


def test_one_server_that_is_advertised_twice_has_two_names_ours_first(lan: Lan) -> None:
    advertiser = advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2", type="_ollama._tcp", port=11434)
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(lambda said: [server["name"] for server in said["servers"]] == ["gpu (ollama)"])
    order(advertiser, do="advertise", label="gpu", addresses=["10.0.0.2"], port=11434)
    seeker.wait_for(lambda said: [server["name"] for server in said["servers"]] == ["gpu", "gpu (ollama)"])


def test_two_servers_come_by_their_priorities(lan: Lan) -> None:
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    advertise(lan.host("one", "10.0.0.2/24"), "one", "10.0.0.2", priority=20)
    advertise(lan.host("two", "10.0.0.3/24"), "two", "10.0.0.3", priority=10)
    seeker.wait_for(at("10.0.0.3", "10.0.0.2"))


def test_of_several_addresses_the_likeliest_is_first_and_those_outside_are_none(lan: Lan) -> None:
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "172.17.0.1", "203.0.113.9", "fd00::2", "10.0.0.2", "127.0.0.1")
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(at("10.0.0.2", "172.17.0.1", "[fd00::2]"))


def test_on_a_network_without_ipv4_the_address_has_its_scope(lan: Lan) -> None:
    box, gpu = lan.host("box", cautious=True), lan.host("gpu")
    gpu.plug_in()
    [address] = json.loads(gpu.ip("-json", "-6", "address", "show", "dev", "eth0"))[0]["addr_info"]
    seeker = seek(box)
    box.plug_in()
    child = gpu.start_python("tests.thinking.discovery.advertiser", "V6Only")
    order(child, do="advertise", label="gpu", addresses=[address["local"]])
    [server] = seeker.wait_for(lambda said: said["servers"])["servers"]
    index = json.loads(box.ip("-json", "link", "show", "eth0"))[0]["ifindex"]
    assert server["url"] == f"http://[{address['local']}%{index}]:8080/v1"


def test_its_address_changes(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    advertiser = advertise(gpu, "gpu", "10.0.0.2")
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(at("10.0.0.2"))
    gpu.move("10.0.0.2/24", "10.0.0.7/24")
    order(advertiser, do="change", label="gpu", addresses=["10.0.0.7"])
    seeker.wait_for(lambda said: said["servers"][0]["url"] == "http://10.0.0.7:8080/v1")
    seeker.tell(do="reconfirm", url="http://10.0.0.2:8080/v1")
    seeker.wait_for(at("10.0.0.7"))


def test_it_says_goodbye(lan: Lan) -> None:
    advertiser = advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(at("10.0.0.2"))
    advertiser.finish()
    seeker.wait_for(known())


def test_it_goes_without_a_word_and_comes_back(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    advertiser = advertise(gpu, "gpu", "10.0.0.2")
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(at("10.0.0.2"))
    advertiser.kill()
    seeker.say_nothing(2.0)  # by itself nobody notices
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:  # as one does who tries it each second
        seeker.tell(do="reconfirm", url="http://10.0.0.2:8080/v1")
        with suppress(AssertionError):
            seeker.wait_for(known(), timeout=1.0)
            break
    advertise(gpu, "gpu", "10.0.0.2")
    seeker.wait_for(at("10.0.0.2"))


def test_what_is_there_stays_when_it_is_asked_for_again(lan: Lan) -> None:
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    seeker.wait_for(at("10.0.0.2"))
    seeker.tell(do="reconfirm", url="http://10.0.0.2:8080/v1")
    seeker.say_nothing(4.0)


def test_an_address_that_changed_unheard_is_found_when_it_is_asked_for_again(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    advertiser = advertise(gpu, "gpu", "10.0.0.2")
    box = lan.host("box", "10.0.0.1/24")
    seeker = seek(box)
    seeker.wait_for(at("10.0.0.2"))
    advertiser.kill()
    lan.cut("gpu")
    gpu.move("10.0.0.2/24", "10.0.0.7/24")
    advertise(gpu, "gpu", "10.0.0.7")
    lan.join("gpu")
    seeker.tell(do="reconfirm", url="http://10.0.0.2:8080/v1")
    seeker.wait_for(at("10.0.0.7"))


def test_without_a_network_it_starts_and_waits_and_finds_when_there_is_one(lan: Lan) -> None:
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    box = lan.host("box")
    seeker = seek(box, dns=True)
    seeker.wait_for(known())
    seeker.tell(do="refresh")
    seeker.wait_for(lambda said: said == {"refreshed": []})
    box.plug_in("10.0.0.1/24")
    seeker.wait_for(at("10.0.0.2"))
    assert seeker.finish() == ""


def test_the_network_goes_and_comes_back_and_is_another_one_then(lan: Lan) -> None:
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    box = lan.host("box", "10.0.0.1/24")
    seeker = seek(box)
    seeker.wait_for(at("10.0.0.2"))
    box.unplug()
    seeker.wait_for(known())
    advertise(lan.host("other", "10.9.0.2/24"), "other", "10.9.0.2")
    box.move("10.0.0.1/24", "10.9.0.1/24")
    box.plug_in()
    seeker.wait_for(lambda said: "http://10.9.0.2:8080/v1" in [server["url"] for server in said["servers"]])


def test_its_own_address_changes(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    advertiser = advertise(gpu, "gpu", "10.0.0.2")
    box = lan.host("box", "10.0.0.1/24")
    seeker = seek(box)
    seeker.wait_for(at("10.0.0.2"))
    box.move("10.0.0.1/24", "10.0.0.8/24")
    order(advertiser, do="advertise", label="later", addresses=["10.0.0.2"], port=8081)
    seeker.wait_for(known("http://10.0.0.2:8080/v1", "http://10.0.0.2:8081/v1"))


def test_an_interface_that_is_replaced_at_once_by_one_with_the_same_address(lan: Lan) -> None:
    advertiser = advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    box = lan.host("box", "10.0.0.1/24")
    seeker = seek(box)
    seeker.wait_for(at("10.0.0.2"))
    lan.replug("box")
    box.plug_in("10.0.0.1/24")
    order(advertiser, do="advertise", label="later", addresses=["10.0.0.2"], port=8081)
    seeker.wait_for(known("http://10.0.0.2:8080/v1", "http://10.0.0.2:8081/v1"))
    assert seeker.finish() == ""


def test_a_rogue_text_leads_nowhere_else(lan: Lan) -> None:
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    rogue = lan.host("rogue", "10.0.0.66/24")
    evil = {"path": "//evil.example/v1", "model": "\x1b[2J" + "m" * 200, "priority": "-5", "url": "http://evil.example"}
    advertise(rogue, "Big\u202e box", "10.0.0.66", txt=evil)
    [server] = seeker.wait_for(at("10.0.0.66"))["servers"]
    assert server["name"] == "Big? box"
    assert server["model"] == "?[2J" + "m" * 124
    assert server["properties"].keys() == {"path", "model", "service", "host"}
    assert seeker.finish() == ""


def test_a_rogue_that_points_outside_or_to_this_very_machine_is_not_believed(lan: Lan) -> None:
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    advertiser = advertise(lan.host("rogue", "10.0.0.66/24"), "outside", "203.0.113.9", "127.0.0.1")
    order(advertiser, do="advertise", label="honest", addresses=["10.0.0.66"])
    seeker.wait_for(at("10.0.0.66"))


def test_records_that_are_none_and_floods_of_them_change_nothing(lan: Lan) -> None:
    seeker = seek(lan.host("box", "10.0.0.1/24"))
    rogue = lan.host("rogue", "10.0.0.66/24")
    advertiser = advertise(rogue, "honest", "10.0.0.66")
    seeker.wait_for(at("10.0.0.66"))
    aliases = ["evil.example.", "_openai._tcp.local.", ".", "a._llm._tcp.local.", "\x00._openai._tcp.local."]
    aliases += [f"{number}._openai._tcp.local." for number in range(300)]
    for alias in aliases:
        order(advertiser, do="send", packet=base64.b64encode(pointer(alias)).decode())
    order(advertiser, do="send", packet=base64.b64encode(b"\xff" * 600).decode())
    order(advertiser, do="change", label="honest", addresses=["10.0.0.66"], port=8082)
    seeker.wait_for(known("http://10.0.0.66:8082/v1"))
    assert seeker.finish() == ""


def pointer(alias: str) -> bytes:
    out = DNSOutgoing(0x8400)
    out.add_answer_at_time(DNSPointer("_openai._tcp.local.", 12, 1, 4500, alias), 0)
    [packet] = out.packets()
    return packet


def test_a_name_that_ends_with_local_is_asked_of_the_lan(lan: Lan) -> None:
    gpu = lan.host("gpu", "10.0.0.2/24")
    box = lan.host("box", "10.0.0.1/24")
    seeker = seek(box, places=["http://gpu.local:11434"])
    seeker.wait_for(known("http://gpu.local:11434/v1"))
    advertise(gpu, "anything", "10.0.0.2", host="gpu", type="_http._tcp")
    seeker.tell(do="refresh")
    seeker.wait_for(known("http://10.0.0.2:11434/v1"), TIMEOUT)


def test_a_program_that_has_the_port_to_itself_is_said_once_and_outlived(lan: Lan) -> None:
    box = lan.host("box", "10.0.0.1/24")
    holder = box.start(
        sys.executable,
        "-c",
        "import socket; s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); "
        "s.bind(('::', 5353)); print('{}', flush=True); input()",
    )
    holder.wait_for(lambda said: True)
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    seeker = seek(box, places=["http://gpu.lan:8080"], retry=0.3)
    seeker.wait_for(known("http://gpu.lan:8080/v1"))
    seeker.say_nothing(1.5)
    holder.kill()
    seeker.wait_for(known("http://gpu.lan:8080/v1", "http://10.0.0.2:8080/v1"))
    seeker.finish()
    [warning] = [line for line in seeker.errors().splitlines() if line.startswith("WARNING")]
    assert warning.endswith(
        "servers that are advertised on this network cannot be found now: another program has the port of mDNS, 5353, "
        "to itself. If that is Avahi: set disallow-other-stacks=no in /etc/avahi/avahi-daemon.conf"
    )


def test_no_port_is_open_but_that_of_mdns(lan: Lan) -> None:
    box = lan.host("box", "10.0.0.1/24")
    advertise(lan.host("gpu", "10.0.0.2/24"), "gpu", "10.0.0.2")
    seek(box).wait_for(at("10.0.0.2"))
    ports: set[tuple[str, int]] = set()
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in box.start("cat", f"/proc/net/{kind}").output().splitlines()[1:]:
            ports.add((kind[:3], int(line.split()[1].rpartition(":")[2], 16)))
    assert ports == {("udp", 5353)}
