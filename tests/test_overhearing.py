"""What is said while the appliance speaks, with a recogniser that takes its time: sound and engines by script."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.config.schema import Settings
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.devices import Devices
from appliance.engines import Engines
from appliance.hearing.stt import Transcript
from appliance.simulation.room import RoomMicrophone, RoomSpeaker
from appliance.supervisor import Supervisor
from tests.hearing.scripted import BASE, ScriptedVoice, ScriptedWake, Stretch, frames


class Slow:
    """A recogniser that hears `texts`, one after the other, each as soon as it may."""

    name = "slow"
    language = "en"

    def __init__(self, *texts: str) -> None:
        self._texts = iter(texts)
        self.may = threading.Event()
        self.may.set()
        self.seconds: list[float] = []
        """How much it got of each utterance."""

    def begin(self) -> "Slow":
        self.seconds.append(0.0)
        return self

    def feed(self, samples: Samples) -> str | None:
        self.seconds[-1] += len(samples) / HEARING_RATE
        return None

    def guess(self) -> Transcript | None:
        return None

    def finish(self) -> Transcript:
        assert self.may.wait(60)
        return Transcript(next(self._texts))


class Humming:
    """A voice with a long breath."""

    name = "humming"
    language = "en"
    rate = HEARING_RATE

    def synthesise(self, clause: str) -> Iterator[Samples]:
        yield np.full(10 * HEARING_RATE, 0.1, np.float32)


class Evening:
    """An appliance, what it reports, and a clock that moves with the sound that it hears."""

    def __init__(self, recogniser: Slow, *voice: Stretch) -> None:
        self.now = BASE
        self.phases: list[Phase] = []
        self.reports: list[Report] = []
        self._changed = asyncio.Event()
        self._speaker, self._microphone = RoomSpeaker(), RoomMicrophone()
        devices = Devices(self._microphone, self._speaker, None, lambda: self.now, lambda: datetime.now(UTC))
        engines = Engines(ScriptedWake(), ScriptedVoice(voice), recogniser, Humming())
        self.supervisor = Supervisor(Settings(), engines, devices, [self])
        self._heard = 0

    def report(self, report: Report) -> None:
        self.reports.append(report)
        self._changed.set()

    def phase(self, phase: Phase, at: float) -> None:
        self.phases.append(phase)
        self._changed.set()

    def hear(self, until: float) -> None:
        """The room's sound up to `until`, in which the reply sounds."""
        for frame in frames(until - BASE, first=self._heard):
            self._heard += len(frame.samples)
            self.now = frame.at + len(frame.samples) / HEARING_RATE
            self._microphone.hear(Frame(frame.samples, frame.at))
            self._speaker.play(self.now)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def heard(self, kind: str, until: float) -> None:
        """The room's sound up to `until`, with which something is reported."""
        before = len(self.kinds(kind))
        self.hear(until)
        await self.until(lambda: len(self.kinds(kind)) > before)

    async def asked(self) -> None:
        """A question was asked with the button, which also said when that was over, and is being answered."""
        self.supervisor.press(self.now)
        await self.until(lambda: self.phases[-1] is Phase.LISTENING)
        self.hear(52.0)
        self.supervisor.press(self.now)
        await self.until(lambda: self.phases[-1] is Phase.SPEAKING)

    def kinds(self, kind: str) -> list[Report]:
        return [report for report in self.reports if report.kind == kind]


def play(recogniser: Slow, *voice: Stretch) -> Evening:
    """An evening with a question, and what else is said by `voice`, the recogniser being slow with all but that."""

    async def scene() -> Evening:
        evening = Evening(recogniser, (50.5, 52.2), *voice)
        ready = asyncio.Event()
        running = asyncio.create_task(evening.supervisor.run(ready.set))
        await ready.wait()
        await evening.asked()
        recogniser.may.clear()
        for begin, end in voice:
            await evening.heard("speech_start", begin + 0.3)
            await evening.heard("speech_end", end + 0.6)
        recogniser.may.set()
        await evening.until(lambda: evening.phases[-1] is Phase.IDLE)
        evening.supervisor.stop()
        await running
        return evening

    return asyncio.run(scene())


def test_stop_is_heard_though_it_is_not_known_yet_what_was_said_before() -> None:
    recogniser = Slow("what can you do", "okay", "stop")
    evening = play(recogniser, (53.0, 53.6), (54.4, 55.0))
    assert [report.data["text"] for report in evening.kinds("heard")] == ["what can you do", "okay", "stop"]
    assert [report.data for report in evening.kinds("interrupted")] == [{"by": "stop"}]


def test_who_was_done_by_the_button_is_heard_whole_when_speaking_again() -> None:
    recogniser = Slow("what can you do", "stop")
    play(recogniser, (53.0, 54.5))
    assert recogniser.seconds[1] > 1.5
