"""A sound server of the tests' own.

Import the fixture `sound_server` into the conftest of a folder that needs it, and give its `environment` to a program
that is started, or to `monkeypatch.setenv` before PortAudio is used.
"""

from collections.abc import Iterator

import pytest

from appliance.bench.soundserver import CARDS, SoundServer, missing, running_sound_server

__all__ = ["CARDS", "SoundServer", "running_sound_server", "sound_server"]


@pytest.fixture(scope="session")
def sound_server() -> Iterator[SoundServer]:
    """The server that tests share."""
    if missing():
        pytest.skip(missing())
    with running_sound_server() as server:
        yield server
