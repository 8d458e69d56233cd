"""Who may be asked, whatever anyone on the LAN advertises."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.server import Server, Source
from appliance.thinking.trust import (
    Known,
    Remembered,
    Verdict,
    decode,
    encode,
    explain,
    find,
    key_properties,
    met,
    same_name,
    seniority,
    verdict,
    with_trusted,
    without,
)
from tests.thinking.lan import a_server

TODAY = "2026-03-01"
FOUND = [Source.MDNS, Source.DNS]
KEYS = ["service", "host", "api", "auth"]
HINTS = ["model", "priority", "status", "whatever"]

names = st.sampled_from(["den", "Den", "attic", "Straße", "STRASSE", "ИИ"]) | st.text(min_size=1, max_size=5)
texts = st.sampled_from(["", "a", "b"])
servers = st.builds(
    Server,
    names,
    st.builds("{}://{}:{}{}".format, st.sampled_from(["http", "https"]), st.just("10.0.0.1"), st.just(80), texts),
    st.sampled_from(Source),
    st.integers(0, 2),
    st.integers(0, 2),
    texts,
    st.dictionaries(st.sampled_from(KEYS + HINTS), texts),
)
found = servers.filter(lambda server: server.source in FOUND)
remembered = st.builds(
    Remembered,
    names,
    st.sampled_from(["first found", "owner"]),
    st.just(TODAY),
    st.none() | servers.map(key_properties),
)
knowns: st.SearchStrategy[Known] = st.none() | st.lists(remembered, max_size=4).map(
    lambda entries: decode(encode(entries))
)


@given(servers, knowns)
def test_what_is_configured_is_trusted_and_what_is_found_is_not_by_itself(server: Server, known: Known) -> None:
    configured = server.source in (Source.CONFIGURED, Source.LOCAL)
    assert (verdict(server, known) is Verdict.CONFIGURED) == configured
    if not configured:
        assert verdict(server, ()) is Verdict.STRANGER
        assert verdict(server, None) is Verdict.FIRST


@given(found, st.lists(found, max_size=4))
def test_the_first_one_is_remembered_and_no_other(first: Server, later: list[Server]) -> None:
    known = met(first, None, TODAY)
    assert verdict(first, known) is Verdict.REMEMBERED
    for server in later:
        assert met(server, known, TODAY) == known
        alike = same_name(server.name, first.name) and key_properties(server) == key_properties(first)
        assert verdict(server, known).trusted == alike


@given(servers.filter(lambda server: server.source not in FOUND), knowns)
def test_what_is_configured_is_not_the_first_one_found(server: Server, known: Known) -> None:
    assert met(server, known, TODAY) == known


@given(found, st.sampled_from(["10.0.0.2", "[fe80::1%25eth0]", "den.local"]), st.integers(1, 65535), texts)
def test_its_address_and_its_models_may_change(server: Server, host: str, port: int, value: str) -> None:
    known = met(server, None, TODAY)
    hints = {**server.properties, **dict.fromkeys(HINTS, value)}
    moved = server.url.replace("10.0.0.1:80", f"{host}:{port}")
    later = replace(server, url=moved, model=value, priority=9, weight=9, properties=hints)
    assert verdict(later, known) is Verdict.REMEMBERED


@given(found, st.sampled_from([*KEYS, "scheme", "path", "source"]))
def test_nothing_else_may_change(server: Server, key: str) -> None:
    known = met(server, None, TODAY)
    if key == "scheme":
        other = replace(server, url=server.url.replace("http", "other", 1))
    elif key == "path":
        other = replace(server, url=f"{server.url}/other")
    elif key == "source":
        other = replace(server, source=Source.DNS if server.source is Source.MDNS else Source.MDNS)
    else:
        other = replace(server, properties={**server.properties, key: "other"})
    assert verdict(other, known) is Verdict.CHANGED
    assert f"but {key} " in explain(other, known)


@given(found, knowns)
def test_what_the_owner_trusts_by_name_is_remembered_with_what_it_has(server: Server, known: Known) -> None:
    named = with_trusted(known, Remembered(server.name, "owner", TODAY))
    assert verdict(server, named) is Verdict.REMEMBERED
    after = met(server, named, "2027-01-01")
    assert verdict(server, after) is Verdict.REMEMBERED
    assert verdict(replace(server, url=f"{server.url}/other"), after) is Verdict.CHANGED
    assert find(server.name, after) == Remembered(server.name, "owner", TODAY, key_properties(server))


@given(found, knowns)
def test_what_is_forgotten_is_not_trusted_and_makes_room_for_no_other(server: Server, known: Known) -> None:
    after = without(known, server.name)
    assert verdict(server, after) is Verdict.STRANGER
    assert met(server, after, TODAY) == after


@given(st.lists(remembered, max_size=6), names)
def test_a_name_is_remembered_once(entries: list[Remembered], name: str) -> None:
    known = decode(encode(entries))
    assert len({each.name.casefold() for each in known}) == len(known)
    assert decode(encode(known)) == known
    new = Remembered(name, "owner", TODAY)
    assert with_trusted(known, new) == (*without(known, name), new)
    assert without(known, name) == tuple(each for each in known if not same_name(each.name, name))


@given(st.binary() | st.text().map(str.encode) | st.sampled_from([b"[" * 100_000, b"{}", b'{"servers": [{}]}']))
def test_what_is_no_file_of_ours_is_damaged(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        decode(content)
    assert len(str(caught.value).splitlines()) == 1


def test_the_file_can_be_read_by_people() -> None:
    server = a_server("Ollama in the attic", Source.MDNS, service="_ollama._tcp", host="attic.local")
    known = met(server, None, TODAY)
    assert known is not None
    assert (
        encode(known).decode()
        == """\
{
  "servers": [
    {
      "name": "Ollama in the attic",
      "by": "first found",
      "since": "2026-03-01",
      "properties": {
        "source": "mdns",
        "scheme": "http",
        "path": "/v1",
        "service": "_ollama._tcp",
        "host": "attic.local",
        "api": "",
        "auth": ""
      }
    }
  ]
}
"""
    )
    assert decode(encode(())) == ()


def test_a_later_version_may_know_more_key_properties() -> None:
    server = a_server(source=Source.MDNS)
    known = met(server, None, TODAY)
    assert known is not None
    properties = dict(known[0].properties or {})
    del properties["auth"]
    assert verdict(server, (msgspec.structs.replace(known[0], properties=properties),)) is Verdict.REMEMBERED
    more = {**properties, "fingerprint": "12:34"}
    assert verdict(server, (msgspec.structs.replace(known[0], properties=more),)) is Verdict.CHANGED


def test_why_one_is_not_asked_is_one_line() -> None:
    known = met(a_server(source=Source.MDNS, host="den.local"), None, TODAY)
    rogue = a_server(source=Source.MDNS, host="rogue.local", auth="none")
    assert explain(rogue, known) == (
        'it has the name of a trusted server, but host "rogue.local" instead of "den.local", auth "none" instead of ""'
    )
    assert explain(a_server("attic", Source.MDNS), known) == "it is not trusted"


@given(st.permutations([a_server(name, source, priority) for name in "ab" for source in FOUND for priority in (0, 1)]))
def test_which_is_first_of_several_does_not_depend_on_chance(several: list[Server]) -> None:
    first = min(several, key=seniority)
    assert (first.name, first.source, first.priority) == ("a", Source.MDNS, 0)
