"""The room: what is said, the noise, and the echo of the speaker, mixed for the microphone, sample by sample.

In each block of 10 ms the microphone hands over the block before, as a sound card does, the button is pressed if it is
time, and the speaker's source gives the samples that sound in this block.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples, Source
from appliance.simulation.scenario import Acoustics, Llm, Press, Say
from appliance.simulation.script import BLOCK, Script
from appliance.simulation.sounds import gain, noise

SILENT = 1e-3
"""What the speaker plays is silence up to this peak."""


class RoomMicrophone:
    """A Microphone that hears the room."""

    name = "room"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._on_frame: Callable[[Frame], None] | None = None

    def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """From the next block on. A room has no faults."""
        with self._lock:
            self._on_frame = on_frame

    def stop(self) -> None:
        """No frame after this has returned."""
        with self._lock:
            self._on_frame = None

    def hear(self, frame: Frame) -> None:
        """The room's sound."""
        with self._lock:
            if self._on_frame:
                self._on_frame(frame)


class RoomSpeaker:
    """A Speaker that plays into the room."""

    name = "room"
    rate = HEARING_RATE
    drops = False  # what was pulled sounds in this very block

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._playing: tuple[Source, Callable[[Frame], None]] | None = None

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """From the next block on. A room has no faults."""
        with self._lock:
            self._playing = source, on_frame

    def stop(self) -> None:
        """Silent when this returns."""
        with self._lock:
            self._playing = None

    def play(self, at: float) -> Samples:
        """The block that sounds at `at`."""
        with self._lock:
            if self._playing is None:
                return np.zeros(BLOCK, np.float32)
            source, on_frame = self._playing
            samples = source.pull(BLOCK, at)
            if samples is None:  # there is nothing left to drop
                samples = np.zeros(BLOCK, np.float32)
            on_frame(Frame(samples, at))
            return samples


class RoomButton:
    """The push button."""

    trouble = None

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._on: tuple[Callable[[float], None], Callable[[float], None]] | None = None

    @property
    def works(self) -> bool:
        """Whether a press tells anybody."""
        return self._on is not None

    def start(self, on_press: Callable[[float], None], on_release: Callable[[float], None]) -> None:
        """Tell the time of each press, and of its end, from the room's thread."""
        with self._lock:
            self._on = on_press, on_release

    def stop(self) -> None:
        """No press after this has returned."""
        with self._lock:
            self._on = None

    def press(self, at: float) -> None:
        """Somebody presses."""
        with self._lock:
            if self._on:
                self._on[0](at)

    def let_go(self, at: float) -> None:
        """Nobody presses any more."""
        with self._lock:
            if self._on:
                self._on[1](at)


@dataclass(frozen=True, slots=True)
class Done:
    """A step as it was carried out, from `begin` to `end` in seconds."""

    step: Say | Press | Llm
    begin: float
    end: float


def no_model(_: Llm) -> None:
    """There is none to do it."""


class Room:
    """Carries a scenario out. `keep` gets each block of the microphone and of the speaker; `model`, what the language
    model's server does."""

    def __init__(
        self,
        acoustics: Acoustics,
        script: Script,
        sounds: Sequence[Samples],
        keep: Callable[[Samples, Samples], None],
        model: Callable[[Llm], None] = no_model,
    ) -> None:
        """`sounds`: what each step sounds like, as from `sounds.said`. BadInputError if the noise cannot be used."""
        self.microphone = RoomMicrophone()
        self.speaker = RoomSpeaker()
        self.button = RoomButton()
        self.done: list[Done] = []
        self._script = script
        self._sounds = sounds
        self._keep = keep
        self._model = model
        self._noise = noise(acoustics)
        self._echo_gain = np.float32(0.0 if acoustics.echo_db is None else gain(acoustics.echo_db))
        self._played = np.zeros(round(acoustics.echo_delay_ms * HEARING_RATE / 1000) + BLOCK, np.float32)
        self._voices: list[tuple[int, Samples]] = []
        self._releases: list[float] = []
        self._begin = -BLOCK
        self._heard: Frame | None = None

    def clock(self) -> float:
        """When the block that sounds now began, in seconds; the clock of all frames."""
        return max(self._begin, 0) / HEARING_RATE

    def step(self) -> bool:
        """One block of sound. Whether there is more to come."""
        self._begin += BLOCK
        begin, at = self._begin, self._begin / HEARING_RATE
        if self._heard is not None:
            self.microphone.hear(self._heard)
        busy = self._start_steps(begin) or bool(self._voices) or bool(self._releases)
        played = self.speaker.play(at)
        heard = self._mix(begin, played)
        self._keep(heard, played)
        self._heard = Frame(heard, at)
        sounding = bool(np.abs(played).max() > SILENT)
        return not self._script.over(begin + BLOCK, speaking=busy, sounding=sounding)

    def _start_steps(self, begin: int) -> bool:
        while self._releases and self._releases[0] <= begin / HEARING_RATE:
            self._releases.pop(0)
            self.button.let_go(begin / HEARING_RATE)
        cues = self._script.starting(begin, begin + BLOCK)
        for cue in cues:
            at = cue.begin / HEARING_RATE
            if isinstance(cue.step, Press):
                self.done.append(Done(cue.step, at, at + cue.step.hold))
                self.button.press(at)
                self._releases = sorted([*self._releases, at + cue.step.hold])
            elif isinstance(cue.step, Llm):
                self.done.append(Done(cue.step, at, at))
                self._model(cue.step)
            else:
                sound = self._sounds[cue.index]
                self.done.append(Done(cue.step, at, at + len(sound) / HEARING_RATE))
                self._voices.append((cue.begin, sound))
        return bool(cues)

    def _mix(self, begin: int, played: Samples) -> Samples:
        """The block that the microphone hears from `begin` on."""
        heard = np.take(self._noise, np.arange(begin, begin + BLOCK), mode="wrap")
        for start, sound in self._voices:
            first, last = max(start, begin), min(start + len(sound), begin + BLOCK)
            heard[first - begin : last - begin] += sound[first - start : last - start]
        self._voices = [(start, sound) for start, sound in self._voices if start + len(sound) > begin + BLOCK]
        self._played[:-BLOCK] = self._played[BLOCK:]
        self._played[-BLOCK:] = played
        heard += self._echo_gain * self._played[:BLOCK]
        return np.clip(heard, -1.0, 1.0, out=heard)

    def run_realtime(self, stop: threading.Event) -> None:
        """Block by block in real time, in this thread, until the scenario is over or `stop` is set.

        Each block has its own time, so that nothing adds up, and one that is late is caught up on.
        """
        began = time.monotonic()
        more = True
        while more and not stop.is_set():
            more = self.step()
            stop.wait(max(0.0, began + (self._begin + BLOCK) / HEARING_RATE - time.monotonic()))

    async def run_fast(self) -> None:
        """Block by block on the clock of the running loop, until the scenario is over."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while self.step():  # noqa: ASYNC110  # it is time itself that is waited for
            await asyncio.sleep(began + (self._begin + BLOCK) / HEARING_RATE - loop.time())
