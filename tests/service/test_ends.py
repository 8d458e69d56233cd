"""How the process before this one has ended."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.service import ends
from appliance.service.ends import NAME, End, Ends

NOW = 1_800_000_000.0


def last(directory: Path) -> End | None:
    with Ends(directory, lambda: NOW) as noted:
        return noted.last


def test_there_was_none(tmp_path: Path) -> None:
    assert last(tmp_path) is None


def test_it_was_stopped(tmp_path: Path) -> None:
    last(tmp_path)
    assert last(tmp_path) == End("stopped", "", NOW)


@pytest.mark.parametrize(
    ("error", "why"),
    [(ApplianceError("card", "is broken"), "card: is broken."), (KeyError("a"), "KeyError('a')")],
)
def test_it_has_failed(tmp_path: Path, error: Exception, why: str) -> None:
    with pytest.raises(type(error)), Ends(tmp_path, lambda: NOW):
        raise error
    assert last(tmp_path) == End("failed", why, NOW)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_a_stop(tmp_path: Path, interruption: type[BaseException]) -> None:
    with pytest.raises(interruption), Ends(tmp_path, lambda: NOW):
        raise interruption
    assert last(tmp_path) == End("stopped", "", NOW)


KILLED = """
import os, signal, sys
from pathlib import Path
from appliance.service.ends import Ends
with Ends(Path(sys.argv[1]), lambda: 7.0) as ends:
    {}
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(directory: Path, before: str = "") -> None:
    subprocess.run([sys.executable, "-c", KILLED.format(before), str(directory)], check=False)


def test_it_has_crashed(tmp_path: Path) -> None:
    killed(tmp_path)
    assert last(tmp_path) == End("crashed", "", 7.0)


def test_the_power_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(tmp_path)
    (tmp_path / "boot_id").write_text("another boot\n")
    monkeypatch.setattr(ends, "BOOT", tmp_path / "boot_id")
    assert last(tmp_path) == End("power cut", "", 7.0)


def test_the_watchdog_has_ended_it(tmp_path: Path) -> None:
    killed(tmp_path, "ends.starving('no sound')")
    assert last(tmp_path) == End("watchdog", "no sound", 7.0)


def test_what_has_healed_is_no_end(tmp_path: Path) -> None:
    killed(tmp_path, "ends.starving('no sound'); ends.starving('')")
    assert last(tmp_path) == End("crashed", "", 7.0)


@pytest.mark.parametrize("content", [b"", b"{", b'{"boot": 1}', b"\xff"])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert last(tmp_path) is None
    assert "cannot be read" in caplog.text
    assert last(tmp_path) == End("stopped", "", NOW)


def test_a_directory_that_cannot_be_written_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).mkdir()
    with caplog.at_level(logging.WARNING):
        assert last(tmp_path) is None
    assert "cannot be written" in caplog.text
