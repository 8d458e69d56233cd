"""A sound server of one's own, with two sound cards that work at full speed, without hardware.

What a card plays is what its own microphone hears. A program that is to find the cards, and no others, has to be given
the server's `environment`.
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

from appliance.errors import ApplianceError

CARDS = ("kitchen", "kitchen_window")
"""The names of the cards. The default is the first."""

SOCKET = "native"
"""Where a server listens, in its folder."""

STEP = 5
"""Milliseconds that a card plays at once; without a listener in a hurry it would be up to 2 s."""

STARTED = 50_000
"""Bytes that a card has to record before it is used: a quarter of a second."""

STARTING = 20.0
"""Seconds that the server may take to start."""


@dataclass(frozen=True)
class SoundServer:
    """A server that runs: what a program needs to find it, and its process."""

    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]


def missing() -> str:
    """What is not installed of what it needs, for people; "" if nothing."""
    programs = [program for program in ("pulseaudio", "parec") if shutil.which(program) is None]
    return f"{' and '.join(programs)} not installed" if programs else ""


@contextmanager
def running_sound_server(folder: Path | None = None) -> Iterator[SoundServer]:
    """A server, from here to the end of the block. ApplianceError: it cannot be had.

    `folder`: where its files lie, with a short name. One that is started where another has ended takes its place.
    """
    lacking = missing()
    if lacking:
        raise ApplianceError(
            "sound server", lacking, remedy="Install the packages pulseaudio, pulseaudio-utils and libasound2-plugins"
        )
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sound-")))  # a socket lies in it
        path = folder / SOCKET
        environment = {"HOME": str(folder), "PULSE_RUNTIME_PATH": str(folder), "PATH": "/usr/bin:/bin"}
        sinks = [f"--load=module-null-sink sink_name={card} rate=48000" for card in CARDS]
        protocol = f"--load=module-native-protocol-unix socket={path} auth-anonymous=1"
        options = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"]
        server = stack.enter_context(_process(["pulseaudio", *options, *sinks, protocol], environment))
        _wait_for(path, server)
        given = environment_in(folder)
        environment["PULSE_SERVER"] = given["PULSE_SERVER"]
        for card in CARDS:
            listen = ["parec", f"--device={card}.monitor", f"--latency-msec={STEP}", "--raw"]
            stack.enter_context(_process(listen, environment))
            # It is in the middle of a long step, and hears the listener when that is over.
            with _process(listen, environment, subprocess.PIPE) as first:
                assert first.stdout is not None  # noqa: S101  for the type checker
                first.stdout.read(STARTED)
        yield SoundServer(given, server)


def environment_in(folder: Path) -> dict[str, str]:
    """The environment that a program needs for the server in `folder`, which need not run yet."""
    server = f"unix:{folder / SOCKET}"
    configuration = folder / "alsa.conf"
    configuration.write_text(_alsa_configuration(server))
    return {"ALSA_CONFIG_PATH": str(configuration), "PULSE_SERVER": server}


@contextmanager
def _process(
    command: list[str], environment: Mapping[str, str], output: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(  # noqa: S603  ours
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
        except OSError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise ApplianceError(
                    "sound server", f"pulseaudio does not start ({error.strerror})", remedy="See `pulseaudio -n -v`"
                ) from error
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
