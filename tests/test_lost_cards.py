"""The whole appliance while its sound cards come and go, on a real sound server that dies and is started again."""

import asyncio
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio import healing
from appliance.audio.cards import PortAudio
from appliance.audio.kept import KeptCard, Use
from appliance.audio.lane import Lane
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.bench.soundserver import SoundServer, environment_in, missing, running_sound_server
from appliance.errors import ApplianceError
from appliance.sound import Sound
from appliance.speaking.piper import load_voice
from tests.audio.conftest import cards
from tests.test_on_a_card import APPLIANCE, GONE, HEARS, LONGEST, SPEAKS, is_idle, loud, recorded, recording, wait_until

__all__ = ["cards"]

QUESTION, ANSWER = "Alexa, what can you do?", "speaker: You can ask me"

MICROPHONE, SPEAKER = f'microphone "{HEARS}": ', f'speaker "{SPEAKS}": '
LOST, BACK = ".* It is tried again", "it works again"

CYCLES = 3

LOSSES, STAIRS, STAIR = 20, 100, 0.1
"""How often a card is lost during a reply, the levels of that, and the seconds that each lasts."""


class Server:
    """A sound server that can be killed, and started again in the same place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.environment = environment_in(folder)
        self._server: SoundServer | None = None

    def start(self) -> None:
        self._server = self._stack.enter_context(running_sound_server(self._folder))

    def kill(self) -> None:
        if self._server is not None:
            self._server.process.kill()
            self._server = None
            self._stack.close()


class Running:
    """`appliance run`, and what it prints."""

    def __init__(self, environment: Mapping[str, str], config: Path) -> None:
        self.process = subprocess.Popen(
            [APPLIANCE, "run", "--config", config], env=environment, stdout=subprocess.PIPE, text=True
        )
        self.lines = queue.SimpleQueue[str]()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def end(self) -> None:
        """Killed, if it has not ended."""
        self.process.kill()
        self.process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.lines.put(line)

    def line_with(self, *texts: str) -> float:
        """Wait until it has printed lines with all of these texts; when the last was."""
        left = set(texts)
        while left:
            line = self.lines.get(timeout=LONGEST)
            left -= {text for text in left if re.search(text, line)}
        return time.monotonic()

    def held(self) -> tuple[int, int]:
        """Threads, and open files."""
        folder = Path(f"/proc/{self.process.pid}")
        return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))


@pytest.fixture
def server() -> Iterator[Server]:
    if missing():
        pytest.skip(missing())
    with tempfile.TemporaryDirectory(prefix="sound-") as folder:
        server = Server(Path(folder))
        yield server
        server.kill()


@pytest.fixture
def environment(server: Server, copied_models: Path) -> dict[str, str]:
    return {**os.environ, **server.environment}


@pytest.fixture
def running(environment: dict[str, str], tmp_path: Path) -> Iterator[Running]:
    """It has just been started."""
    path = tmp_path / "appliance.toml"
    path.write_text(
        f'[microphone]\ncard = "{HEARS}"\necho = "hardware"\n[speaker]\ncard = "{SPEAKS}"\n[llm]\nenabled = false\n'
    )
    running = Running(environment, path)
    yield running
    running.end()


@pytest.fixture
def ask(environment: dict[str, str], models_dir: Path, tmp_path: Path) -> Callable[[], None]:
    """Somebody asks where the appliance hears."""
    voice = load_voice(models_dir / "models", "en_US-joe-medium")
    path = tmp_path / "question.wav"
    soundfile.write(path, np.concatenate(list(voice.synthesise(QUESTION))), voice.rate)

    def ask() -> None:
        subprocess.run(["paplay", f"--device={HEARS}", path], env=environment, check=True)

    return ask


def test_it_starts_without_cards_and_survives_its_sound_server(
    server: Server, environment: dict[str, str], running: Running, ask: Callable[[], None], tmp_path: Path
) -> None:
    running.line_with("microphone: " + LOST, "speaker: " + LOST, "Ready")
    server.start()
    running.line_with(MICROPHONE + BACK, SPEAKER + BACK)
    with recording(environment, tmp_path / "played"):
        ask()
        running.line_with(ANSWER)
        wait_until(lambda: loud(tmp_path / "played"))
        server.kill()
    running.line_with(MICROPHONE + LOST, SPEAKER + LOST)

    server.start()
    running.line_with(MICROPHONE + BACK, SPEAKER + BACK)
    with recording(environment, tmp_path / "again"):
        ask()
        running.line_with(ANSWER)
        wait_until(lambda: loud(tmp_path / "again"))
        subprocess.run([APPLIANCE, "press"], env=environment, check=True)
        server.kill()
    running.line_with("interrupted")
    running.line_with("nobody spoke")  # though there is nobody to hear that

    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(GONE) == 0


def test_a_card_that_stops_without_a_word_works_again_each_time(
    server: Server, environment: dict[str, str], running: Running, ask: Callable[[], None], tmp_path: Path
) -> None:
    server.start()
    running.line_with("Ready")

    def let_it_play(play: str) -> None:
        subprocess.run(["pactl", "suspend-sink", SPEAKS, "0" if play == "on" else "1"], env=environment, check=True)

    held = []
    for cycle in range(CYCLES):
        let_it_play("off")
        running.line_with(SPEAKER + r"no sound has moved for 2 s\." + LOST)
        let_it_play("on")
        running.line_with(SPEAKER + BACK)
        wait_until(lambda: is_idle(Path(environment["APPLIANCE_DATA"])))  # it may say that sound is back
        with recording(environment, tmp_path / f"{cycle}"):
            ask()
            running.line_with(ANSWER)
            wait_until(partial(loud, tmp_path / f"{cycle}"))
            subprocess.run([APPLIANCE, "press"], env=environment, check=True)
            running.line_with("nobody spoke")
        held.append(running.held())
    assert held[-1] <= held[0], held
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(GONE) == 0


def is_heard(lane: Lane, samples: int) -> bool:
    return lane.spoken(1)[1] >= samples


def is_open_again(card: KeptCard, before: Use) -> bool:
    return card.use not in (None, before)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST):
        while not condition():  # noqa: ASYNC110  what has changed is in other threads
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("cards")
def test_a_reply_goes_on_with_the_real_card_from_where_it_was_heard(
    monkeypatch: pytest.MonkeyPatch, sound_server: SoundServer, tmp_path: Path
) -> None:
    monkeypatch.setattr(healing, "LONGEST_DELAY", healing.FIRST_DELAY)
    environment = {**os.environ, **sound_server.environment}
    stairs = np.arange(1, STAIRS + 1, dtype=np.float32) / (2 * STAIRS)

    def held() -> tuple[int, int, int]:
        threads, files = (len(list(Path("/proc/self", each).iterdir())) for each in ("task", "fd"))
        return threads, files, PortAudio._users

    async def scene() -> None:
        told: list[str] = []
        refused: list[ApplianceError] = []
        speaker, microphone = CardSpeaker(SPEAKS), CardMicrophone(HEARS)
        lane = Lane(speaker.rate, lambda _: None, time.monotonic, drops=True)
        sound = Sound(
            microphone, speaker, lane, lambda _: None, time.monotonic, PortAudio.change, told.append, refused.append
        )
        keeping = asyncio.create_task(sound.keep())
        await sound.tried.wait()
        before = held()
        lane.begin_turn(1)
        lane.open(1)
        lane.put(1, np.repeat(stairs, round(STAIR * speaker.rate)))
        lane.finish(1)
        for loss in range(LOSSES):
            await until(partial(is_heard, lane, lane.spoken(1)[1] + round(STAIR * speaker.rate)))
            card = sound._speaker if loss % 4 else sound._microphone
            use = card.use
            assert use is not None
            use.fail("it was unplugged")
            await until(partial(is_open_again, card, use))
        await until(lambda: not lane.is_open(1))
        await until(
            lambda: all(now <= then for now, then in zip(held(), before, strict=True))
        )  # a thread that was joined is gone a little later
        keeping.cancel()
        await asyncio.wait({keeping})
        await sound.close()
        assert PortAudio._users == 0

    with recording(environment, tmp_path / "played"):
        asyncio.run(scene())
    levels = np.rint(np.abs(recorded(tmp_path / "played")) * 2 * STAIRS)
    assert set(range(1, STAIRS + 1)) <= set(levels.astype(int).tolist())
