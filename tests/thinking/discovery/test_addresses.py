"""Addresses that lead into the house, the likeliest first."""

from ipaddress import ip_interface

import pytest

from appliance.thinking.discovery.addresses import MOST, of_the_house, url_of
from appliance.thinking.discovery.interfaces import Interface


def interface(*addresses: str) -> Interface:
    return Interface(2, "eth0", tuple(ip_interface(address) for address in addresses))


LAN = [
    interface("192.168.1.7/24", "fe80::7/64", "2001:db8:1::7/64"),
    Interface(5, "docker0", (ip_interface("172.17.0.1/16"),)),
]


def test_ipv4_first_and_what_is_of_one_link_last() -> None:
    assert of_the_house(["fe80::9%2", "2001:db8:1::9", "192.168.1.9"], LAN) == [
        "192.168.1.9",
        "2001:db8:1::9",
        "fe80::9%2",
    ]


def test_a_network_that_this_machine_is_in_comes_before_one_behind_a_router() -> None:
    assert of_the_house(["10.1.2.3", "2001:db8:1::9"], LAN) == ["2001:db8:1::9", "10.1.2.3"]


def test_an_address_that_this_machine_has_too_is_the_last_resort() -> None:
    assert of_the_house(["172.17.0.1", "10.1.2.3", "192.168.1.9"], LAN) == ["192.168.1.9", "10.1.2.3", "172.17.0.1"]


def test_among_equals_the_given_order_stays() -> None:
    assert of_the_house(["192.168.1.9", "192.168.1.8"], LAN) == ["192.168.1.9", "192.168.1.8"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "224.0.0.251", "255.255.255.255", "ff02::fb"),  # noqa: S104
        *("203.0.113.5", "8.8.8.8", "2001:db8:2::9", "2606:4700::1", "::ffff:192.168.1.9", "64:ff9b::c0a8:109"),
        *("fe80::9", "FE80::9", "", "box.lan", "192.168.1.9:80", "192.168.1", "0x7f000001", "192.168.1.9/24"),
    ],
)
def test_what_does_not_lead_to_a_machine_of_the_house(address: str) -> None:
    assert of_the_house([address], LAN) == []


def test_a_public_address_counts_where_this_machine_is_its_neighbour() -> None:
    assert of_the_house(["2001:db8:1::9"], LAN) == ["2001:db8:1::9"]
    assert of_the_house(["2001:db8:1::9"], []) == []


def test_private_addresses_count_without_any_interface() -> None:
    given = ["192.168.1.9", "fd00::9", "100.64.0.9"]
    assert of_the_house(given, []) == ["192.168.1.9", "100.64.0.9", "fd00::9"]


def test_there_are_no_more_than_are_worth_a_trial() -> None:
    assert len(of_the_house([f"192.168.1.{i}" for i in range(2, 200)], LAN)) == MOST


def test_urls() -> None:
    assert url_of("10.0.0.1", 8080, "/v1") == "http://10.0.0.1:8080/v1"
    assert url_of("fe80::1%2", 80, "/v1") == "http://[fe80::1%2]:80/v1"
    assert url_of("gpu.lan", 443, "/v1", "https") == "https://gpu.lan:443/v1"
