"""What tests of several parts share: the real models, and the real recordings."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The data directory with all default models under models/."""
    data = os.environ.get("APPLIANCE_DATA")
    return Path(data) if data else Path.home() / ".local/share/appliance"


@pytest.fixture(scope="session")
def vosk_ko_dir(models_dir: Path) -> Path:
    """The folder of the Korean Vosk model."""
    return models_dir / "models/stt/vosk-ko"


@pytest.fixture(scope="session")
def speech() -> Path:
    """The folder of real recordings, which lies beside the checkout where it is there at all."""
    folder = Path(__file__).parents[2] / "shared/speech"
    if not folder.is_dir():
        pytest.skip(f"the real recordings are not here: {folder}")
    return folder
