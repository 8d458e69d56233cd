"""Microphone and speaker on a real sound server, where a card's microphone hears what the card plays."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from queue import Queue
from typing import NoReturn

import numpy as np
import pyaudio
import pytest
import soxr

from appliance.audio import cards as card_list
from appliance.audio import microphone as module
from appliance.audio import watch
from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.lane import Lane
from appliance.audio.microphone import CardMicrophone
from appliance.audio.resample import StreamResampler
from appliance.audio.speaker import CardSpeaker
from appliance.core.events import ReplyEnded, ReplyStarted
from appliance.errors import ApplianceError
from appliance.simulation.recording import load
from tests.audio.conftest import Refuse
from tests.audio.recorder import TIMEOUT, Recorder
from tests.sound_server import SoundServer, running_sound_server

LEVEL = 0.02
ATTEMPTS = 10
"""A machine that is too busy to keep up loses sound, for which nothing here can be blamed; but not every time."""


class Nothing:
    """A source of silence."""

    def pull(self, count: int, at: float) -> Samples:
        return np.zeros(count, np.float32)


class Loop:
    """A speaker with its lane, the microphone that hears it, and all that they hand over."""

    def __init__(self) -> None:
        self.speaker = CardSpeaker("kitchen")
        self.microphone = CardMicrophone("kitchen")
        self.played = Recorder(self.speaker.rate)
        self.heard = Recorder(HEARING_RATE)
        self.faults: list[str] = []
        self.ended = threading.Event()
        self.events: list[ReplyStarted | ReplyEnded] = []
        self.lane = Lane(self.speaker.rate, self._report, time.monotonic, drops=self.speaker.drops)

    def start(self) -> None:
        self.speaker.start(self.lane, self.played, self.faults.append)
        self.microphone.start(self.heard, self.faults.append)

    def stop(self) -> None:
        self.speaker.stop()
        self.microphone.stop()

    def settle(self) -> None:
        """Wait until both run, and their clocks with them."""
        now = time.monotonic()
        self.heard.wait_until(now + 1.2)
        self.played.wait_until(now + 1.2)

    def say(self, generation: int, samples: Samples) -> None:
        """Queue a reply of 16 kHz samples."""
        resampler = StreamResampler(HEARING_RATE, self.speaker.rate)
        self.ended.clear()
        self.lane.begin_turn(generation)
        self.lane.open(generation)
        for piece in np.array_split(samples, 10):
            self.lane.put(generation, resampler.feed(piece))
        self.lane.put(generation, resampler.flush())
        self.lane.finish(generation)

    def _report(self, event: ReplyStarted | ReplyEnded) -> None:
        self.events.append(event)
        if isinstance(event, ReplyEnded):
            self.ended.set()


@pytest.fixture
def loop(cards: None) -> Iterator[Loop]:
    loop = Loop()
    loop.start()
    yield loop
    loop.stop()
    assert loop.faults == []


def tone(seconds: float) -> Samples:
    return (0.5 * np.sin(2 * np.pi * 440 * np.arange(int(seconds * HEARING_RATE)) / HEARING_RATE)).astype(np.float32)


def what_is_wrong(loop: Loop, generation: int, sound: Samples) -> list[str]:
    """Say `sound`, and compare it with what is heard, whatever fraction of a sample lies between them."""
    loop.say(generation, sound)
    assert loop.ended.wait(TIMEOUT)
    started, ended = (event for event in loop.events if event.generation == generation)
    loop.heard.wait_until(ended.at + 0.5)
    heard = loop.heard.between(started.at - 0.5, ended.at + 0.5)
    size = len(sound) + len(heard)
    correlation = 8 * np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(sound, size)), 8 * size)
    best = int(np.argmax(correlation[: 8 * HEARING_RATE]))
    late = best / 8 / HEARING_RATE - 0.5
    level = np.linalg.norm(heard) / np.linalg.norm(sound)
    likeness = correlation[best] / np.linalg.norm(sound) / max(np.linalg.norm(heard), 1e-6)
    wrong = []
    if likeness < 0.999:
        wrong.append(f"another sound: correlation {likeness:.4f}")
    if abs(late) > 0.03:
        wrong.append(f"heard {late:.3f} s after it should have sounded")
    if not 0.98 < level < 1.02:
        wrong.append(f"{level:.3f} times as loud")
    return wrong


@pytest.mark.parametrize(
    ("rates", "channels"),
    [((), ()), ((16_000, 48_000), ()), ((16_000, 44_100), (1,)), ((48_000,), (2,))],
    ids=["any", "no 16 or 48 kHz", "48 kHz, not mono", "no 48 kHz, only mono"],
)
def test_what_is_played_is_heard(
    refuse: Refuse, speech: Path, rates: Sequence[int], channels: Sequence[int], request: pytest.FixtureRequest
) -> None:
    refuse(rates, channels)
    loop = request.getfixturevalue("loop")
    loop.settle()
    said = load(speech / "read/librispeech-quilter-en.flac")[: 2 * HEARING_RATE]
    # The server's own resampling loses what is higher.
    said = soxr.resample(soxr.resample(said, HEARING_RATE, 12_000), 12_000, HEARING_RATE)
    generations = count(1)
    for sound in (tone(1), said):
        wrong = [["never said"]]
        while wrong[-1] and len(wrong) <= ATTEMPTS:
            wrong.append(what_is_wrong(loop, next(generations), sound))
        assert not wrong[-1], wrong


def test_a_hushed_reply_is_silent_and_stays_so(loop: Loop) -> None:
    loop.settle()
    loop.say(1, tone(10))
    loop.heard.wait_for_sound(LEVEL)
    hushed = time.monotonic()
    loop.lane.hush(1)
    assert loop.ended.wait(TIMEOUT)
    end = loop.events[-1]
    assert isinstance(end, ReplyEnded)
    assert end.cut
    assert not loop.lane.put(1, tone(1))
    loop.heard.wait_until(hushed + 1)
    assert loop.heard.last_sound(LEVEL) < hushed + 0.2
    assert loop.heard.last_sound(LEVEL) == pytest.approx(end.at, abs=0.03)


def test_it_is_silent_when_stop_returns(loop: Loop) -> None:
    loop.settle()
    loop.say(1, tone(10))
    loop.heard.wait_for_sound(LEVEL)
    loop.speaker.stop()
    stopped, frames = time.monotonic(), len(loop.played.frames)
    loop.heard.wait_until(stopped + 1)
    assert loop.heard.last_sound(LEVEL) < stopped + 0.2
    assert len(loop.played.frames) == frames
    loop.speaker.stop()


def test_frames_follow_each_other_without_gaps(loop: Loop) -> None:
    loop.settle()
    for recorder in (loop.heard, loop.played):
        worst = [1.0]
        while worst[-1] > 1e-4 and len(worst) <= ATTEMPTS:
            recorder.frames.clear()
            recorder.wait_until(time.monotonic() + 0.5)
            worst.append(max(abs(step) for step in recorder.steps()))
        assert worst[-1] <= 1e-4, worst


@pytest.mark.usefixtures("cards")
def test_starting_and_stopping_leaks_nothing() -> None:
    def held() -> tuple[int, int]:
        return len(list(Path("/proc/self/task").iterdir())), len(list(Path("/proc/self/fd").iterdir()))

    loop = Loop()
    before = (0, 0)
    for cycle in range(50):
        loop.start()
        loop.stop()
        if cycle == 5:
            before = held()
    deadline = time.monotonic() + TIMEOUT
    while held() > before:  # a thread that was joined is gone a little later
        assert time.monotonic() < deadline, f"{before} threads and files became {held()}"
        time.sleep(0.01)
    assert loop.faults == []


def test_a_server_that_dies_is_one_fault_each(sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_sound_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        loop = Loop()
        loop.start()
        loop.settle()
        server.process.kill()
        while len(loop.faults) < 2:
            time.sleep(0.01)
        loop.stop()
        speaker, microphone = sorted(loop.faults)
        assert speaker.startswith("the card does not play any more")
        assert microphone.startswith("the card does not record any more")
        with pytest.raises(ApplianceError, match="microphone: no sound card"):
            loop.microphone.start(loop.heard, loop.faults.append)
        with pytest.raises(ApplianceError, match="speaker: no sound card"):
            loop.speaker.start(loop.lane, loop.played, loop.faults.append)


@pytest.mark.usefixtures("cards")
def test_a_source_that_fails_is_a_fault() -> None:
    class Broken:
        def pull(self, count: int, at: float) -> Samples:
            raise ZeroDivisionError("broken")

    speaker, faults, faulty = CardSpeaker("kitchen"), [], threading.Event()

    def on_fault(why: str) -> None:
        faults.append(why)
        speaker.stop()
        faulty.set()

    speaker.start(Broken(), lambda _: None, on_fault)
    assert faulty.wait(TIMEOUT)
    speaker.stop()
    assert faults == ["its source failed (ZeroDivisionError('broken'))"]


@pytest.mark.usefixtures("cards")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_hearing_that_fails_is_a_fault() -> None:
    microphone, faults, faulty = CardMicrophone("kitchen"), [], threading.Event()

    def on_frame(_: Frame) -> None:
        raise ZeroDivisionError("broken")

    def on_fault(why: str) -> None:
        faults.append(why)
        microphone.stop()
        faulty.set()

    microphone.start(on_frame, on_fault)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "microphone")
    assert faulty.wait(TIMEOUT)
    microphone.stop()
    thread.join(TIMEOUT)
    assert faults == ["what takes its frames failed"]


@pytest.mark.usefixtures("cards")
def test_a_microphone_that_hangs_does_not_hold_up_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    closing, go_on = threading.Event(), threading.Event()
    close = pyaudio.PyAudio.terminate

    def hanging_close(self: pyaudio.PyAudio) -> None:
        closing.set()
        go_on.wait(TIMEOUT)
        close(self)

    monkeypatch.setattr(pyaudio.PyAudio, "terminate", hanging_close)
    microphone, heard, faults = CardMicrophone("kitchen"), Recorder(HEARING_RATE), list[str]()
    microphone.start(heard, faults.append)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "microphone")
    heard.wait_until(0)
    microphone.stop()
    frames = len(heard.frames)
    assert closing.is_set()
    assert thread.is_alive()
    go_on.set()
    thread.join(TIMEOUT)
    assert len(heard.frames) == frames
    assert not faults


@pytest.mark.usefixtures("cards")
def test_hearing_that_hangs_does_not_hold_up_stop_and_gets_no_more_frames() -> None:
    hearing, go_on = threading.Event(), threading.Event()
    heard, faults = list[Frame](), list[str]()

    def on_frame(frame: Frame) -> None:
        heard.append(frame)
        hearing.set()
        go_on.wait(TIMEOUT)

    microphone = CardMicrophone("kitchen")
    microphone.start(on_frame, faults.append)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "microphone")
    assert hearing.wait(TIMEOUT)
    microphone.stop()
    assert thread.is_alive()
    go_on.set()
    thread.join(TIMEOUT)
    assert len(heard) == 1
    assert not faults


@pytest.mark.parametrize("rates", [(), (16_000, 48_000)], ids=["any", "no 16 or 48 kHz"])
def test_hearing_that_is_too_slow_loses_sound_and_nothing_else(
    refuse: Refuse,
    rates: Sequence[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr(module, "BEHIND", 0.1)
    refuse(rates, ())
    loop = request.getfixturevalue("loop")
    loop.settle()
    wrong = [["never said"]]
    while wrong[-1] and len(wrong) <= ATTEMPTS:
        before = len(loop.heard.frames)
        loop.heard.hold_up(0.5)
        loop.heard.wait_until(time.monotonic() + 1)
        lost = max(loop.heard.steps()[before - 1 :])
        wrong.append(what_is_wrong(loop, len(wrong), tone(1)))
        if not 0.2 < lost < 0.6:
            wrong[-1].append(f"a gap of {lost:.3f} s")
    assert not wrong[-1], wrong
    assert "hearing is too slow: 0." in caplog.text


def test_a_card_that_stops_without_a_word_is_a_fault(
    cards: None, sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "STALLED", 0.2)
    faults: Queue[str] = Queue()
    heard = Recorder(HEARING_RATE)
    microphone = CardMicrophone("kitchen")
    microphone.start(heard, faults.put)
    heard.wait_until(0)
    suspend = ["pactl", "suspend-sink", "kitchen"]
    subprocess.run([*suspend, "1"], env={**os.environ, **sound_server.environment}, check=True)
    try:
        assert faults.get(timeout=TIMEOUT) == "no sound has moved for 0.2 s"
        microphone.stop()
    finally:
        subprocess.run([*suspend, "0"], env={**os.environ, **sound_server.environment}, check=True)
    assert faults.empty()

    class Blocked:
        def pull(self, count: int, at: float) -> Samples:
            blocked.wait(TIMEOUT)
            return np.zeros(count, np.float32)

    blocked = threading.Event()
    speaker = CardSpeaker("kitchen")
    speaker.start(Blocked(), lambda _: None, faults.put)
    assert faults.get(timeout=TIMEOUT) == "no sound has moved for 0.2 s"
    blocked.set()
    speaker.stop()
    assert faults.empty()


def test_a_card_that_is_unplugged_is_a_fault(cards: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_list, "node_of", lambda _, letter: tmp_path / letter)
    for letter in "cp":
        (tmp_path / letter).touch()
    faults: Queue[str] = Queue()
    microphone, speaker = CardMicrophone("kitchen"), CardSpeaker("kitchen")
    microphone.start(lambda _: None, faults.put)
    speaker.start(Nothing(), lambda _: None, faults.put)
    for letter, device in (("c", microphone), ("p", speaker)):
        assert faults.empty()
        (tmp_path / letter).unlink()
        assert faults.get(timeout=TIMEOUT) == "it was unplugged"
        device.stop()
    assert faults.empty()


def test_a_card_that_takes_nothing_is_named(refuse: Refuse) -> None:
    refuse((), range(1, 100))
    with pytest.raises(ApplianceError, match=r'speaker: the sound card "kitchen" cannot be opened \(Invalid number of'):
        CardSpeaker("kitchen").start(Nothing(), lambda _: None, lambda _: None)


def test_a_card_that_is_busy_is_not_tried_at_every_rate(cards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def busy(_: pyaudio.PyAudio, rate: int, *__: object, **___: object) -> NoReturn:
        tried.append(rate)
        raise OSError(pyaudio.paDeviceUnavailable, "Device unavailable")

    monkeypatch.setattr(pyaudio.PyAudio, "open", busy)
    with pytest.raises(ApplianceError, match=r"cannot be opened \(Device unavailable\)\. See whether another program"):
        CardMicrophone("kitchen").start(lambda _: None, lambda _: None)
    assert tried == [HEARING_RATE]
