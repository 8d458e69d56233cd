"""What tests of several parts share: the real models, and the real recordings."""

import sys
from pathlib import Path

import onnxruntime
import pytest
from hypothesis import settings

from appliance.models.directory import data_directory, models_in
from appliance.models.fetch import fetch
from appliance.models.manifest import load_manifest, needed, with_siblings
from appliance.models.report import Report
from tests.sound_server import sound_server

settings.register_profile("appliance", deadline=None)  # a busy machine is no failure
settings.load_profile("appliance")

__all__ = ["models_dir", "sound_server", "speech", "vosk_ko_dir"]


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The data directory, with all default models below models/; fetched the first time, and kept."""
    manifest = load_manifest()
    models = needed(manifest, "en", "moonshine", ["alexa"], "en_US-joe-medium")
    fetch(with_siblings(manifest, models), data_directory(), manifest, Report(sys.stderr))
    return data_directory()


@pytest.fixture(scope="session")
def vosk_ko_dir() -> Path:
    """The folder of the Korean Vosk model; fetched the first time, and kept."""
    manifest = load_manifest()
    fetch([manifest.find("stt/vosk-ko")], data_directory(), manifest, Report(sys.stderr))
    return models_in(data_directory()) / "stt/vosk-ko"


@pytest.fixture
def copied_models(models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with links to the models, which a test may break; the environment names it."""
    for file in (models_dir / "models").rglob("*"):
        copy = tmp_path / "data" / file.relative_to(models_dir)
        if file.is_file() and "vosk" not in str(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(file)
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path / "data"))
    return tmp_path / "data/models"


@pytest.fixture(scope="session")
def speech() -> Path:
    """The folder of real recordings, which lies beside the checkout where it is there at all."""
    folder = Path(__file__).parents[2] / "shared/speech"
    if not folder.is_dir():
        pytest.skip(f"the real recordings are not here: {folder}")
    return folder


@pytest.fixture(scope="session", autouse=True)
def same_voice() -> None:
    """The voice's model draws random numbers; the same ones in each run, so that it says a word alike each time."""
    onnxruntime.set_seed(1)
