from pathlib import Path

import pytest

from appliance.bench.start import SILENCE, probe
from appliance.config.schema import Settings
from appliance.errors import ApplianceError


def test_a_process_of_its_own_becomes_ready_and_says_what_it_holds(models_dir: Path) -> None:
    _, silent = probe(Settings(), models_dir / "models", SILENCE)
    files = sum(path.stat().st_size for path in (models_dir / "models/voice").iterdir())
    assert silent["VmHWM"] >= silent["VmRSS"] > files, "the voice alone takes as much as its file"


def test_a_measurement_that_fails_is_no_figure(models_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    never = f"{SILENCE}\n[[expect]]\nintent = 'time'"
    with pytest.raises(ApplianceError, match="did not come through"):
        probe(Settings(), models_dir / "models", never)
    assert "expectation 1 of 1" in capfd.readouterr().err
