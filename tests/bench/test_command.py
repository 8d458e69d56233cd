import argparse
import importlib
import json
from pathlib import Path

import pytest

from appliance.bench.command import BENCHES, add_parser
from appliance.bench.figures import Figure, Result
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, BadInputError


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    common = argparse.ArgumentParser(add_help=False)
    add_parser(parser.add_subparsers(), common, lambda _: (Settings(), Path()))
    options = parser.parse_args(["bench", *arguments])
    return int(options.handler(options))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The benches that were run; the one of interruption has no sound server."""
    measured: list[str] = []

    def stand_in(name: str, *_: object) -> Result:
        measured.append(name)
        if name == "interruption":
            raise ApplianceError("sound server", "not installed")
        return Result(name, "by ear", (Figure("p50", 1, "s"),))

    for name in BENCHES:
        module = importlib.import_module(f"appliance.bench.{name}")
        monkeypatch.setattr(module, "measure", lambda *_, name=name, **__: stand_in(name))
    return measured


def test_one_that_cannot_be_made_does_not_hold_up_the_others(
    measured: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--json") == 1
    shown = capsys.readouterr()
    assert measured == list(BENCHES)
    assert [each["bench"] for each in json.loads(shown.out)] == [name for name in BENCHES if name != "interruption"]
    assert shown.err == "sound server: not installed.\n"


def test_one_by_its_name(measured: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("idle") == 0
    assert measured == ["idle"]
    assert capsys.readouterr().out.startswith("idle: by ear\n")


def test_a_name_that_is_none_is_answered_with_the_one_that_was_meant(measured: list[str]) -> None:
    with pytest.raises(BadInputError, match=r"interuption.*interruption"):
        bench("interuption")
    assert not measured
