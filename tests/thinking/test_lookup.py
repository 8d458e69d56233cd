"""Names are looked up by the system, and a lookup that hangs holds nobody up."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from appliance.thinking.llm import LlmClient, Timeouts
from appliance.thinking.lookup import SystemLookup
from appliance.thinking.server import Problem, Server, ServerError, Source
from tests.thinking.scripted import Scripted, in_real_time


def at(address: str) -> list[tuple[Any, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]


class NameServer:
    """Stands in for the system's lookup, which answers once it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.result: Callable[[], Any] = lambda: at("192.0.2.7")

    def look_up(self, host: str, *_: object, **__: object) -> Any:
        self.asked.append(host)
        self.answers.wait()
        return self.result()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    names = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", names.look_up)
    yield names
    names.answers.set()


@in_real_time
async def test_who_asks_for_a_name_at_the_same_time_shares_a_lookup(names: NameServer) -> None:
    lookup = SystemLookup()
    asking = [asyncio.create_task(lookup.resolve("gpu.lan", port)) for port in (80, 8080)]
    await asyncio.sleep(0)
    names.answers.set()
    found = [await each for each in asking]
    assert [[(each["host"], each["port"], each["family"]) for each in answer] for answer in found] == [
        [("192.0.2.7", 80, socket.AF_INET)],
        [("192.0.2.7", 8080, socket.AF_INET)],
    ]
    assert names.asked == ["gpu.lan"]
    await lookup.close()


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (UnicodeError("label too long"), "it is no name"),
        (None, "it has no address"),
    ],
)
@in_real_time
async def test_what_leads_nowhere_is_an_error(names: NameServer, fault: Exception | None, detail: str) -> None:
    def fails() -> list[object]:
        if fault:
            raise fault
        return []

    names.result = fails
    names.answers.set()
    lookup = SystemLookup()
    with pytest.raises(OSError, match=detail):
        await lookup.resolve("gpu.lan")
    await lookup.close()


@in_real_time
async def test_a_lookup_that_hangs_is_left_to_itself(names: NameServer) -> None:
    async with LlmClient(Timeouts(connect=0.05)) as client:
        for number in range(20):  # more than an executor has threads
            server = Server("slow", f"http://slow{number % 10}.lan/v1", Source.CONFIGURED)
            with pytest.raises(ServerError, match="cannot be reached in time") as caught:
                await client.models(server)
            assert caught.value.problem is Problem.BROKEN
        assert await asyncio.to_thread(lambda: "free") == "free"
    lookups = [thread for thread in threading.enumerate() if thread.name.startswith("lookup of slow")]
    assert len(lookups) == len(names.asked) == 10
    assert all(thread.daemon for thread in lookups)
    names.answers.set()  # which is of use to nobody any more
    for thread in lookups:
        await asyncio.to_thread(thread.join)


def test_a_lookup_that_hangs_does_not_hold_up_the_end(names: NameServer) -> None:
    async def leave() -> None:
        async with LlmClient(Timeouts(connect=0.05)) as client:
            with pytest.raises(ServerError):
                await client.models(Server("slow", "http://slow.lan/v1", Source.CONFIGURED))

    asyncio.run(leave())
    names.answers.set()  # which finds its loop closed
    waited = time.monotonic() + 20
    while any(thread.name == "lookup of slow.lan" for thread in threading.enumerate()):
        assert time.monotonic() < waited
        time.sleep(0.001)


@in_real_time
async def test_another_address_is_followed(names: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.thinking.lookup.GOOD_FOR", 0.0)
    monkeypatch.setattr("appliance.thinking.discovery.resolve.FLOOR", 0.0)
    names.answers.set()
    async with Scripted() as old, LlmClient() as client:
        moving = Server("moving", f"http://gpu.lan:{old.port}/v1", Source.CONFIGURED)
        names.result = lambda: at("127.0.0.1")
        assert await client.models(moving) == ["a model"]
        names.result = lambda: at("127.0.0.2")
        with pytest.raises(ServerError, match=r"'127\.0\.0\.2'"):
            await client.models(moving)


@in_real_time
async def test_localhost_is_known() -> None:
    lookup = SystemLookup()
    assert "127.0.0.1" in [each["host"] for each in await lookup.resolve("localhost", 80)]
    await lookup.close()
