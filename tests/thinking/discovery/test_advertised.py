"""What is read from an advertisement, and that nothing in it leads to another host, whatever it says."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.thinking.discovery.advertised import advertised_servers, base_path, read_hints, readable
from appliance.thinking.server import Server, Source


def advertised(
    txt: dict[bytes, bytes | None], label: str = "Big box", service: str = "_openai._tcp", priority: int = 0
) -> Server:
    [server] = advertised_servers(service, label, "big.local.", 8080, ["10.0.0.5"], txt, priority, 3)
    return server


def test_without_hints_it_is_at_v1_whatever_its_type() -> None:
    assert advertised({}) == Server(
        name="Big box",
        url="http://10.0.0.5:8080/v1",
        source=Source.MDNS,
        priority=0,
        weight=3,
        model="",
        properties={"service": "_openai._tcp", "host": "big.local"},
    )
    assert advertised({}, service="_ollama._tcp").url == "http://10.0.0.5:8080/v1"


def test_another_type_is_part_of_the_name_since_the_label_may_be_that_of_another_server() -> None:
    assert advertised({}, service="_ollama._tcp").name == "Big box (ollama)"


def test_hints_of_either_name_and_any_case() -> None:
    server = advertised(
        {
            b"API_Path": b"/llm/v1",
            b"models": b"qwen3:8b, gemma3",
            b"api": b"openai",
            b"auth": b"bearer",
            b"priority": b"20",
            b"status": b"ready",
            b"colour": b"red",
            b"flag": None,
        }
    )
    assert (server.url, server.model, server.priority) == ("http://10.0.0.5:8080/llm/v1", "qwen3:8b", 20)
    assert server.properties == {
        "path": "/llm/v1",
        "model": "qwen3:8b, gemma3",
        "api": "openai",
        "auth": "bearer",
        "priority": "20",
        "status": "ready",
        "service": "_openai._tcp",
        "host": "big.local",
    }


def test_the_first_name_of_a_hint_counts() -> None:
    assert read_hints({b"api_path": b"/b", b"path": b"/a"}) == {"path": "/a"}


@pytest.mark.parametrize("priority", [b"-1", b"1e9", b"65536", b"", b"high", "१".encode()])
def test_a_priority_that_is_none_leaves_that_of_the_srv_record(priority: bytes) -> None:
    server = advertised({b"priority": priority}, priority=7)
    assert server.priority == 7
    assert "priority" not in server.properties


def test_several_addresses_are_one_machine() -> None:
    servers = advertised_servers("_openai._tcp", "box", "b.local.", 80, ["10.0.0.5", "fe80::1%3"], {})
    assert [(server.name, server.url) for server in servers] == [
        ("box", "http://10.0.0.5:80/v1"),
        ("box", "http://[fe80::1%3]:80/v1"),
    ]


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("/v1", "/v1"),
        ("v1", "/v1"),
        ("/v1/", "/v1"),
        ("/openai/v1", "/openai/v1"),
        ("/v1/chat/completions", "/v1"),
        ("/v1/models", "/v1"),
        ("/models", "/v1"),
        ("/api", "/api"),
        ("/", "/v1"),
        ("", "/v1"),
    ],
)
def test_the_base_that_is_meant(path: str, base: str) -> None:
    assert base_path(path) == base


@pytest.mark.parametrize(
    "path",
    [
        *("//evil.example/v1", "/\\evil.example/v1", "@evil.example/v1", ":80@evil.example/", ".evil.example/v1"),
        *("http://evil.example/v1", "/../admin", "/v1/../../admin", "/v1/..", "/./v1", "/v1//x", "/%2e%2e/admin"),
        *("/v1?key=1", "/v1#x", "/v1;x", "/v1 HTTP/1.1\r\nHost: evil.example", "/v1\n", "/v1\0", "/\u2025/x", "/é"),
        "/" + "a" * 1000 + "/../b",
    ],
)
def test_a_path_that_could_mean_something_else_is_not_followed(path: str) -> None:
    server = advertised({b"path": path.encode()})
    parts = urlsplit(server.url)
    assert parts.netloc == "10.0.0.5:8080"
    assert ".." not in server.url
    assert base_path(path) == "/v1"


values = st.binary(max_size=300) | st.text("/.@:\\?#%a\r\n ", max_size=40).map(str.encode)
keys = st.sampled_from([b"path", b"api_path", b"model", b"models", b"priority", b"status", b"PATH"]) | st.binary(
    max_size=20
)


@given(txt=st.dictionaries(keys, st.none() | values, max_size=12), label=st.text(max_size=300))
def test_whatever_a_record_says_the_server_is_the_one_it_came_with_and_all_is_short_and_printable(
    txt: dict[bytes, bytes | None], label: str
) -> None:
    server = advertised(txt, label)
    assert server.url.startswith("http://10.0.0.5:8080/")
    assert urlsplit(server.url).netloc == "10.0.0.5:8080"
    assert not set(urlsplit(server.url).path) & set("@:\\?#% ")
    assert "//" not in urlsplit(server.url).path
    assert ".." not in server.url
    assert 0 <= server.priority <= 0xFFFF
    assert server.properties.keys() <= {"path", "model", "api", "auth", "priority", "status", "service", "host"}
    for text in [server.name, server.url, server.model, *server.properties.values()]:
        assert text.isprintable()
        assert len(text) <= 256


def test_what_a_terminal_would_obey_is_taken_out() -> None:
    assert readable("\x1b[2Jbox\u202egpj.exe\n") == "?[2Jbox?gpj.exe?"
