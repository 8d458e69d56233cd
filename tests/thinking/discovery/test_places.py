"""What an owner may write to name a server."""

import pytest

from appliance.errors import BadInputError
from appliance.thinking.discovery.places import Place, ServiceName, local_servers, parse_place


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://gpu.lan:8080/v1", "http://gpu.lan:8080/v1"),
        ("http://gpu.lan:8080", "http://gpu.lan:8080/v1"),
        ("http://gpu.lan:8080/", "http://gpu.lan:8080/v1"),
        ("https://llm.example.com/openai/v1/", "https://llm.example.com:443/openai/v1"),
        ("HTTP://GPU.lan/v1", "http://gpu.lan:80/v1"),
        ("gpu:11434", "http://gpu:11434/v1"),
        ("gpu.local:11434", "http://gpu.local:11434/v1"),
        ("192.168.1.5:8080", "http://192.168.1.5:8080/v1"),
        ("[fe80::1%eth0]:8080", "http://[fe80::1%eth0]:8080/v1"),
        ("http://[fd00::5]:8080/v1", "http://[fd00::5]:8080/v1"),
    ],
)
def test_urls_and_names(text: str, url: str) -> None:
    place = parse_place(text)
    assert isinstance(place, Place)
    assert place.at(place.host) == url
    assert place.text == text


@pytest.mark.parametrize("text", ["_openai._tcp.lan", "_LLM._tcp.Example.com.", "_my-llm._tcp.home.arpa"])
def test_services(text: str) -> None:
    assert parse_place(text) == ServiceName(text.lower().rstrip("."))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu.lan", "the port is missing"),
        ("_openai._tcp", "the port is missing"),
        ("ftp://gpu.lan/", '"ftp" is not a way to talk to a server'),
        ("http://gpu.lan:8080/v1#part", "a key, a user or a question does not belong here"),
        ("http://gpu.lan:70000/v1", "Port out of range 0-65535"),
        ("http://gpu lan:80/v1", "there is no name or address in it"),
        ("http://:8080/v1", "there is no name or address in it"),
        ("", "there is no name or address in it"),
        ("http://-gpu.lan:80", "there is no name or address in it"),
    ],
)
def test_what_names_no_server(text: str, why: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_place(text)
    shown = text.replace("#part", "#...")
    assert str(caught.value) == (
        f'"{shown}": {why}. Allowed: a URL like http://gpu.lan:8080/v1, a name and port like gpu.lan:11434, '
        "or a service like _openai._tcp.lan."
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:secret@gpu.lan:8080/v1", "http://...gpu.lan:8080/v1"),
        ("http://me:secret@gpu.lan:99999/v1", "http://...gpu.lan:99999/v1"),
        ("secret@gpu.lan:8080", "...gpu.lan:8080"),
        ("http://gpu.lan:8080/v1?key=secret", "http://gpu.lan:8080/v1?..."),
    ],
)
def test_a_key_in_a_url_is_refused_and_not_repeated(text: str, shown: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_place(text)
    assert str(caught.value).startswith(f'"{shown}": ')
    assert "secret" not in str(caught.value)


def test_what_may_run_on_this_machine() -> None:
    assert [(server.name, server.url) for server in local_servers()] == [
        ("llama.cpp on this machine", "http://localhost:8080/v1"),
        ("Ollama on this machine", "http://localhost:11434/v1"),
        ("LM Studio on this machine", "http://localhost:1234/v1"),
        ("vLLM on this machine", "http://localhost:8000/v1"),
    ]
