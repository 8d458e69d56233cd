"""Cards that are lost, and found again, on a clock that does not wait."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import numpy as np
import pytest

from appliance import sound as module
from appliance.audio import kept
from appliance.audio.devices import HEARING_RATE, Frame, MissingCardError, Samples, Source
from appliance.audio.healing import STEADY
from appliance.audio.inventory import Change
from appliance.audio.kept import Beat
from appliance.audio.lane import Lane
from appliance.errors import ApplianceError, BadInputError
from appliance.simulation.clock import VirtualLoop
from appliance.sound import LONG, Sound

RECOVERY = 3.0
"""Seconds in which a card that is back has to work: what the appliance promises."""

BLOCK = 160


class System:
    """PortAudio as it is: its list of cards is made by its first user, and stays while there are users."""

    def __init__(self, *plugged: str) -> None:
        self.plugged = set(plugged)
        self.listed: set[str] = set()
        self.users = 0
        self.tells = True
        """Whether the kernel has a sign of a new card."""
        self.hung_users = 0

    def open(self, name: str) -> None:
        if not self.users:
            self.listed = set(self.plugged)
        if name not in self.listed:
            raise MissingCardError(name, "no sound card is called so")
        if name not in self.plugged:
            raise ApplianceError(name, "it cannot be opened")
        self.users += 1

    def change(self) -> Change:
        return Change.RENUMBERED if self.tells and self.plugged - self.listed else Change.NOTHING


class Device:
    """A microphone and a speaker: a card in that system, which moves sound when it is told to."""

    rate = 16_000
    drops = True

    def __init__(self, name: str, system: System) -> None:
        self.name = name
        self.system = system
        self.opened = 0
        self.closed = 0
        self.errors: list[Exception] = []
        """What the next tries to open it come to."""
        self.refused = 0
        self.moves = True
        self._is_open = False
        self._source: Source | None = None
        self._on_frame: Callable[[Frame], None] = lambda _: None
        self._on_fault: Callable[[str], None] = lambda _: None

    def start(self, *arguments: Any) -> None:
        assert not self._is_open, "opened twice"
        if self.errors:
            self.refused += 1
            raise self.errors.pop(0)
        self.system.open(self.name)
        self._is_open = True
        self.opened += 1
        *source, self._on_frame, self._on_fault = arguments
        self._source = source[0] if source else None

    def stop(self) -> None:
        self.closed += 1
        if self._is_open:
            self._is_open = False
            self.system.users -= 1

    def move(self, at: float) -> Samples | None:
        """A block of sound, if the card is open."""
        if not self._is_open or not self.moves:
            return None
        if self.name not in self.system.plugged:
            self.fail("it was unplugged")
            return None
        samples = np.ones(BLOCK, np.float32) if self._source is None else self._source.pull(BLOCK, at)
        if samples is not None:
            self._on_frame(Frame(samples, at))
        return samples

    def fail(self, why: str) -> None:
        self._on_fault(why)


class Room:
    """Both cards, and everything that is told, and heard."""

    def __init__(self, system: System, speaker: Device | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.system = system
        self.microphone, self.speaker = Device("microphone", system), speaker or Device("speaker", system)
        self.told: list[tuple[float, str]] = []
        self.refused: list[ApplianceError] = []
        self.back: list[float] = []
        self.heard: list[Frame] = []
        self.played: list[Samples] = []
        self.lane = Lane(16_000, lambda _: None, self.loop.time, drops=True)
        self.sound = Sound(
            self.microphone,
            self.speaker,
            self.lane,
            self.heard.append,
            self.loop.time,
            system.change,
            lambda text: self.told.append((self.loop.time(), text)),
            self.refused.append,
            self.back.append,
        )
        self.keeping = asyncio.create_task(self.sound.keep())

    async def pass_time(self, seconds: float) -> None:
        end = self.loop.time() + seconds
        while self.loop.time() < end:
            self.microphone.move(self.loop.time())
            samples = self.speaker.move(self.loop.time())
            if samples is not None:
                self.played.append(samples)
            await asyncio.sleep(BLOCK / 16_000)

    async def until(self, condition: Callable[[], bool]) -> float:
        """How long it takes."""
        began = self.loop.time()
        while not condition():
            assert self.loop.time() - began < 100
            await self.pass_time(0.01)
        return self.loop.time() - began

    def reply(self, generation: int, seconds: float) -> None:
        self.lane.begin_turn(generation)
        self.lane.open(generation)
        self.lane.put(generation, np.arange(1, seconds * 16_000 + 1, dtype=np.float32))
        self.lane.finish(generation)

    def was_told(self, times: int) -> bool:
        return len(self.told) == times

    def beat(self, name: str) -> Beat:
        return self.sound.beats.microphone if name == "microphone" else self.sound.beats.speaker

    def sounded(self) -> Samples:
        return np.concatenate([samples[samples != 0] for samples in self.played])

    async def leave(self) -> None:
        self.keeping.cancel()
        await asyncio.wait({self.keeping})
        await self.sound.close()
        assert self.system.users == self.system.hung_users


def play(scene: Callable[[Room], Coroutine[Any, Any, None]], *plugged: str) -> None:
    async def whole() -> None:
        room = Room(System(*plugged))
        await room.sound.tried.wait()
        await scene(room)
        await room.leave()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(whole())


BOTH = ("microphone", "speaker")


def test_cards_that_work_are_left_alone() -> None:
    async def scene(room: Room) -> None:
        await room.pass_time(60)
        assert (room.microphone.opened, room.speaker.opened) == (1, 1)
        assert room.told == []

    play(scene, *BOTH)


@pytest.mark.parametrize("kernel_tells", [True, False])
@pytest.mark.parametrize("name", BOTH)
def test_a_card_that_is_missing_at_the_start_is_found_when_it_is_plugged_in(name: str, kernel_tells: bool) -> None:
    async def scene(room: Room) -> None:
        room.system.tells = kernel_tells
        missing = getattr(room, name)
        await room.pass_time(20)
        assert [text for _, text in room.told] == [
            f"{name}: no sound card is called so. It is tried again until it works."
        ]
        room.system.plugged.add(name)
        assert await room.until(lambda: len(room.told) == 2) < RECOVERY
        assert room.told[1][1].startswith(f'{name} "{name}": it works again, after 2')
        assert missing.opened == 1

    play(scene, *(each for each in BOTH if each != name))


def test_without_any_card_it_waits_for_both() -> None:
    async def scene(room: Room) -> None:
        await room.pass_time(20)
        room.system.plugged.update(BOTH)
        assert await room.until(lambda: len(room.told) == 4) < RECOVERY

    play(scene)


@pytest.mark.parametrize("name", BOTH)
def test_a_card_that_is_unplugged_and_plugged_in_again_works(name: str) -> None:
    async def scene(room: Room) -> None:
        for times in range(1, 4):
            await room.pass_time(2 * STEADY)
            room.system.plugged.remove(name)
            await room.pass_time(5)
            room.system.plugged.add(name)
            assert await room.until(partial(room.was_told, 2 * times)) < RECOVERY
        other = room.speaker if name == "microphone" else room.microphone
        assert other.opened > 1, "without a sign from the kernel it has to be looked for"
        assert f'{name} "{name}": it was unplugged. It is tried again' in room.told[0][1]

    play(scene, *BOTH)


@pytest.mark.parametrize("failures", [1, 5, 50])
@pytest.mark.parametrize("error", [ApplianceError("speaker", "it is busy"), OSError(-9985, "Device unavailable")])
def test_a_card_that_cannot_be_opened_is_tried_for_ever_and_told_of_once(failures: int, error: Exception) -> None:
    async def scene(room: Room) -> None:
        room.speaker.errors = [error] * failures
        room.speaker.fail("it has died")
        await room.until(lambda: len(room.told) == 2)
        assert room.speaker.refused == failures
        assert ["it has died" in text for _, text in room.told] == [True, False]

    play(scene, *BOTH)


@pytest.mark.parametrize("name", BOTH)
def test_a_card_that_is_not_there_is_missing_and_one_that_is_there_is_not(name: str) -> None:
    async def scene(room: Room) -> None:
        card = getattr(room, name)
        assert not room.beat(name).missing
        await room.pass_time(20)
        assert room.loop.time() - room.beat(name).moved_at < 1
        assert room.beat(name).open

        room.system.plugged.remove(name)
        await room.pass_time(20)
        assert room.beat(name).missing
        assert not room.beat(name).open
        assert room.loop.time() - room.beat(name).moved_at > 19, "silence that is fed counts for nothing"

        room.system.plugged.add(name)
        card.moves = False
        await room.until(lambda: room.beat(name).open)
        assert not room.beat(name).missing
        assert room.loop.time() - room.beat(name).moved_at > 19
        card.moves = True
        await room.pass_time(1)
        assert room.loop.time() - room.beat(name).moved_at < 1

        card.errors = [ApplianceError(name, "it is busy")] * 100
        card.fail("it has died")
        await room.pass_time(20)
        assert not room.beat(name).missing
        assert not room.beat(name).open

    play(scene, *BOTH)


def test_that_sound_is_back_is_told_when_both_cards_work_again_after_long() -> None:
    async def scene(room: Room) -> None:
        room.system.plugged.clear()
        await room.pass_time(2 * LONG)
        room.system.plugged.add("speaker")
        await room.until(lambda: len(room.told) == 3)
        assert room.back == [], "it is deaf yet"
        await room.pass_time(LONG)
        room.system.plugged.add("microphone")
        await room.until(lambda: len(room.told) == 4)
        (seconds,) = room.back
        assert 3 * LONG < seconds < 3 * LONG + 2 * RECOVERY

        await room.pass_time(2 * STEADY)
        room.system.plugged.remove("speaker")
        await room.pass_time(LONG / 2)
        room.system.plugged.add("speaker")
        await room.until(lambda: len(room.told) == 6)
        await room.pass_time(2 * LONG)
        assert room.back == [seconds], "that was short"

    play(scene, *BOTH)


def test_a_name_that_fits_several_cards_is_refused_at_the_start_alone() -> None:
    several = BadInputError("speaker", '"box" fits several sound cards')

    async def scene() -> None:
        room = Room(System(*BOTH))
        room.speaker.errors = [several]
        await room.until(lambda: bool(room.refused))
        await room.leave()
        assert room.refused == [several]

        room = Room(System(*BOTH))
        await room.sound.tried.wait()
        room.speaker.errors = [several]
        room.speaker.fail("it has died")
        await room.until(lambda: len(room.told) == 2)
        await room.leave()
        assert room.refused == []

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())


def test_a_reply_goes_on_when_the_speaker_is_back_and_no_sample_is_missing() -> None:
    async def scene(room: Room) -> None:
        room.reply(1, 2)
        await room.pass_time(0.5)
        room.system.plugged.remove("speaker")
        await room.pass_time(1)
        assert room.lane.is_open(1)
        room.system.plugged.add("speaker")
        await room.until(lambda: not room.lane.is_open(1))
        assert set(np.rint(room.sounded())) >= set(range(1_000, 32_000))

    play(scene, *BOTH)


def test_a_reply_is_not_cut_only_to_look_for_a_microphone() -> None:
    async def scene(room: Room) -> None:
        room.system.tells = False
        room.reply(1, 30)
        await room.pass_time(1)
        room.system.plugged.remove("microphone")
        room.microphone.fail("it was unplugged")
        room.system.listed.remove("microphone")
        room.system.plugged.add("microphone")
        await room.until(lambda: not room.lane.is_open(1))
        assert room.speaker.opened == 1
        assert await room.until(lambda: len(room.told) == 2) < RECOVERY
        assert room.speaker.opened == 2

    play(scene, *BOTH)


def test_a_new_card_is_had_at_once_and_the_reply_goes_on_without_a_gap() -> None:
    async def scene(room: Room) -> None:
        room.reply(1, 30)
        await room.pass_time(5)
        assert room.speaker.opened == 1
        room.system.plugged.add("microphone")
        assert await room.until(lambda: len(room.told) == 2) < RECOVERY
        await room.until(lambda: not room.lane.is_open(1))
        assert room.speaker.opened == 2
        assert set(np.rint(room.sounded())) >= set(range(1_000, 480_000))

    play(scene, "speaker")


def test_while_something_hangs_the_other_card_is_not_closed_in_vain() -> None:
    async def scene(room: Room) -> None:
        room.system.users += 1  # so that the list is never made anew
        room.system.hung_users = 1
        room.system.plugged.add("microphone")
        room.reply(1, 30)
        await room.until(lambda: not room.lane.is_open(1))
        assert room.speaker.opened == 2

    play(scene, "speaker")


def test_a_card_that_comes_and_goes_is_not_told_of_each_time() -> None:
    async def scene(room: Room) -> None:
        for _ in range(20):
            room.speaker.fail("it has died")
            await room.pass_time(5)
        assert len(room.told) == 3, "lost, back, lost"
        await room.until(lambda: len(room.told) == 4)
        await room.pass_time(60)
        assert len(room.told) == 4

    play(scene, *BOTH)


def test_a_card_that_opens_and_never_moves_is_not_back() -> None:
    async def scene(room: Room) -> None:
        room.speaker.moves = False
        for _ in range(10):
            room.speaker.fail("no sound has moved for 2 s")
            await room.pass_time(5)
        assert len(room.told) == 1
        room.speaker.moves = True
        await room.until(lambda: len(room.told) == 2)

    play(scene, *BOTH)


def test_without_a_microphone_hearing_gets_silence() -> None:
    async def scene(room: Room) -> None:
        await room.pass_time(1)
        room.system.plugged.remove("microphone")
        await room.pass_time(20)
        for before, after in zip(room.heard, room.heard[1:], strict=False):
            assert after.at == pytest.approx(before.at + len(before.samples) / HEARING_RATE, abs=0.02)
        assert not np.concatenate([frame.samples for frame in room.heard])[2 * HEARING_RATE :].any()
        assert room.loop.time() - room.heard[-1].at < RECOVERY

    play(scene, *BOTH)


class Hanging(Device):
    """A card whose opening, or closing, does not return until `released`."""

    def __init__(self, name: str, system: System) -> None:
        super().__init__(name, system)
        self.hangs_at = ""
        self.hanging = threading.Event()
        self.released = threading.Event()

    def start(self, *arguments: Any) -> None:
        self._hang("start")
        super().start(*arguments)

    def stop(self) -> None:
        self._hang("stop")
        super().stop()

    def _hang(self, at: str) -> None:
        if self.hangs_at == at:
            self.hanging.set()
            self.released.wait(60)


@pytest.mark.parametrize("at", ["start", "stop"])
def test_a_card_that_hangs_is_waited_for_and_holds_up_neither_the_other_nor_the_end(
    at: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "CLOSE_TIMEOUT", 0.1)
    monkeypatch.setattr(kept, "HANGS", 0.1)
    threads = threading.active_count()

    async def scene() -> None:
        system = System(*BOTH)
        hanging = Hanging("speaker", system)
        room = Room(system, hanging)
        await room.sound.tried.wait()
        hanging.hangs_at = at
        hanging.fail("it has died")
        assert await asyncio.to_thread(hanging.hanging.wait, 60)
        room.microphone.fail("it has died too")
        await room.until(lambda: room.microphone.opened == 2)
        await room.until(lambda: room.sound.beats.speaker.hangs)
        assert not room.sound.beats.microphone.hangs
        room.keeping.cancel()
        await asyncio.wait({room.keeping})
        await room.sound.close()
        hanging.released.set()

    asyncio.run(scene())
    assert "the speaker hangs, and is waited for" in caplog.text
    assert "the speaker hangs, and is left as it is" in caplog.text
    for _ in range(1000):
        if threading.active_count() <= threads:
            break
        threading.Event().wait(0.01)
    assert threading.active_count() <= threads
