"""`appliance llm`, as somebody types it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.cli import main
from appliance.service.control import Controls, ControlServer
from appliance.service.listing import listed
from appliance.service.request import ListedServer
from appliance.thinking.choosing import Sight
from appliance.thinking.server import Server, Source
from appliance.thinking.standing import State
from appliance.thinking.trust import Verdict, key_properties, verdict
from appliance.thinking.truststore import NAME, TrustStore
from tests.thinking.lan import NOW, a_server, a_store

CONFIGURED = a_server("gpu.lan:8080")
DEN = a_server("den", Source.MDNS, host="den.local")
ATTIC = a_server("Ollama in the attic", Source.MDNS, host="attic.local")
ROGUE = Server("den", "http://10.6.6.6:80/v1", Source.MDNS, properties={"host": "rogue.local"})


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return a_store(tmp_path)


@contextmanager
def running(store: TrustStore, *servers: Server, state: State = State.READY, why: str = "") -> Iterator[None]:
    """An appliance that knows these servers."""

    def tell() -> tuple[ListedServer, ...]:
        return listed([Sight(server, verdict(server, store.known()), state, why, 2.6) for server in servers])

    with ControlServer(store.path.parent, Controls(lambda: None, tell)):
        yield


def trusted(store: TrustStore, *servers: Server) -> list[Server]:
    return [server for server in servers if verdict(server, store.known()).trusted]


def typed(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    """What it prints; errors in one line."""
    assert main(["llm", *words]) == status
    said = capsys.readouterr()
    if status:
        assert not said.out
        assert len(said.err.splitlines()) == 1
        return said.err
    assert not said.err
    return said.out


def test_list_shows_what_is_found_and_what_is_known(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    store.trust("cellar", None)
    with running(store, ATTIC, ROGUE, DEN, CONFIGURED, state=State.BENCHED, why="no answer within 0.5 s"):
        *lines, last = [line.split() for line in typed(capsys, "list").splitlines()]
    benched = ["benched,", "next", "try", "in", "3", "s:", "no", "answer", "within", "0.5", "s"]
    assert lines == [
        ["NAME", "FROM", "ADDRESS", "TRUSTED", "STATE"],
        ["gpu.lan:8080", "configured", CONFIGURED.url, "as", "configured", *benched],
        ["den", "mdns", DEN.url, "first", "found,", "2026-03-01", *benched],
        ["Ollama", "in", "the", "attic", "mdns", *ATTIC.url.split(), "no", *benched],
        ["den", "mdns", ROGUE.url, "no", *benched],
        ["cellar", "owner,", "2026-03-01", "not", "there"],
    ]
    assert last[-4:] == ["appliance", "llm", "trust", "NAME"]


def test_list_shows_that_the_one_that_is_trusted_is_gone(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    with running(store, ROGUE):
        _, there, gone, _ = [line.split() for line in typed(capsys, "list").splitlines()]
    assert there[:4] == ["den", "mdns", ROGUE.url, "no"]
    assert gone == ["den", "first", "found,", "2026-03-01", "not", "there"]


def test_list_without_a_running_appliance_says_so(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No appliance is running here that could tell what it finds, and it remembers nothing." in typed(
        capsys, "list"
    )
    store.meet(DEN)
    said = typed(capsys, "list")
    assert "No appliance is running here" in said
    assert said.splitlines()[-1].split() == ["den", "first", "found,", "2026-03-01"]


def test_list_where_there_is_nothing(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    with running(store):
        assert typed(capsys, "list").startswith("No server is known.")


def test_list_for_programs(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    with running(store, DEN):
        found = json.loads(typed(capsys, "list", "--json"))
    assert (found["file"], found["running"]) == (str(store.path), True)
    (server,) = found["servers"]
    assert server == {
        "name": "den",
        "url": DEN.url,
        "source": "mdns",
        "trusted": True,
        "state": "ready",
        "next_try": 2.6,
        "properties": key_properties(DEN),
    }
    assert [each["name"] for each in found["remembered"]] == ["den"]
    found = json.loads(typed(capsys, "list", "--json"))
    assert (found["running"], found["servers"]) == (False, [])


def test_what_is_advertised_does_not_reach_the_terminal(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    with running(store, a_server("den\x1b[2J\n\u202e", Source.MDNS), why="\x9b31m"):
        for words in (["list"], ["list", "--json"]):
            assert not {"\x1b", "\x9b", "\u202e"} & set(typed(capsys, *words))


def test_trust_remembers_what_is_found(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    with running(store, DEN, ATTIC):
        said = typed(capsys, "trust", "ollama", "in", "the", "attic")
        assert said == f"Ollama in the attic ({ATTIC.url}) is trusted from now on.\n"
        assert trusted(store, DEN, ATTIC) == [DEN, ATTIC]
        assert "already" in typed(capsys, "trust", "Ollama in the attic")
    assert not trusted(store, a_server(ATTIC.name, Source.MDNS, host="rogue.local"))


def test_trust_of_what_is_configured_changes_nothing(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    with running(store, CONFIGURED):
        assert "trusted already" in typed(capsys, "trust", CONFIGURED.name)
    assert store.known() is None


def test_trust_of_an_unknown_name(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    with running(store, DEN, ATTIC):
        error = typed(capsys, "trust", "dem", status=2)
    assert 'appliance llm trust: there is no server "dem"; did you mean "den"?' in error
    assert 'Allowed: "den" or "Ollama in the attic".' in error
    assert "See: appliance llm list." in error
    assert store.known() is None


def test_trust_takes_an_address_where_a_name_is_that_of_two(
    store: TrustStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store.meet(DEN)
    with running(store, DEN, ROGUE):
        error = typed(capsys, "trust", "den", status=2)
        assert f"Allowed: {DEN.url} or {ROGUE.url}. Name the address." in error
        assert trusted(store, DEN, ROGUE) == [DEN]
        assert "trusted already" in typed(capsys, "trust", DEN.url)
        assert f"({ROGUE.url}) is trusted from now on" in typed(capsys, "trust", ROGUE.url)
        assert trusted(store, DEN, ROGUE) == [ROGUE]


def test_trust_of_one_that_has_changed(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    with running(store, ROGUE):
        assert "from now on" in typed(capsys, "trust", "den")
    assert trusted(store, DEN, ROGUE) == [ROGUE]


def test_trust_without_a_running_appliance_is_by_name(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    said = typed(capsys, "trust", "den")
    assert "den is trusted from now on. No appliance is running here" in said
    assert trusted(store, DEN, ROGUE, ATTIC) == [DEN, ROGUE]
    store.meet(DEN)
    assert "already" in typed(capsys, "trust", "Den")
    assert trusted(store, DEN, ROGUE, ATTIC) == [DEN]
    with running(store):
        assert "den is trusted already, and not there." in typed(capsys, "trust", "den")


@pytest.mark.parametrize("name", ["", " ", "a\tb", "x" * 129, " den"])
def test_what_is_no_name_is_not_trusted(store: TrustStore, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is no name" in typed(capsys, "trust", name, status=2)
    assert store.known() is None


def test_forget(store: TrustStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.meet(DEN)
    error = typed(capsys, "forget", "dem", status=2)
    assert 'appliance llm forget: there is no server "dem"; did you mean "den"? Allowed: "den".' in error
    with running(store, DEN):
        assert typed(capsys, "forget", "DEN").startswith("DEN is forgotten.")
        assert not trusted(store, DEN)
        assert typed(capsys, "list").splitlines()[1].split()[3] == "no"
    assert "Allowed: nothing." in typed(capsys, "forget", "den", status=2)


def test_a_damaged_file_is_told_of(
    store: TrustStore, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    store.path.write_bytes(b"{")
    typed(capsys, "list")
    assert f"{store.path} is damaged" in caplog.text


def test_what_cannot_be_written_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / NAME).mkdir()
    assert "cannot be written" in typed(capsys, "trust", "den", status=1)


def test_an_appliance_that_does_not_answer_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = Controls(lambda: None, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    with ControlServer(tmp_path, broken):
        assert "the appliance refused: it failed" in typed(capsys, "list", status=1)


def test_what_may_be_asked_is_told_of_first_and_not_everything() -> None:
    strangers = [Sight(a_server(f"{n}", Source.MDNS), Verdict.STRANGER, State.UNTRIED, "", None) for n in range(1000)]
    told = listed([*strangers, Sight(CONFIGURED, Verdict.CONFIGURED, State.READY, "", None)])
    assert len(told) == 100
    assert told[0].name == CONFIGURED.name


def test_it_imports_nothing_that_would_keep_one_waiting(tmp_path: Path) -> None:
    heavy = {"numpy", "aiohttp", "zeroconf", "dns", "hassil", "asyncio"}
    code = (
        "import sys; from appliance.cli import main; main(['llm', 'trust', 'den']); main(['llm', 'list']); "
        f"print(sorted({heavy} & sys.modules.keys()))"
    )
    environment = {**os.environ, "APPLIANCE_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert NOW.date().isoformat() not in done.stdout
