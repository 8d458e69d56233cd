import os
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.service.single import only_one


def test_a_second_one_is_refused_and_told_which_process_is_the_first(tmp_path: Path) -> None:
    refused = pytest.raises(ApplianceError, match=f"as process {os.getpid()}")
    with only_one(tmp_path / "data"), refused, only_one(tmp_path / "data"):
        pytest.fail("two appliances at once")
    with only_one(tmp_path / "data"):
        """The place is free again."""


def test_what_a_crash_left_behind_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_text("4711 and a much longer line than a process id\n")
    with only_one(tmp_path):
        assert (tmp_path / "run.lock").read_text() == f"{os.getpid()}\n"


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(ApplianceError, match="APPLIANCE_DATA") as caught, only_one(tmp_path / "data"):
        pytest.fail("no folder, no lock")
    assert str(tmp_path / "data") in str(caught.value)
