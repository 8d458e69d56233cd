"""Numbered samples, with voice and wake words where a script says."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.hearing.wake import Detection, WakeWords

BASE = 50.0
"""The time of the first sample."""

Stretch = tuple[float, float]
"""Voice between two times."""


class ScriptedVoice(VoiceActivity):
    """Each sample is its own number; voice is where the script says."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self.resets = -1
        self.reset()

    def reset(self) -> None:
        self._pending = np.empty(0, np.float32)
        self.resets += 1

    def feed(self, samples: Samples) -> list[float]:
        pending = np.concatenate([self._pending, samples])
        whole = len(pending) // WINDOW * WINDOW
        ends, self._pending = pending[:whole][WINDOW - 1 :: WINDOW], pending[whole:]
        times = [BASE + (end + 1) / HEARING_RATE for end in ends]
        return [0.9 if any(begin < time <= end for begin, end in self._stretches) else 0.1 for time in times]


class ScriptedWake(WakeWords):
    """Recognises the word at the given times."""

    def __init__(self, times: Sequence[float] = ()) -> None:
        self._numbers = [round((time - BASE) * HEARING_RATE) for time in times]
        self.scores = {}

    def reset(self) -> None:
        pass

    def feed(self, samples: Samples, threshold: float = 0.0) -> list[Detection]:
        offsets = [number - int(samples[0]) for number in self._numbers]
        return [Detection("alexa", 0.9, offset) for offset in offsets if 0 < offset <= len(samples)]


def frames(seconds: float, sizes: Iterable[int] = (320,), first: int = 0) -> Iterator[Frame]:
    """Numbered samples from number `first` on."""
    total = round(seconds * HEARING_RATE)
    sizes = iter(cycle(sizes))
    while first < total:
        end = min(total, first + next(sizes))
        yield Frame(np.arange(first, end, dtype=np.float32), BASE + first / HEARING_RATE)
        first = end
