import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.devices import Frame, Samples
from appliance.simulation.clock import VirtualLoop
from appliance.simulation.room import Done, Room
from appliance.simulation.scenario import Moment, Press, Say, Scenario, parse
from appliance.simulation.script import BLOCK, Script
from appliance.simulation.sounds import noise

RATE = 16_000
NOTHING = np.zeros(0, np.float32)


class Noises:
    """A source whose samples can be told apart, and that notes when each is to sound."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self.times: list[float] = []

    def pull(self, count: int, at: float) -> Samples:
        self.times.append(at)
        return self._random.uniform(-0.4, 0.4, count).astype(np.float32)


class Kept:
    """The tracks of a room."""

    def __init__(self) -> None:
        self._heard: list[Samples] = []
        self._played: list[Samples] = []

    def add(self, heard: Samples, played: Samples) -> None:
        self._heard.append(heard)
        self._played.append(played)

    @property
    def heard(self) -> Samples:
        return np.concatenate(self._heard)

    @property
    def played(self) -> Samples:
        return np.concatenate(self._played)


def scenario(text: str) -> Scenario:
    return parse(text, Path("a.toml"))


def room_of(text: str, sounds: Sequence[Samples] = (), kept: Kept | None = None) -> tuple[Room, Script]:
    found = scenario(text)
    script = Script(found)
    return Room(found.acoustics, script, sounds, (kept or Kept()).add), script


def ignore(_: object) -> None:
    pass


def no_fault(reason: str) -> None:
    pytest.fail(reason)


def sound(seed: int, count: int) -> Samples:
    return np.random.default_rng(seed).uniform(-0.3, 0.3, count).astype(np.float32)


def test_the_echo_is_exactly_delayed_and_attenuated() -> None:
    kept = Kept()
    room, _ = room_of("[room]\necho_db = -20\necho_delay_ms = 12.5", kept=kept)
    room.speaker.start(Noises(), ignore, no_fault)
    for _ in range(100):
        room.step()
    hiss = noise(scenario("").acoustics)[: 100 * BLOCK]
    echo = np.concatenate((np.zeros(200, np.float32), kept.played[:-200])) * np.float32(0.1)
    assert np.abs(kept.heard - hiss - echo).max() < 1e-7


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4_000), st.integers(1, 3_000)), min_size=1, max_size=4),
    st.integers(0, 1_000),
    st.sampled_from([-40, -6, 0]),
)
def test_the_microphone_gets_the_sum_of_all_that_sounds(says: list[tuple[int, int]], delay: int, echo_db: int) -> None:
    kept = Kept()
    tables = "".join(f'[[say]]\ntext = "a"\nat = {begin / RATE!r}\n' for begin, _ in says)
    sounds = [sound(number, length) for number, (_, length) in enumerate(says)]
    acoustics = f"[room]\necho_db = {echo_db}\necho_delay_ms = {delay / 16!r}\nnoise_db = -50\n"
    room, _ = room_of(acoustics + tables, sounds, kept)
    room.speaker.start(Noises(), ignore, no_fault)
    for _ in range(50):
        room.step()
    total = 50 * BLOCK
    expected = np.zeros(total + 10_000)
    expected[:total] += noise(scenario(acoustics).acoustics)[:total]
    expected[delay:total] += kept.played[: total - delay] * 10 ** (echo_db / 20)
    for (begin, length), samples in zip(says, sounds, strict=True):
        expected[begin : begin + length] += samples
    assert np.abs(kept.heard - np.clip(expected[:total], -1, 1)).max() < 1e-6


def test_the_noise_is_repeated_without_a_gap() -> None:
    kept = Kept()
    room, _ = room_of("", kept=kept)
    hiss = noise(scenario("").acoustics)
    blocks = len(hiss) // BLOCK + 3
    for _ in range(blocks):
        room.step()
    assert np.array_equal(kept.heard, np.resize(hiss, blocks * BLOCK))


def test_frames_are_gapless_and_come_when_they_are_over() -> None:
    kept = Kept()
    room, _ = room_of("", kept=kept)
    frames: list[Frame] = []
    handed: list[Frame] = []
    delays: list[float] = []
    source = Noises()

    def on_frame(frame: Frame) -> None:
        frames.append(frame)
        delays.append(room.clock() - frame.at)

    room.microphone.start(on_frame, no_fault)
    room.speaker.start(source, handed.append, no_fault)
    for _ in range(10):
        room.step()
    assert [frame.at for frame in frames] == [number * BLOCK / RATE for number in range(9)]
    assert delays == pytest.approx([BLOCK / RATE] * 9)
    assert np.array_equal(np.concatenate([frame.samples for frame in frames]), kept.heard[: 9 * BLOCK])
    assert source.times == [number * BLOCK / RATE for number in range(10)]
    assert [frame.at for frame in handed] == source.times
    assert np.array_equal(np.concatenate([frame.samples for frame in handed]), kept.played)


def test_a_device_that_is_stopped_neither_hears_nor_plays() -> None:
    kept = Kept()
    room, _ = room_of("", kept=kept)
    frames: list[Frame] = []
    room.microphone.start(frames.append, no_fault)
    room.speaker.start(Noises(), ignore, no_fault)
    for _ in range(3):
        room.step()
    for device in (room.microphone, room.speaker):
        device.stop()
        device.stop()
    for _ in range(3):
        room.step()
    assert len(frames) == 2
    assert kept.played[: 3 * BLOCK].all()
    assert not kept.played[3 * BLOCK :].any()


def test_stopping_the_microphone_waits_for_the_frame_under_way() -> None:
    room, _ = room_of("")
    inside, go_on, stopped = threading.Event(), threading.Event(), threading.Event()

    def on_frame(_: Frame) -> None:
        inside.set()
        go_on.wait(10)
        assert not stopped.is_set()

    def stop() -> None:
        room.microphone.stop()
        stopped.set()

    room.microphone.start(on_frame, no_fault)
    room.step()
    stepping = threading.Thread(target=room.step)
    stepping.start()
    assert inside.wait(10)
    stopping = threading.Thread(target=stop)
    stopping.start()
    go_on.set()
    stepping.join(10)
    stopping.join(10)
    assert stopped.is_set()


def test_a_callback_may_stop_its_own_device() -> None:
    room, _ = room_of("")
    room.microphone.start(lambda _: room.microphone.stop(), no_fault)
    for _ in range(3):
        room.step()


def test_a_press_comes_before_the_sound_of_its_block() -> None:
    room, _ = room_of("[[press]]\nat = 0.015")
    source = Noises()
    room.speaker.start(source, ignore, no_fault)
    pressed: list[tuple[float, int]] = []
    room.button.start(lambda at: pressed.append((at, len(source.times))), ignore)
    for _ in range(5):
        room.step()
    assert pressed == [(0.02, 2)]


def test_a_press_is_over_when_its_hold_is() -> None:
    room, _ = room_of("[[press]]\nat = 0.02\nhold = 0.025")
    edges: list[tuple[bool, float]] = []
    room.button.start(lambda at: edges.append((True, at)), lambda at: edges.append((False, at)))
    for _ in range(8):
        room.step()
    assert edges == [(True, 0.02), (False, 0.05)]


def test_what_was_done_is_known_with_its_time() -> None:
    room, script = room_of('[[say]]\ntext = "a"\nat = 0.00125\n[[press]]\nafter = "ready"', [sound(0, 320), NOTHING])
    room.step()
    script.moment(Moment.READY, room.clock())
    room.step()
    say, press = room.done
    assert isinstance(say.step, Say)
    assert isinstance(press.step, Press)
    assert (say.begin, say.end) == (0.00125, 0.02125)
    assert press == Done(press.step, 0.01, 0.11)


def _play(run: Callable[[Room], None]) -> tuple[Samples, Samples, list[Done]]:
    kept = Kept()
    text = """duration = 0.6
        [room]
        echo_db = -12
        echo_delay_ms = 33
        [[say]]
        text = "a"
        at = 0.1
        [[say]]
        text = "b"
        at = 0.2
        [[press]]
        at = 0.3
    """
    room, script = room_of(text, [sound(1, 4_000), sound(2, 3_000), NOTHING], kept)
    room.speaker.start(Noises(), ignore, no_fault)
    run(room)
    assert script.failures() == []
    return kept.heard, kept.played, room.done


def _fast(room: Room) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(room.run_fast())
        assert runner.get_loop().time() == pytest.approx(0.59)


def _realtime(room: Room) -> None:
    began = time.monotonic()
    room.run_realtime(threading.Event())
    assert time.monotonic() - began >= 0.59


def test_real_time_and_fast_give_the_same() -> None:
    heard, played, done = _play(_realtime)
    fast_heard, fast_played, fast_done = _play(_fast)
    assert len(heard) == 0.6 * RATE
    assert np.array_equal(heard, fast_heard)
    assert np.array_equal(played, fast_played)
    assert done == fast_done


def test_real_time_catches_up_on_what_was_late() -> None:
    kept = Kept()
    room, _ = room_of("duration = 0.5", kept=kept)
    frames: list[Frame] = []

    def slow_at_first(frame: Frame) -> None:
        if not frames:
            time.sleep(0.2)
        frames.append(frame)

    room.microphone.start(slow_at_first, no_fault)
    room.run_realtime(threading.Event())
    assert len(frames) == 49
    assert np.array_equal(np.concatenate([frame.samples for frame in frames]), kept.heard[: 49 * BLOCK])


def test_real_time_can_be_stopped() -> None:
    room, _ = room_of("")
    stop = threading.Event()
    room.microphone.start(lambda frame: stop.set() if frame.at > 0.05 else None, no_fault)
    room.run_realtime(stop)
    assert room.clock() < 1


def test_fast_lets_the_loop_do_all_that_is_due_before_the_next_block() -> None:
    room, script = room_of('[[say]]\ntext = "a"\nafter = "ready"', [sound(0, 1_000)])

    async def main() -> None:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            tasks.create_task(room.run_fast())
            await asyncio.sleep(1.004)
            script.moment(Moment.READY, room.clock())

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
    (done,) = room.done
    assert done.begin == pytest.approx(1.01)
    assert room.clock() == pytest.approx(3.57, abs=0.02)
