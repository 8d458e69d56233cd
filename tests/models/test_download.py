"""Downloads over a real connection, with all that goes wrong on one."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.models.download import download
from tests.models.server import Server, serving

CONTENT = hashlib.shake_128(b"a model").digest(700_001)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(CONTENT) as server:
        yield server


class Watch:
    """Takes the place of the progress bar and of the pauses."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.pauses: list[float] = []

    def fetch(self, server: Server, part: Path) -> None:
        download(server.url, part, len(CONTENT), SHA256, self.done.append, self.pauses.append)


def test_all_at_once(server: Server, tmp_path: Path) -> None:
    watch = Watch()
    watch.fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert server.asked == [None]
    assert watch.done == sorted(watch.done)
    assert watch.done[-1] == len(CONTENT)
    assert not watch.pauses


def test_goes_on_when_the_connection_breaks(server: Server, tmp_path: Path) -> None:
    server.breaks_after = [100_000, 200_000, 0]
    watch = Watch()
    watch.fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-", "bytes=300000-", "bytes=300000-"]
    assert watch.pauses == [2.0]


def test_goes_on_in_a_later_call(server: Server, tmp_path: Path) -> None:
    server.breaks_after = [123_456, 0, 0, 0, 0]
    with pytest.raises(ApplianceError, match=r"the connection ended early.*goes on from here \(123,456 bytes\)"):
        Watch().fetch(server, tmp_path / "part")
    server.asked.clear()
    Watch().fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert server.asked == ["bytes=123456-"]


def test_a_complete_part_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(CONTENT)
    Watch().fetch(server, tmp_path / "part")
    assert not server.asked


def test_a_server_that_does_not_know_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    server.knows_ranges = False
    server.breaks_after = [300_000]
    watch = Watch()
    watch.fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-"]
    assert watch.done[-1] == len(CONTENT)


@pytest.mark.parametrize("left", [b"something else", CONTENT + b"!", b"?" * len(CONTENT)])
def test_what_was_left_of_something_else_is_thrown_away(server: Server, tmp_path: Path, left: bytes) -> None:
    (tmp_path / "part").write_bytes(left)
    Watch().fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT


@pytest.mark.parametrize("content", [bytes(len(CONTENT)), CONTENT + b"more"], ids=["other", "longer"])
def test_wrong_bytes_are_refused(server: Server, tmp_path: Path, content: bytes) -> None:
    server.content = content
    with pytest.raises(ApplianceError, match=r"is not the file of 700,001 bytes with the sha256"):
        Watch().fetch(server, tmp_path / "part")
    assert not list(tmp_path.iterdir())


def test_a_file_that_became_shorter_is_given_up(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:500_000]
    (tmp_path / "part").write_bytes(CONTENT[:600_000])
    with pytest.raises(ApplianceError, match="the connection ended early"):
        Watch().fetch(server, tmp_path / "part")
    assert server.asked[0] == "bytes=600000-"


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429, 500]
    watch = Watch()
    watch.fetch(server, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert watch.pauses == [2.0, 4.0, 8.0]


def test_what_is_not_there_any_more_is_said_at_once(server: Server, tmp_path: Path) -> None:
    server.statuses = [404]
    watch = Watch()
    with pytest.raises(ApplianceError, match=r"model\.zip: the server answers 404 Not Found"):
        watch.fetch(server, tmp_path / "part")
    assert not watch.pauses


def test_no_network(server: Server, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(ApplianceError, match=r"model\.zip: cannot be fetched: .*refused\. Check the network"):
        Watch().fetch(server, tmp_path / "part")
