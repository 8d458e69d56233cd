"""A Raspberry Pi as far as its files tell."""

import logging
from pathlib import Path

import pytest

from appliance.panel import button


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The /dev of a Raspberry Pi; its model is in a file called model."""
    monkeypatch.setattr(button, "DEVICES", tmp_path)
    monkeypatch.setattr(button, "MODEL", tmp_path / "model")
    (tmp_path / "gpiochip0").touch()
    (tmp_path / "model").write_text("Raspberry Pi 5 Model B Rev 1.0\0")
    return tmp_path


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged that is not just information."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
