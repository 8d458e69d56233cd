"""Sound cards for the tests of this folder."""

from collections.abc import Callable, Collection
from typing import Any

import pyaudio
import pytest

from tests.sound_server import SoundServer, sound_server

__all__ = ["sound_server"]

Refuse = Callable[[Collection[int], Collection[int]], None]


@pytest.fixture
def cards(sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """PortAudio finds the cards of the sound server, and no other."""
    for name, value in sound_server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def refuse(cards: None, monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Make the cards refuse rates and numbers of channels, as PortAudio says it; what they take stays real."""

    def refuse(rates: Collection[int], channels: Collection[int]) -> None:
        real_open = pyaudio.PyAudio.open

        def fussy_open(self: pyaudio.PyAudio, rate: int, count: int, *args: Any, **kwargs: Any) -> pyaudio.Stream:
            if rate in rates:
                raise OSError(pyaudio.paInvalidSampleRate, "Invalid sample rate")
            if count in channels:
                raise OSError(pyaudio.paInvalidChannelCount, "Invalid number of channels")
            return real_open(self, rate, count, *args, **kwargs)

        monkeypatch.setattr(pyaudio.PyAudio, "open", fussy_open)

    return refuse
