"""A card drops what it holds, and goes on: what is heard then, on a real sound server, and what can go wrong."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pyaudio
import pytest

from appliance.audio import watch
from appliance.audio.devices import Frame, Samples
from appliance.audio.speaker import BLOCK, CardSpeaker
from appliance.bench.tape import Recording, Tape
from tests.audio.recorder import TIMEOUT
from tests.sound_server import SoundServer, running_sound_server

LENGTH = 24_000
"""Samples of a sound, half a second; each has a level of its own, by which it is known."""
ATTEMPTS = 10
"""A machine that is too busy to keep up loses sound, for which nothing here can be blamed; but not every time."""


class Sounds:
    """A source with one sound after the other, of alternating sign. Each but the last is dropped when told."""

    def __init__(self) -> None:
        self._ramp = np.linspace(0.1, 0.9, LENGTH, dtype=np.float32)
        self._number = 0
        self._given = 0
        self._nones = 0
        self._pulled = threading.Condition()
        self.starts: list[float] = []
        """When the first sample of each sound was to be heard."""
        self.given: list[int] = []
        """How many samples of each sound the card got."""

    def drop(self, nones: int = 1) -> None:
        """From now on, and `nones` pulls later, it is the turn of the next sound."""
        with self._pulled:
            self.given.append(self._given)
            self._nones = nones
            self._number += 1
            self._given = 0
            assert self._pulled.wait_for(lambda: not self._nones, TIMEOUT)

    def wait(self, share: float) -> None:
        """Until so much of the current sound was handed to the card, and a second of silence after the whole."""
        with self._pulled:
            assert self._pulled.wait_for(lambda: self._given >= (LENGTH * share if share < 1 else 3 * LENGTH), TIMEOUT)

    def pull(self, count: int, at: float) -> Samples | None:
        with self._pulled:
            self._pulled.notify_all()
            if self._nones:
                self._nones -= 1
                return None
            if not self._given:
                self.starts.append(at)
            samples = np.zeros(count, np.float32)
            part = self._ramp[self._given : self._given + count]
            samples[: len(part)] = -part if self._number % 2 else part
            self._given += count
            return samples


class Silence:
    """A source that gives None as often as it is told."""

    def __init__(self, nones: int, before: Callable[[], None] = lambda: None) -> None:
        self.nones = nones
        self.over = threading.Event()
        self._before = before

    def pull(self, count: int, at: float) -> Samples | None:
        if not self.nones:
            self.over.set()
            return np.zeros(count, np.float32)
        self.nones -= 1
        self._before()
        return None


@pytest.fixture
def faults() -> Queue[str]:
    return Queue()


@pytest.fixture
def speaker(cards: None, faults: Queue[str]) -> Iterator[CardSpeaker]:
    """Whatever happens to it, at its end its threads are gone, and no fault was told that the test did not take."""
    speaker = CardSpeaker("kitchen")
    yield speaker
    speaker.stop()
    assert faults.empty()
    assert not {thread.name for thread in threading.enumerate()} & {"speaker", "card watch"}


def ignore(_: Frame) -> None:
    pass


def recorded(speaker: CardSpeaker, faults: Queue[str], sounds: Sounds, drops: int, nones: int = 1) -> Recording:
    """What is heard of so many sounds that are dropped in their middle, and of one that is not."""
    tape = Tape("kitchen")
    speaker.start(sounds, ignore, faults.put)
    for _ in range(drops):
        sounds.wait(0.2)
        sounds.drop(nones)
    sounds.wait(1)
    speaker.stop()
    return tape.stop()


def runs(recording: Recording) -> list[Samples]:
    """Which sample of its sound each is that is not silent, for each run of one sign."""
    samples = recording.samples[np.abs(recording.samples) > 0.05]
    ends = np.flatnonzero(np.diff(np.sign(samples))) + 1
    return [(np.abs(run) - np.float32(0.1)) / np.float32(0.8) * (LENGTH - 1) for run in np.split(samples, ends)]


@pytest.mark.parametrize("nones", [1, 3])
def test_what_was_dropped_never_sounds_and_the_next_sound_does(
    speaker: CardSpeaker, faults: Queue[str], nones: int
) -> None:
    wrong = ["never tried"]
    while wrong and len(wrong) <= ATTEMPTS:
        sounds = Sounds()
        heard = runs(recorded(speaker, faults, sounds, 20, nones))
        assert len(heard) == 21, "nothing of a sound is heard after the next one has begun"
        for run in heard:
            assert np.diff(run).min() > -2, "nothing is heard twice, but for what 16 bits do not tell apart"
        assert all(run[-1] < given for run, given in zip(heard, sounds.given, strict=False))
        wrong = [f"sound {n} begins with {run[0]}" for n, run in enumerate(heard) if run[0] > 2]
        wrong += [f"{len(heard[-1])} samples of the last sound"] * (abs(len(heard[-1]) - LENGTH) > 2)
    assert not wrong


def test_what_the_card_holds_is_dropped(speaker: CardSpeaker, faults: Queue[str]) -> None:
    least = [0.0]
    while least[-1] < BLOCK / 2 * speaker.rate and len(least) <= ATTEMPTS:
        sounds = Sounds()
        heard = runs(recorded(speaker, faults, sounds, 20))
        least.append(min(given - run[-1] for run, given in zip(heard, sounds.given, strict=False)))
    assert least[-1] >= BLOCK / 2 * speaker.rate, f"{least} samples that were handed over were not heard"


def test_times_are_right_after_a_drop(speaker: CardSpeaker, faults: Queue[str]) -> None:
    worst = [1.0]
    while worst[-1] > 0.01 and len(worst) <= ATTEMPTS:
        sounds = Sounds()
        recording = recorded(speaker, faults, sounds, 20)
        signs = np.sign(recording.samples) * (np.abs(recording.samples) > 0.05)
        loud = np.flatnonzero(signs)
        begins = loud[np.flatnonzero(np.diff(signs[loud], prepend=0))]
        late = begins / recording.rate - np.array(sounds.starts)
        worst.append(float(np.ptp(late)))
    assert worst[-1] <= 0.01, worst


def test_a_drop_is_no_fault(speaker: CardSpeaker, faults: Queue[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "CHECK", 0.0005)
    source = Silence(200)
    speaker.start(source, ignore, faults.put)
    assert source.over.wait(TIMEOUT)


def test_two_thousand_drops_leave_nothing_behind(speaker: CardSpeaker, faults: Queue[str]) -> None:
    def held() -> tuple[int, int, int]:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return len(list(Path("/proc/self/task").iterdir())), len(list(Path("/proc/self/fd").iterdir())), pages

    def after(drops: int) -> tuple[int, int, int]:
        source = Silence(drops)
        speaker.start(source, ignore, faults.put)
        assert source.over.wait(TIMEOUT)
        result = held()
        speaker.stop()
        return result

    before, afterwards = after(200), after(2_000)
    assert afterwards[:2] <= before[:2]
    assert afterwards[2] - before[2] < 500, "pages of memory"


def test_stop_in_the_middle_of_a_drop(speaker: CardSpeaker, faults: Queue[str]) -> None:
    for _ in range(20):
        dropping = threading.Event()
        speaker.start(Silence(10_000, dropping.set), ignore, faults.put)
        assert dropping.wait(TIMEOUT)
        speaker.stop()


def refuse(*_: object, **__: object) -> None:
    raise OSError(pyaudio.paUnanticipatedHostError, "Unanticipated host error")


def test_a_card_that_does_not_start_again_is_opened_again(
    speaker: CardSpeaker, faults: Queue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real_open, real_stop = pyaudio.PyAudio.open, pyaudio.PyAudio.Stream.stop_stream

    def refuse_to_stop(stream: Any) -> None:
        real_stop(stream)
        stream.close()  # as PyAudio does when PortAudio fails
        refuse()

    def counted_open(*args: Any, **kwargs: Any) -> Any:
        opened.append(args)
        return real_open(*args, **kwargs)

    monkeypatch.setattr(pyaudio.PyAudio.Stream, "stop_stream", refuse_to_stop)
    monkeypatch.setattr(pyaudio.PyAudio, "open", counted_open)
    source = Silence(5)
    speaker.start(source, ignore, faults.put)
    assert source.over.wait(TIMEOUT)
    assert len(opened) == 6


def test_a_card_that_is_gone_after_the_drop_is_one_fault(
    speaker: CardSpeaker, faults: Queue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanish() -> None:
        monkeypatch.setattr(pyaudio.PyAudio.Stream, "start_stream", refuse)
        monkeypatch.setattr(pyaudio.PyAudio, "open", refuse)

    speaker.start(Silence(1, vanish), ignore, faults.put)
    assert faults.get(timeout=TIMEOUT) == "the card does not play any more: see whether it is still plugged in"


def play_until_the_server_dies(faults: Connection) -> None:
    """All faults of a speaker whose server dies at the very moment of the drop, and that is stopped then."""
    watch.STALLED = 0.2
    with running_sound_server() as server:
        os.environ.update(server.environment)
        speaker, told = CardSpeaker("kitchen"), Queue[str]()
        speaker.start(Silence(1, server.process.kill), ignore, told.put)
        faults.send(told.get(timeout=TIMEOUT))
        speaker.stop()
        while not told.empty():
            faults.send(told.get())
    faults.close()


@pytest.mark.usefixtures("sound_server")
def test_a_server_that_dies_during_the_drop_is_one_fault() -> None:
    # In a process of its own, for PortAudio 19.6 waits for ever for a card that could not be started.
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=play_until_the_server_dies, args=(theirs,))
    process.start()
    theirs.close()
    assert ours.poll(TIMEOUT)
    assert ours.recv() in {
        "no sound has moved for 0.2 s",
        "the card does not play any more: see whether it is still plugged in",
    }
    with pytest.raises(EOFError):
        ours.recv()
    process.join(TIMEOUT)
    assert process.exitcode == 0


def test_a_server_that_hangs_during_the_drop_is_one_fault_and_does_not_hold_up_stop(
    sound_server: SoundServer, faults: Queue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "STALLED", 0.2)
    with running_sound_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        speaker = CardSpeaker("kitchen")
        hang = partial(server.process.send_signal, signal.SIGSTOP)
        speaker.start(Silence(1, hang), ignore, faults.put)
        (thread,) = (thread for thread in threading.enumerate() if thread.name == "speaker")
        try:
            assert faults.get(timeout=TIMEOUT) == "no sound has moved for 0.2 s"
            speaker.stop()
            assert thread.is_alive()
        finally:
            server.process.send_signal(signal.SIGCONT)
        thread.join(TIMEOUT)
        assert not thread.is_alive()
        assert faults.empty()
