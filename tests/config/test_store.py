"""Which file the settings come from, and what is said when it cannot be used."""

from pathlib import Path

import pytest

from appliance.config import store
from appliance.config.schema import Listening, Settings
from appliance.config.store import load
from appliance.errors import BadInputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "appliance.toml"


def test_a_named_file_is_read(file: Path) -> None:
    file.write_text("[listening]\npause = 1\n")
    assert load(file) == Settings(listening=Listening(pause=1.0))


def test_the_system_file_is_read_when_none_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SYSTEM_FILE", file)
    assert load(None) == Settings()
    file.write_text("language = 'ko'\n")
    assert load(None) == Settings(language="ko")


def test_the_mark_that_some_editors_put_in_front_is_no_part_of_the_text(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbflanguage = 'ko'\r\n")
    assert load(file) == Settings(language="ko")


def test_a_file_that_is_not_there(file: Path) -> None:
    with pytest.raises(BadInputError, match=r"appliance\.toml: there is no such file"):
        load(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"it cannot be read \(it is not a file\)\. Check"):
        load(tmp_path)


def test_a_file_that_is_not_utf_8(file: Path) -> None:
    file.write_bytes("language = 'en'\n# für\n".encode("latin-1"))
    with pytest.raises(BadInputError, match=r"appliance\.toml:2: this is not UTF-8 text"):
        load(file)


def test_what_is_wrong_in_it_is_said_with_the_line(file: Path) -> None:
    file.write_text("[listening]\npaus = 1\n[wake.thresholds]\nalexa = 5\n")
    with pytest.raises(BadInputError) as caught:
        load(file)
    assert str(caught.value) == (
        f'{file}:2: listening.paus = 1: is not known here; allowed: "limit", "patience", "pause" or "preroll"; '
        f'did you mean "pause"?\n{file}:4: wake.thresholds.alexa = 5: is out of range; allowed: a number from 0.05 to '
        "0.99"
    )
