"""The bench of the language model, with a few rounds of each, and its servers."""

from pathlib import Path

import pytest

from appliance.bench import llm
from appliance.bench.llmserver import real_weights, serving
from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.models.directory import models_in


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOUNDS", "CLAUSES", "RETURNS"):
        monkeypatch.setattr(llm, name, 2)
    monkeypatch.setattr(llm, "AWAY", 0.5)


NAMES = [
    *("first clause to sound, p50", "first clause to sound, p95"),
    *("first clause of the server, p50", "first clause by our way, p50", "our way over the server's"),
    *("back to used, p50", "back to used, slowest"),
]


def test_what_it_measures(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "real_weights", lambda _: None)
    result = llm.measure(Settings(), models_in(models_dir))
    assert [figure.name for figure in result.figures] == NAMES
    values = {figure.name: figure.value for figure in result.figures}
    assert values["first clause of the server, p50"] >= 50
    assert 0 < values["back to used, p50"] < 5
    assert 0 < values["first clause to sound, p50"] < 30_000


def test_a_real_server_is_measured_where_there_is_one(models_dir: Path) -> None:
    if real_weights(models_in(models_dir)) is None:
        pytest.skip("the extra local-llm and its model are not installed")
    names = [figure.name for figure in llm.measure(Settings(), models_in(models_dir)).figures]
    assert names == [*NAMES, *(f"real server: {name}" for name in NAMES[2:5])]


def test_without_weights_there_is_no_real_server(tmp_path: Path) -> None:
    assert real_weights(tmp_path) is None


def test_a_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match="does not start"), serving(tmp_path / "none.gguf"):
        pass
