"""Takes recordings from the microphone, and writes them where the owner has said, and nowhere else."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

import soundfile

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.microphone import CardMicrophone
from appliance.errors import ApplianceError
from appliance.wake.tuning import ROOM

_TAKE = 3.0
"""Seconds in which one wake word is said."""

_PART = 600.0
"""Seconds of the room to a file."""

_STALLED = 3.0
"""Seconds without sound after which the microphone is given up."""


def words(card: str, folder: Path, names: Sequence[str], times: int) -> None:
    """Record each wake word so many times, as the owner says it."""
    with _microphone(card) as sound:
        for name in names:
            phrase = name.replace("_", " ")
            for number in range(1, times + 1):
                sys.stderr.write(f'Say "{phrase}" now ({number} of {times}), near and far, loud and soft.\n')
                with _written(folder / name) as file:
                    for samples in sound(_TAKE):
                        file.write(samples)


def room(card: str, folder: Path, minutes: float) -> None:
    """Record the room; Ctrl-C ends it earlier, and keeps what there is."""
    sys.stderr.write(f"Recording the room for {minutes:g} minutes. Say no wake word. Ctrl-C ends it.\n")
    left = 60 * minutes
    with _microphone(card) as sound:
        try:
            while left > 0:
                with _written(folder / ROOM) as file:
                    for samples in sound(min(left, _PART)):
                        file.write(samples)
                left -= _PART
        except KeyboardInterrupt:
            sys.stderr.write("\n")


class _Sound:
    """What a microphone hears, from when it is asked for."""

    def __init__(self) -> None:
        self._frames: SimpleQueue[Samples] = SimpleQueue()
        self._wanted = threading.Event()

    def hear(self, frame: Frame) -> None:
        if self._wanted.is_set():
            self._frames.put(frame.samples)

    def __call__(self, seconds: float) -> Iterator[Samples]:
        left = round(seconds * HEARING_RATE)
        self._wanted.set()
        try:
            while left > 0:
                try:
                    samples = self._frames.get(timeout=_STALLED)[:left]
                except Empty:
                    raise ApplianceError("microphone", "no sound comes from it", remedy="Plug it in again") from None
                left -= len(samples)
                yield samples
        finally:
            self._wanted.clear()


@contextmanager
def _microphone(card: str) -> Iterator[_Sound]:
    microphone, sound = CardMicrophone(card), _Sound()
    microphone.start(sound.hear, lambda _: None)
    try:
        yield sound
    finally:
        microphone.stop()


@contextmanager
def _written(folder: Path) -> Iterator[soundfile.SoundFile]:
    """A new file in `folder`; OSError becomes an ApplianceError."""
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.monotonic_ns() % 1000:03}.flac"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with soundfile.SoundFile(path, "x", HEARING_RATE, 1) as file:
            yield file
    except (OSError, soundfile.SoundFileError) as error:
        raise ApplianceError(str(path), f"it cannot be written: {error}", remedy="Name another folder") from error
