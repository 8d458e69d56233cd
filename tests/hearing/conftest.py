"""The loaded engines, and the recordings that they are tried on."""

from collections.abc import Callable
from pathlib import Path

import pytest
import soundfile as sf

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.hearing.moonshine import Moonshine
from appliance.hearing.vosk import Vosk

Recordings = Callable[[str], Samples]


@pytest.fixture(scope="session")
def moonshine(models_dir: Path) -> Moonshine:
    return Moonshine(models_dir / "models/stt/moonshine-tiny-en")


@pytest.fixture(scope="session")
def vosk_ko(vosk_ko_dir: Path) -> Vosk:
    return Vosk(vosk_ko_dir, "ko")


@pytest.fixture(scope="session")
def recording(speech: Path) -> Recordings:
    """Reads a recording by its path below the folder of recordings."""

    def read(name: str) -> Samples:
        samples: Samples
        samples, rate = sf.read(speech / name, dtype="float32")
        assert rate == HEARING_RATE
        return samples

    return read
