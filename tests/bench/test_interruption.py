"""The bench of interruption before it measures."""

from pathlib import Path

import pytest

from appliance.bench.interruption import measure
from appliance.config.schema import Settings
from appliance.errors import ApplianceError, BadInputError


def test_without_a_sound_server_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ApplianceError, match=r"pulseaudio and parec not installed\. Install the packages pulseaudio, "):
        measure(Settings(), tmp_path)


def test_one_card_is_not_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPLIANCE_BENCH_PLAYS", "Loopback")
    with pytest.raises(BadInputError, match="has one of APPLIANCE_BENCH_PLAYS and APPLIANCE_BENCH_HEARS"):
        measure(Settings(), tmp_path)
