"""The interfaces are those that the kernel has and that are of use, and each change of them is told."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from appliance.thinking.discovery.interfaces import interfaces
from tests.thinking.discovery.network import Lan, ip


def addresses(*wanted: str) -> Callable[[Any], bool]:
    """Of eth0, besides those of its link."""
    return lambda said: (
        [address for address in said["interfaces"].get("eth0", [0])[1:] if not address.startswith("fe80")]
        == list(wanted)
    )


def test_they_come_change_and_go(lan: Lan) -> None:
    box = lan.host("box")
    watcher = box.start_python("tests.thinking.discovery.watcher")
    assert watcher.wait_for(lambda said: True)["interfaces"] == {}
    box.plug_in("10.0.0.1/24")
    watcher.wait_for(addresses("10.0.0.1/24"))
    box.ip("address", "add", "fd00::1/64", "dev", "eth0")
    watcher.wait_for(addresses("10.0.0.1/24", "fd00::1/64"))
    box.move("10.0.0.1/24", "10.0.0.7/25")
    watcher.wait_for(addresses("10.0.0.7/25", "fd00::1/64"))
    lan.pull("box")  # the cable: the addresses stay, and are of no use
    watcher.wait_for(lambda said: said["interfaces"] == {})
    lan.push("box")
    watcher.wait_for(addresses("10.0.0.7/25", "fd00::1/64"))
    box.unplug()
    watcher.wait_for(lambda said: said["interfaces"] == {})


def test_one_that_is_replaced_has_another_number(lan: Lan) -> None:
    box = lan.host("box", "10.0.0.1/24")
    watcher = box.start_python("tests.thinking.discovery.watcher")
    before = watcher.wait_for(addresses("10.0.0.1/24"))["interfaces"]["eth0"]
    lan.replug("box")
    box.plug_in("10.0.0.1/24")
    after = watcher.wait_for(addresses("10.0.0.1/24"))["interfaces"]["eth0"]
    assert after[0] != before[0]


def test_an_ipv6_address_counts_once_nobody_else_turns_out_to_have_it(lan: Lan) -> None:
    box = lan.host("box", cautious=True)
    watcher = box.start_python("tests.thinking.discovery.watcher")
    watcher.wait_for(lambda said: said["interfaces"] == {})
    box.plug_in("fd00::1/64")
    _, *told = watcher.wait_for(addresses("fd00::1/64"))["interfaces"]["eth0"]
    [interface] = json.loads(box.ip("-json", "-6", "address", "show", "dev", "eth0"))
    settled = [each["local"] for each in interface["addr_info"] if not each.get("tentative")]
    assert {address.partition("/")[0] for address in told} <= set(settled)


def test_as_long_as_nothing_changes_it_sleeps(lan: Lan) -> None:
    box = lan.host("box", "10.0.0.1/24")
    watcher = box.start_python("tests.thinking.discovery.watcher")
    before = watcher.wait_for(addresses("10.0.0.1/24"))["wakes"]
    watcher.say_nothing(3.0)
    box.ip("address", "add", "10.0.0.2/24", "dev", "eth0")
    after = watcher.wait_for(addresses("10.0.0.1/24", "10.0.0.2/24"))["wakes"]
    assert after - before <= 4  # for the change, for the rest of it, and to tell


@pytest.mark.skipif(shutil.which("ip") is None, reason="there is no ip here: install iproute2")
def test_they_are_what_ip_shows() -> None:
    shown = {
        interface["ifname"]: sorted(f"{each['local']}/{each['prefixlen']}" for each in interface["addr_info"])
        for interface in json.loads(ip("-json", "address"))
        if {"UP", "MULTICAST", "LOWER_UP"} <= set(interface["flags"]) and interface["addr_info"]
    }
    found = {interface.name: sorted(map(str, interface.addresses)) for interface in interfaces()}
    assert found == shown
