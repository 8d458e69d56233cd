"""Keeps the frames that a device hands over."""

import threading
from itertools import pairwise

import numpy as np

from appliance.audio.devices import Frame, Samples

TIMEOUT = 60.0
"""Seconds after which what was waited for does not come any more."""


class Recorder:
    """To be given as `on_frame`."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.frames: list[Frame] = []
        self._arrived = threading.Condition()
        self._held_up = 0.0

    def hold_up(self, seconds: float) -> None:
        """The next frame takes so long."""
        self._held_up = seconds

    def __call__(self, frame: Frame) -> None:
        held_up, self._held_up = self._held_up, 0.0
        threading.Event().wait(held_up)
        with self._arrived:
            self.frames.append(frame)
            self._arrived.notify_all()

    def wait_until(self, at: float) -> None:
        """Wait until there is sound later than `at`."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.frames and self.frames[-1].at > at, TIMEOUT)

    def wait_for_sound(self, level: float) -> None:
        """Wait until the latest frame is as loud as `level`, which it may have been before."""
        with self._arrived:
            assert self._arrived.wait_for(
                lambda: self.frames and np.abs(self.frames[-1].samples).max() > level, TIMEOUT
            )

    def between(self, start: float, end: float) -> Samples:
        """What sounded from `start` to `end`: as it came, only its beginning is found by a stamp."""
        frames = [frame for frame in self.frames if frame.at + len(frame.samples) / self.rate > start]
        first = round((start - frames[0].at) * self.rate)
        assert first >= 0
        return np.concatenate([frame.samples for frame in frames])[first : first + round((end - start) * self.rate)]

    def last_sound(self, level: float) -> float:
        """When the last sample above `level` sounded."""
        for frame in reversed(self.frames):
            loud = np.flatnonzero(np.abs(frame.samples) > level)
            if len(loud):
                return frame.at + float(loud[-1]) / self.rate
        raise AssertionError("nothing sounded")

    def steps(self) -> list[float]:
        """How much later than its predecessor's last sample each frame begins."""
        return [after.at - before.at - len(before.samples) / self.rate for before, after in pairwise(list(self.frames))]
