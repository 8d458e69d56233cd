"""A sound server of the test's own: two sound cards that work at full speed, without hardware.

Import the fixture `sound_server` into the conftest of a folder that needs it, and give its `environment` to a program
that is started, or to `monkeypatch.setenv` before PortAudio is used.
"""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

CARDS = ("kitchen", "kitchen_window")
"""The names of the cards. What a card plays is what its own microphone hears. The default is the first."""

STARTED = 50_000
"""Bytes that a card has to record before it is used: a quarter of a second."""

STARTING = 20.0
"""Seconds that the server may take to start."""


@dataclass(frozen=True)
class SoundServer:
    """A server that runs: what a program needs to find it, and its process."""

    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]


@contextmanager
def running_sound_server() -> Iterator[SoundServer]:
    """A server, from here to the end of the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sound-")))  # short: a socket lies in it
        path = folder / "native"
        environment = {"HOME": str(folder), "PULSE_RUNTIME_PATH": str(folder), "PATH": "/usr/bin:/bin"}
        sinks = [f"--load=module-null-sink sink_name={card} rate=48000" for card in CARDS]
        protocol = f"--load=module-native-protocol-unix socket={path} auth-anonymous=1"
        options = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"]
        server = stack.enter_context(_process(["pulseaudio", *options, *sinks, protocol], environment))
        _wait_for(path, server)
        environment["PULSE_SERVER"] = f"unix:{path}"
        for card in CARDS:
            # A sink without a listener in a hurry works in steps of up to 2 s, and is in the middle of one.
            listen = ["parec", f"--device={card}.monitor", "--latency-msec=20", "--raw"]
            stack.enter_context(_process(listen, environment))
            with _process(listen, environment, subprocess.PIPE) as first:
                assert first.stdout is not None
                first.stdout.read(STARTED)
        configuration = folder / "alsa.conf"
        configuration.write_text(_alsa_configuration(environment["PULSE_SERVER"]))
        yield SoundServer({"ALSA_CONFIG_PATH": str(configuration), "PULSE_SERVER": environment["PULSE_SERVER"]}, server)


@pytest.fixture(scope="session")
def sound_server() -> Iterator[SoundServer]:
    """The server that tests share."""
    if shutil.which("pulseaudio") is None or shutil.which("parec") is None:
        pytest.skip("needs the packages pulseaudio, pulseaudio-utils and libasound2-plugins")
    with running_sound_server() as server:
        yield server


@contextmanager
def _process(
    command: list[str], environment: Mapping[str, str], output: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_for(path: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTING
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _alsa_configuration(server: str) -> str:
    """The whole of ALSA's configuration: no other card is seen, whatever the machine has.

    PortAudio 19.6 aborts the program when every card that is named can be opened; hence one that cannot.
    """

    def card(name: str, device: str) -> str:
        return (
            f"pcm.{name} {{ type asym\n"
            f'playback.pcm {{ type pulse server "{server}" device {device} }}\n'
            f'capture.pcm {{ type pulse server "{server}" device {device}.monitor }} }}\n'
        )

    cards = "".join(card(name, name) for name in CARDS)
    return cards + card("!default", CARDS[0]) + "pcm.unplugged { type hw card 99 }\n"
