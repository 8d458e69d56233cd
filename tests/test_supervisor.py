"""Starting, stopping, and what the appliance does when something of its own breaks."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance import sound as module
from appliance.audio.devices import HEARING_RATE, Frame, MissingCardError, Samples, Source
from appliance.audio.lane import FADE
from appliance.conductor import Conductor
from appliance.config.schema import Settings
from appliance.core.effects import Report
from appliance.core.events import Event
from appliance.core.turn import Phase
from appliance.devices import Devices
from appliance.engines import Engines, load_engines
from appliance.errors import ApplianceError, BadInputError
from appliance.hearing.stt import Recognition, Transcript
from appliance.simulation.clock import VirtualLoop
from appliance.simulation.room import RoomMicrophone, RoomSpeaker
from appliance.sound import Sound
from appliance.supervisor import Supervisor
from tests.hearing.scripted import ScriptedVoice

FADING = round(FADE * HEARING_RATE)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Microphone(RoomMicrophone):
    """Can be told to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.started = False
        self.stopped = False
        self.on_fault: Callable[[str], None] = lambda _: None

    def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        self.started = True
        self.on_fault = on_fault
        super().start(on_frame, on_fault)

    def stop(self) -> None:
        self.stopped = True
        super().stop()


class BrokenSpeaker(RoomSpeaker):
    """Stops as it is told to."""

    def __init__(self, stop: Callable[[], None]) -> None:
        super().__init__()
        self._stop = stop

    def stop(self) -> None:
        self._stop()


class Watcher:
    """Remembers the phases; breaks when told to."""

    def __init__(self) -> None:
        self.breaks = False
        self.phases: list[Phase] = []
        self.kinds: list[str] = []
        self.on_phase: Callable[[], None] = lambda: None

    def report(self, report: Report) -> None:
        if self.breaks:
            raise OSError(28, "No space left on device")
        self.kinds.append(report.kind)

    def phase(self, phase: Phase, at: float) -> None:
        self.phases.append(phase)
        if phase is Phase.LISTENING:
            self.on_phase()


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


@pytest.fixture(scope="module")
def engines(models_dir: Path) -> Engines:
    return asyncio.run(load_engines(Settings(), models_dir / "models"))


class Running:
    """An appliance on devices that the test moves by hand."""

    def __init__(self, engines: Engines, speaker: RoomSpeaker | None = None) -> None:
        self.microphone = Microphone()
        self.watchers = [Watcher(), Watcher()]
        self.ready = asyncio.Event()
        loop = asyncio.get_running_loop()
        devices = Devices(self.microphone, speaker or RoomSpeaker(), None, loop.time, lambda: NOON)
        self.supervisor = Supervisor(Settings(), engines, devices, self.watchers)
        self.task = asyncio.create_task(self.supervisor.run(self.ready.set))

    async def until(self, *phases: Phase) -> None:
        """Until the conversation went through these phases, and no others, since it was ready."""
        async with asyncio.timeout(100):
            while len(self.watchers[1].phases) <= len(phases):  # noqa: ASYNC110  on a clock that does not wait
                await asyncio.sleep(0.01)
        assert self.watchers[1].phases == [Phase.IDLE, *phases]


def play(scene: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene)


def test_it_is_ready_and_stops(engines: Engines) -> None:
    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        assert running.watchers[0].phases == [Phase.IDLE]
        running.supervisor.stop()
        running.supervisor.stop()
        await running.task
        assert running.microphone.stopped

    play(scene())


def test_stopped_before_it_has_begun_it_never_opens_a_card(engines: Engines) -> None:
    async def scene() -> None:
        microphone = Microphone()
        devices = Devices(microphone, RoomSpeaker(), None, lambda: 0.0, lambda: NOON)
        supervisor = Supervisor(Settings(), engines, devices, [])
        supervisor.stop()
        await asyncio.sleep(0.01)
        await supervisor.run(lambda: pytest.fail("it said that it was ready"))
        assert not microphone.started

    play(scene())


def test_a_card_that_gives_up_is_opened_again_and_the_conversation_goes_on(
    engines: Engines, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        running.watchers[0].breaks = True
        running.microphone.on_fault("it was unplugged")
        while not (running.microphone.stopped and running.microphone.started):  # noqa: ASYNC110  a clock that does not wait
            await asyncio.sleep(0.01)
        running.supervisor.press(0.0)
        await running.until(Phase.LISTENING)
        running.supervisor.stop()
        await running.task
        assert running.watchers[1].kinds[0] == "notice"

    play(scene())
    lost = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert lost == ['microphone "room": it was unplugged. It is tried again until it works.']


class Unplugged(RoomSpeaker):
    """Cannot be opened."""

    def __init__(self, error: ApplianceError) -> None:
        super().__init__()
        self._error = error

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        raise self._error


def test_without_a_speaker_it_is_ready_all_the_same(engines: Engines, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        running = Running(engines, Unplugged(MissingCardError("speaker", "there is none")))
        await running.ready.wait()
        running.supervisor.stop()
        await running.task

    play(scene())
    assert "speaker: there is none. It is tried again until it works." in caplog.text


class Late(RoomSpeaker):
    """Is there after a while, and then plays something at once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._there_at = clock() + 20

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        if self._clock() < self._there_at:
            raise MissingCardError("speaker", "there is none")
        super().start(source, on_frame, on_fault)
        on_frame(Frame(np.zeros(160, np.float32), 0.0))


def test_it_says_that_sound_is_back_after_a_while(engines: Engines) -> None:
    async def scene() -> None:
        running = Running(engines, Late(asyncio.get_running_loop().time))
        await running.ready.wait()
        await running.until(Phase.SPEAKING)
        assert running.watchers[1].kinds == ["notice", "notice", "reply_text"]
        running.supervisor.stop()
        await running.task

    play(scene())


def test_a_card_that_is_named_badly_ends_it_before_it_is_ready(engines: Engines) -> None:
    async def scene() -> None:
        running = Running(engines, Unplugged(BadInputError("speaker", "there are two")))
        with pytest.raises(BadInputError, match="speaker: there are two"):
            await running.task
        assert not running.ready.is_set()
        assert running.microphone.stopped

    play(scene())


def test_cards_that_do_not_open_do_not_keep_it_from_being_stopped(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "CLOSE_TIMEOUT", 0.1)
    opening, go_on = threading.Event(), threading.Event()

    class Hanging(RoomSpeaker):
        def start(self, *_: object) -> None:
            opening.set()
            go_on.wait()

    async def scene() -> None:
        running = Running(engines, Hanging())
        await asyncio.to_thread(opening.wait)
        running.supervisor.stop()
        await running.task
        assert not running.ready.is_set()
        go_on.set()

    asyncio.run(scene())
    assert "the speaker hangs, and is left as it is" in caplog.text


def test_an_observer_that_breaks_is_left_out_and_the_conversation_goes_on(
    engines: Engines, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        running.watchers[0].breaks = True
        running.supervisor.press(0.0)
        await running.until(Phase.LISTENING)
        assert running.watchers[0].phases == [Phase.IDLE]
        running.supervisor.stop()
        await running.task

    play(scene())
    (record,) = [record for record in caplog.records if "is told nothing more" in record.message]
    assert record.levelname == "ERROR"


def test_a_conductor_that_dies_takes_the_appliance_along(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(self: Conductor, event: Event) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(Conductor, "_take", die)

    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        running.supervisor.press(0.0)
        with pytest.raises(ZeroDivisionError, match="a defect"):
            await running.task
        assert running.microphone.stopped

    play(scene())


def test_a_defect_of_what_keeps_the_cards_takes_the_appliance_along(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(self: Sound, *_: object) -> None:
        await self.tried.wait()
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(Sound, "_until_over", die)

    async def scene() -> None:
        running = Running(engines)
        with pytest.raises(BaseExceptionGroup) as caught:
            await running.task
        assert caught.group_contains(ZeroDivisionError, match="a defect")

    play(scene())


def test_a_device_that_cannot_be_closed_holds_nothing_up(engines: Engines, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("gone")

    async def scene() -> None:
        running = Running(engines, BrokenSpeaker(fail))
        await running.ready.wait()
        running.supervisor.stop()
        await running.task
        assert running.microphone.stopped

    play(scene())
    assert "the speaker could not be closed" in caplog.text


def test_a_device_that_hangs_is_left_as_it_is(
    engines: Engines, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOSE_TIMEOUT", 0.1)
    go_on = threading.Event()

    def hang() -> None:
        go_on.wait()

    async def scene() -> None:
        running = Running(engines, BrokenSpeaker(hang))
        await running.ready.wait()
        running.supervisor.stop()
        await running.task
        assert running.microphone.stopped
        go_on.set()

    asyncio.run(scene())
    assert "the speaker hangs" in caplog.text


def test_two_presses_in_one_instant_are_one(engines: Engines) -> None:
    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        running.supervisor.press(0.0)
        running.supervisor.press(0.0)
        await running.until(Phase.LISTENING)
        await asyncio.sleep(1)
        await running.until(Phase.LISTENING)
        running.supervisor.stop()
        await running.task

    play(scene())


def test_a_second_press_ends_listening_though_the_utterance_is_not_open_yet(engines: Engines) -> None:
    async def scene() -> None:
        running = Running(engines)
        await running.ready.wait()
        running.microphone.hear(Frame(np.zeros(HEARING_RATE, np.float32), -1.0))
        press_again = partial(running.supervisor.press, 0.0)
        running.watchers[1].on_phase = press_again  # which the phase is told to before the quest that listens begins
        running.supervisor.press(0.0)
        await running.until(Phase.LISTENING, Phase.THINKING, Phase.IDLE)
        running.supervisor.stop()
        await running.task

    play(scene())


def test_the_button_silences_while_the_event_loop_is_busy(engines: Engines) -> None:
    speaker = RoomSpeaker()

    async def scene() -> None:
        always = ScriptedVoice([(0.0, 100.0)])
        running = Running(replace(engines, activity=always, recogniser=Understanding()), speaker)
        await running.ready.wait()
        running.microphone.hear(Frame(np.zeros(HEARING_RATE, np.float32), -1.0))
        running.supervisor.press(0.0)
        await running.until(Phase.LISTENING)
        running.supervisor.press(0.0)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(100):
            while not speaker.play(loop.time()).any():  # noqa: ASYNC110  on a clock that does not wait
                await asyncio.sleep(0.01)

        # Nothing is awaited from here to the end of the test of silence: the loop cannot do anything.
        pressing = threading.Thread(target=running.supervisor.press, args=(loop.time(),))
        pressing.start()
        pressing.join()
        fade, *rest = (speaker.play(loop.time()) for _ in range(20))
        assert fade[:FADING].any()
        assert not fade[FADING:].any()
        assert not np.any(rest)

        await running.until(Phase.LISTENING, Phase.THINKING, Phase.SPEAKING, Phase.LISTENING)
        assert running.watchers[1].kinds.count("interrupted") == running.watchers[1].kinds.count("reply_end") == 1
        running.supervisor.stop()
        await running.task

    play(scene())


class DeadButton:
    """Its pin is taken."""

    works = False
    trouble = ApplianceError("button", "pin 17 is taken")

    def start(self, on_press: Callable[[float], None], on_release: Callable[[float], None]) -> None:
        """It says so in `trouble`."""

    def stop(self) -> None:
        """There is nothing to stop."""


def test_a_dead_button_is_a_status_and_stops_nothing(engines: Engines) -> None:
    async def scene() -> None:
        ready = asyncio.Event()
        devices = Devices(Microphone(), RoomSpeaker(), DeadButton(), asyncio.get_running_loop().time, lambda: NOON)
        supervisor = Supervisor(Settings(), engines, devices, [])
        task = asyncio.create_task(supervisor.run(ready.set))
        await ready.wait()
        status = supervisor.status()
        assert status.button.why == "pin 17 is taken"
        assert "the button does not work: pin 17 is taken" in status.problems
        supervisor.stop()
        await task

    play(scene())
