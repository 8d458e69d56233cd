"""Servers are asked by source and priority, and among equals as often first as their weights say (RFC 2782)."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.discovery.order import draw_order
from appliance.thinking.server import Server, Source


def server(name: str, weight: int = 0, priority: int = 0, source: Source = Source.DNS, url: str = "") -> Server:
    return Server(name, url or f"http://{name}:8080/v1", source, priority, weight)


servers = st.builds(
    server,
    name=st.sampled_from("abcdef"),
    weight=st.integers(0, 3) | st.integers(0, 65535),
    priority=st.integers(0, 2),
    source=st.sampled_from(Source),
    url=st.integers(0, 1000).map(str),
)


@given(known=st.lists(servers, max_size=12), seed=st.integers())
def test_all_are_there_once_by_source_and_priority_and_machines_stay_together(known: list[Server], seed: int) -> None:
    order = draw_order(known, Random(seed))  # noqa: S311
    assert Counter(server.url for server in order) == Counter(server.url for server in known)
    ranks = [(server.source, server.priority) for server in order]
    assert ranks == sorted(ranks)
    for rank in set(ranks):
        equals = [server for server in order if (server.source, server.priority) == rank]
        names = [server.name for server in equals]
        assert [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name] == list(dict.fromkeys(names))
        for name in names:
            assert [server for server in equals if server.name == name] == [
                server for server in known if server.name == name and (server.source, server.priority) == rank
            ]


def share_of_firsts(known: list[Server], draws: int = 4000) -> dict[str, float]:
    random = Random(7)  # noqa: S311
    firsts = Counter(draw_order(known, random)[0].name for _ in range(draws))
    return {server.name: firsts[server.name] / draws for server in known}


def test_our_own_service_comes_before_others_whatever_their_priority() -> None:
    ours, theirs = server("b", priority=9, source=Source.MDNS), server("a", weight=9, source=Source.MDNS)
    assert share_of_firsts([replace(theirs, kind=1), ours], 100)["b"] == 1.0


def test_weights_are_shares() -> None:
    shares = share_of_firsts([server("a", 60), server("b", 30), server("c", 10)])
    assert shares == pytest.approx({"a": 0.6, "b": 0.3, "c": 0.1}, abs=0.03)


def test_the_second_is_drawn_by_weight_too() -> None:
    random = Random(7)  # noqa: S311
    known = [server("a", 1), server("b", 30), server("c", 10)]
    seconds = Counter(order[1].name for _ in range(4000) if (order := draw_order(known, random))[0].name == "a")
    assert seconds["b"] > 2 * seconds["c"] > 0


def test_without_weights_each_is_as_often_first() -> None:
    assert share_of_firsts([server(name) for name in "abcd"]) == pytest.approx(dict.fromkeys("abcd", 0.25), abs=0.03)


def test_one_without_a_weight_among_others_has_a_small_chance() -> None:
    shares = share_of_firsts([server("none"), server("some", 20)])
    assert 0.0 < shares["none"] < 0.1


def test_several_addresses_of_one_machine_give_it_no_more_chances() -> None:
    many = [server("many", 10, url=f"http://10.0.0.{i}/v1") for i in range(3)]
    assert share_of_firsts([*many, server("one", 10)])["many"] == pytest.approx(0.5, abs=0.03)
