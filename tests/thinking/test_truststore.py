"""The file of trusted servers: whole or unchanged whatever happens, and never more trusting than it was."""

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.thinking import truststore
from appliance.thinking.server import Server, Source
from appliance.thinking.trust import Verdict, decode, encode, find, key_properties, verdict
from appliance.thinking.truststore import NAME, TrustStore
from tests.thinking.lan import a_server, a_store

DEN = a_server("den", Source.MDNS, host="den.local")
ATTIC = a_server("attic", Source.MDNS, host="attic.local")


def trusted(store: TrustStore, *servers: Server) -> list[str]:
    return [server.name for server in servers if verdict(server, store.known()).trusted]


def test_the_first_one_is_remembered_from_then_on(tmp_path: Path) -> None:
    store = a_store(tmp_path / "not yet there")
    assert store.known() is None
    assert not store.has_met(DEN)
    store.meet(DEN)
    assert store.has_met(DEN)
    store.meet(ATTIC)
    for one in (store, a_store(tmp_path / "not yet there")):
        assert trusted(one, DEN, ATTIC) == ["den"]
    known = store.known()
    assert known is not None
    assert (known[0].by, known[0].since) == ("first found", "2026-03-01")


def test_what_another_process_changes_is_noticed(tmp_path: Path) -> None:
    daemon, command = a_store(tmp_path), a_store(tmp_path)
    daemon.meet(DEN)
    command.trust("attic", key_properties(ATTIC))
    assert trusted(daemon, DEN, ATTIC) == ["den", "attic"]
    assert command.forget("DEN")
    assert trusted(daemon, DEN, ATTIC) == ["attic"]
    assert command.forget("attic")
    assert not command.forget("attic")
    assert trusted(daemon, DEN, ATTIC) == []
    assert verdict(DEN, daemon.known()) is Verdict.STRANGER


def test_an_unchanged_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = a_store(tmp_path)
    store.meet(DEN)
    store.known()
    monkeypatch.setattr(Path, "read_bytes", None)
    assert trusted(store, DEN) == ["den"]


def test_trusting_another_of_the_name_replaces_the_one_before(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    store.meet(DEN)
    other = a_server("Den", Source.MDNS, host="other.local")
    store.trust(other.name, key_properties(other))
    assert not trusted(store, DEN)
    assert trusted(store, other) == ["Den"]


def test_one_that_is_trusted_by_its_name_is_met_later(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    store.trust("den", None)
    assert trusted(store, DEN) == ["den"]
    assert not store.has_met(DEN)
    store.meet(DEN)
    assert store.has_met(DEN)
    assert not trusted(store, a_server("den", Source.MDNS, host="rogue.local"))


@pytest.mark.parametrize("content", [b"", b"\0" * 512, b'{"servers": [{"name": "den"', b'{"servers": 7}', b"\xff"])
def test_a_damaged_file_is_set_aside_and_trusts_nobody(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / NAME).write_bytes(content)
    store = a_store(tmp_path)
    assert [verdict(server, store.known()) for server in (DEN, ATTIC)] == [Verdict.STRANGER] * 2
    store.meet(DEN)
    assert not trusted(store, DEN)
    (record,) = caplog.records
    assert f"{tmp_path / NAME} is damaged" in record.getMessage()
    assert "appliance llm trust NAME" in record.getMessage()
    assert (tmp_path / NAME).with_suffix(".damaged").read_bytes() == content
    again = a_store(tmp_path)
    assert again.known() == (), "not even after a restart is anybody the first one"
    again.trust("attic", key_properties(ATTIC))
    assert trusted(store, DEN, ATTIC) == ["attic"]
    assert len(caplog.records) == 1


def test_a_file_that_is_damaged_while_it_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = a_store(tmp_path)
    store.meet(DEN)
    (tmp_path / NAME).write_bytes(b"{")
    store.trust("attic", None)
    assert trusted(store, DEN, ATTIC) == ["attic"]
    assert "is damaged" in caplog.text


def test_a_damaged_file_that_cannot_be_set_aside_trusts_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / NAME).write_bytes(b"{")
    monkeypatch.setattr(os, "fsync", full)
    store = a_store(tmp_path)
    assert verdict(DEN, store.known()) is Verdict.STRANGER
    assert store.known() == ()
    assert len(caplog.records) == 1
    assert "left where it is (No space left on device)" in caplog.text
    assert (tmp_path / NAME).read_bytes() == b"{"


def test_a_file_that_cannot_be_read_trusts_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).mkdir()
    store = a_store(tmp_path)
    assert [store.known() for _ in range(3)] == [()] * 3
    assert len(caplog.records) == 1
    assert "cannot be read (Is a directory)" in caplog.text
    store.meet(DEN)
    assert not trusted(store, DEN)


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_where_nothing_can_be_written_the_first_one_stays_the_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    store = a_store(tmp_path)
    store.meet(DEN)
    assert store.has_met(DEN)
    assert store.has_met(ATTIC)
    assert trusted(store, DEN, ATTIC) == ["den"]
    assert "cannot be written (No space left on device)" in caplog.text
    with pytest.raises(ApplianceError, match="No space left on device") as caught:
        store.trust("attic", None)
    assert "Make room" in str(caught.value)
    assert not (tmp_path / NAME).exists()


def test_another_users_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: int) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    store = a_store(tmp_path)
    store.meet(DEN)
    monkeypatch.setattr(os, "fsync", forbidden)
    with pytest.raises(ApplianceError, match="Use sudo"):
        store.forget("den")
    assert trusted(store, DEN) == ["den"]


def test_what_a_power_cut_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / f".{NAME}.new").write_bytes(b"half of")
    store = a_store(tmp_path)
    store.meet(DEN)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_power_cut_at_any_step_leaves_the_old_or_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call that changes the disk is the last one once."""

    class PowerCut(BaseException):
        pass

    old = encode(decode(b'{"servers": [{"name": "den", "by": "owner", "since": "2026-01-01"}]}'))
    steps = 0

    def counted(name: str, module: object) -> None:
        real = getattr(module, name)

        def step(*arguments: object, **keywords: object) -> object:
            nonlocal steps
            steps -= 1
            if steps == 0:
                raise PowerCut
            return real(*arguments, **keywords)

        monkeypatch.setattr(module, name, step)

    for name in ("unlink", "open", "replace"):
        counted(name, Path)
    counted("fsync", os)
    outcomes = []
    for last in range(1, 8):
        steps = 0
        (tmp_path / NAME).write_bytes(old)
        store = a_store(tmp_path)
        store.known()
        steps = last
        try:
            store.trust("attic", None)
            outcomes.append("done")
        except PowerCut:
            outcomes.append("cut")
        steps = 0
        known = a_store(tmp_path).known()
        assert find("den", known) is not None
        assert known is not None
        assert [each.name for each in known] in (["den"], ["den", "attic"])
    assert outcomes[0] == "cut"
    assert outcomes[-1] == "done"


def test_changes_at_once_do_not_overwrite_each_other(tmp_path: Path) -> None:
    names = [f"server {number}" for number in range(12)]
    ready = threading.Barrier(4)

    def work(share: list[str]) -> None:
        store = a_store(tmp_path)
        ready.wait()
        for name in share:
            store.trust(name, None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [names[start::4] for start in range(4)]))
    known = a_store(tmp_path).known()
    assert known is not None
    assert sorted(each.name for each in known) == sorted(names)


def test_only_one_of_two_at_once_is_the_first(tmp_path: Path) -> None:
    stores = [a_store(tmp_path) for _ in range(8)]
    servers = [a_server(f"server {number}", Source.MDNS) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: pair[0].meet(pair[1]), zip(stores, servers, strict=True)))
    assert {tuple(trusted(store, *servers)) for store in stores} == {tuple(trusted(stores[0], *servers))}
    assert len(trusted(stores[0], *servers)) == 1


def test_the_file_is_in_the_data_directory(tmp_path: Path) -> None:
    assert a_store(tmp_path).path == tmp_path / truststore.NAME
