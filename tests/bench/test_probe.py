from pathlib import Path

import pytest

from appliance.bench import memory
from appliance.bench.start import SILENCE, probe
from appliance.config.schema import Settings
from appliance.errors import ApplianceError


def test_a_process_of_its_own_becomes_ready_and_answers(models_dir: Path) -> None:
    models = models_dir / "models"
    ready, silent = probe(Settings(), models, SILENCE)
    assert ready > 0
    resident = next(f for f in memory.measure(Settings(), models).figures if f.name == "resident")
    assert resident.value * 1e6 > silent["VmRSS"] / 2 > 1e7


def test_a_measurement_that_fails_is_no_figure(models_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    never = f"{SILENCE}\n[[expect]]\nintent = 'time'"
    with pytest.raises(ApplianceError, match="did not come through"):
        probe(Settings(), models_dir / "models", never)
    assert "expectation 1 of 1" in capfd.readouterr().err
