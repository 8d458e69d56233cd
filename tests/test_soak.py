"""Two thousand replies in a row, each interrupted, on the appliance's own path of sound, faster than real time.

Only the models are replaced: the wake word is a single loud sample, voice is a level, and each reply is a constant
level of its own, so that every sample that sounds says which reply it belongs to.
"""

import asyncio
import gc
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.lane import FADE
from appliance.config.schema import Interruption, Listening, Microphone, Settings, Speaker
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.devices import Devices
from appliance.engines import Engines
from appliance.hearing.stt import Recognition, Transcript
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.hearing.wake import Detection, WakeWords
from appliance.simulation.clock import VirtualLoop
from appliance.simulation.room import RoomButton, RoomMicrophone, RoomSpeaker
from appliance.simulation.script import BLOCK
from appliance.supervisor import Supervisor

INTERRUPTIONS = 2000
SETTLED = 500
"""Interruptions after which nothing may grow any more."""
GROWTH = 4.0
"""Megabytes within which the memory of a process varies by itself."""
FADING = round(FADE * HEARING_RATE)
WAKE, VOICE = 0.95, 0.5


class Wake(WakeWords):
    """Hears its word in one loud sample."""

    def __init__(self) -> None:
        """Without a model."""
        self.scores = {}

    def feed(self, samples: Samples, threshold: float = 0.0) -> list[Detection]:
        loud = np.flatnonzero(samples == np.float32(WAKE))
        return [Detection("alexa", 1.0, int(offset) + 1) for offset in loud]

    def reset(self) -> None:
        """There is nothing to forget."""


class Activity(VoiceActivity):
    """Takes a level for voice."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.float32)

    def feed(self, samples: Samples) -> list[float]:
        heard = np.concatenate([self._rest, samples])
        whole = len(heard) // WINDOW * WINDOW
        self._rest = heard[whole:]
        return [float(window.max() == np.float32(VOICE)) for window in heard[:whole].reshape(-1, WINDOW)]

    def reset(self) -> None:
        self._rest = np.zeros(0, np.float32)


class Understanding:
    """A recogniser that always hears the same."""

    name = "understanding"
    language = "en"

    def begin(self) -> Recognition:
        return self

    def feed(self, samples: Samples) -> str | None:
        return None

    def guess(self) -> Transcript | None:
        return None

    def finish(self) -> Transcript:
        return Transcript("what can you do")


class Levels:
    """A voice that says each clause as a level of its own, in pieces and for long enough to be interrupted."""

    name = "levels"
    language = "en"
    rate = HEARING_RATE

    def __init__(self) -> None:
        self.said = 0

    def synthesise(self, clause: str) -> Iterator[Samples]:
        self.said += 1
        for _ in range(8):
            yield np.full(HEARING_RATE // 2, self.level, np.float32)

    @property
    def level(self) -> float:
        """The level of the newest clause: no two within a hundred are alike."""
        return 0.2 + 0.005 * (self.said % 100)


class Observer:
    """Knows the phase, and counts what is reported."""

    def __init__(self) -> None:
        self.now = Phase.IDLE
        self.count: dict[str, int] = {}

    def report(self, report: Report) -> None:
        self.count[report.kind] = self.count.get(report.kind, 0) + 1

    def phase(self, phase: Phase, at: float) -> None:
        self.now = phase


class Soak:
    """The appliance, in a room that the test moves block by block."""

    def __init__(self) -> None:
        self.microphone, self.speaker, self.button = RoomMicrophone(), RoomSpeaker(), RoomButton()
        self.voice, self.observer = Levels(), Observer()
        self.ready = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.blocks = 0
        devices = Devices(
            self.microphone, self.speaker, self.button, lambda: self.at, lambda: datetime(2026, 11, 30, tzinfo=UTC)
        )
        engines = Engines(Wake(), Activity(), Understanding(), self.voice)
        settings = Settings(
            microphone=Microphone(automatic_gain=False, echo="hardware"),
            speaker=Speaker(volume=10, follow=False),
            listening=Listening(pause=0.35),
            interruption=Interruption(minimum_speech=0.2),
        )
        self.supervisor = Supervisor(settings, engines, devices, [self.observer])
        self.began = self.loop.time()

    @property
    def at(self) -> float:
        """Seconds on the clock of the room."""
        return self.blocks * BLOCK / HEARING_RATE

    async def block(self, level: float = 0.0, wake: bool = False) -> Samples:
        """10 ms in which the microphone hears `level`; what the speaker plays in the next."""
        heard = np.full(BLOCK, level, np.float32)
        if wake:
            heard[-1] = WAKE
        frame = Frame(heard, self.at)
        self.blocks += 1
        self.microphone.hear(frame)
        played = self.speaker.play(self.at)
        await asyncio.sleep(self.began + self.at - self.loop.time())
        return played

    async def until_a_reply_sounds(self) -> None:
        """Ask, if the appliance listens, and wait for the answer."""
        for number in range(1000):
            if (await self.block(VOICE if number < 40 and self.observer.now is Phase.LISTENING else 0.0)).any():
                return
        raise AssertionError(f"no reply came while {self.observer.now}, after {self.observer.count}")

    def tap(self) -> None:
        """Press the button, and let it go."""
        self.button.press(self.at)
        self.button.let_go(self.at)

    async def interrupt(self, how: str) -> None:
        """Interrupt the reply that sounds: nothing but a fade of it may be heard after that."""
        level = np.float32(self.voice.level)
        if how == "button":
            self.tap()
            played = await self.block()
        elif how == "word":
            played = await self.block(wake=True)
        elif how == "both":
            self.tap()
            played = await self.block(wake=True)
        else:
            played = await self.silenced_by_speech()
        assert (played[:FADING] < level).all()
        assert not played[FADING:].any()
        for _ in range(40):
            played = await self.block(VOICE if how == "speech" else 0.0)
            assert not (played == level).any()

    async def silenced_by_speech(self) -> Samples:
        """Speak until the reply pauses; the block in which it does."""
        for _ in range(100):
            played = await self.block(VOICE)
            if not played[FADING:].any():
                return played
        raise AssertionError("speech does not pause the reply")


def memory() -> float:
    """Megabytes that this process has in memory."""
    gc.collect()
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def threads_of_its_own() -> int:
    """Without those of the event loop's executor, which begins one more when the few that it has are busy."""
    return sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate())


async def scene() -> None:
    chance = random.Random(3)  # noqa: S311  no secret
    soak = Soak()
    running = asyncio.create_task(soak.supervisor.run(soak.ready.set))
    await soak.ready.wait()
    soak.tap()
    await soak.block()
    settled: tuple[int, int, float] | None = None
    for number in range(1, INTERRUPTIONS + 1):
        await soak.until_a_reply_sounds()
        for _ in range(chance.randrange(10)):
            await soak.block()
        await soak.interrupt(chance.choice(["button", "word", "both", "speech"]))
        if number == SETTLED:
            settled = len(asyncio.all_tasks()), threads_of_its_own(), memory()
    assert settled is not None
    tasks, threads, megabytes = settled
    await soak.until_a_reply_sounds()
    assert abs(len(asyncio.all_tasks()) - tasks) <= 2, "of the reply under way"
    assert threads_of_its_own() == threads
    assert memory() - megabytes < GROWTH
    assert soak.observer.count["interrupted"] == INTERRUPTIONS
    assert soak.observer.count["reply_end"] == INTERRUPTIONS
    assert soak.voice.said == INTERRUPTIONS + 1
    soak.supervisor.stop()
    await running


def test_no_sample_of_an_interrupted_reply_is_heard_and_nothing_grows() -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())
