"""Taking out of what the microphone hears what the speaker plays, so that the user is heard while it speaks.

Rules:
- The echo is found by the clocks of both cards: for each moment the canceller gets what sounds then, or some hundredths
  of a second later, as far as that is known. A reference that came after its echo would ruin it.
- Where sound was lost, everything begins anew.
- Where nothing of a reply comes back, as the first moments of it show, what the microphone hears goes by untouched: a
  canceller that has yet to learn that there is no echo takes the user for one.
- While nothing sounds, and nothing of it can still be in the room, what the microphone hears goes by untouched, as late
  as it would be otherwise. What the canceller has learned stays.
"""

import math
from typing import Protocol

import numpy as np
from pywebrtc_audio import EchoCanceller as Aec3

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.echopath import EchoPath
from appliance.audio.reference import Reference

BLOCK = HEARING_RATE // 100
"""Samples that the canceller takes at once."""

DELAY = 128
"""Samples by which what comes out of it is later than what goes in."""

LEAD = 0.06
"""Seconds that the reference is ahead at most: it may be half a second, but not a moment late, and the times of some
drivers are off by that much."""

SPARE = 0.005
"""Seconds of what is known beforehand that are left for a thread that is late."""

STALE = 0.5
"""Seconds by which what is known of the speaker lies behind, if no speaker plays."""

RINGS = 1.0
"""Seconds after a sound in which a room, and a driver with a large buffer, may still give it back."""

SETTLING = 1.2
"""Seconds of sound that the canceller needs: after 0.5 to 1 s of speech, all but 1 % of the echo is gone."""

WARM = 10
"""Blocks that go through it before it is used again, so that nothing of the last time comes out."""

LOSS = 0.005
"""Seconds by which a frame may be early or late, and still follow the one before."""


class EchoCanceller(Protocol):
    """What becomes of the microphone's frames. From one thread."""

    @property
    def settled(self) -> bool:
        """Whether what is heard while the speaker plays can be trusted not to be an echo. From any thread."""

    def clean(self, frame: Frame) -> Frame:
        """The frame without the echo. It may hold fewer samples, or more, which belong to the times that it says."""


class Untouched:
    """Nothing is done: the card does it itself, and `settled`, or nobody does."""

    def __init__(self, *, settled: bool) -> None:
        self.settled = settled

    def clean(self, frame: Frame) -> Frame:
        """The frame itself."""
        return frame


class AdaptiveCanceller:
    """WebRTC's AEC3, which learns how the room gives back what `reference` says."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._aec3 = Aec3(HEARING_RATE, 1)
        self._path = EchoPath()
        self._due = -math.inf
        self._begin()

    def _begin(self) -> None:
        self._path.forget()
        self._rest: Samples = np.zeros(0, np.float32)
        self._past: Samples = np.zeros(WARM * BLOCK, np.float32)
        self._heard = 0.0
        """Seconds of the speaker's sound."""
        self._still = math.inf
        """Seconds since something sounded."""
        self._lead = LEAD
        self._share = 0.0
        """How much of what went out last has come out of the canceller: 0 or 1."""

    @property
    def settled(self) -> bool:
        """Whether it has heard enough of the speaker since something was lost, or found that there is no echo."""
        return not self._path.audible or self._heard >= SETTLING

    def clean(self, frame: Frame) -> Frame:
        """The frame without the echo, in whole blocks, and 8 ms later."""
        if abs(frame.at - self._due) > LOSS:
            self._aec3.reset()
            self._begin()
        self._due = frame.at + len(frame.samples) / HEARING_RATE
        at = frame.at - len(self._rest) / HEARING_RATE
        samples = np.concatenate([self._rest, frame.samples])
        whole = len(samples) // BLOCK * BLOCK
        self._rest = samples[whole:]
        self._see_how_far(self._reference.until - self._due)
        cleaned = [
            self._block(samples[first : first + BLOCK], at + first / HEARING_RATE) for first in range(0, whole, BLOCK)
        ]
        return Frame(np.concatenate([np.zeros(0, np.float32), *cleaned]), at - DELAY / HEARING_RATE)

    def _block(self, samples: Samples, at: float) -> Samples:
        length = BLOCK / HEARING_RATE
        was_idle = self._still > RINGS
        sounds = self._reference.sounds(at, at + length + self._lead)
        self._still = 0.0 if sounds else self._still + length
        past, self._past = self._past, np.concatenate([self._past[BLOCK:], samples])
        untouched = self._past[-BLOCK - DELAY : -DELAY]
        power = float(np.dot(samples, samples)) / BLOCK
        if self._still > RINGS:
            self._path.idle(power)
            self._share = 0.0
            return untouched
        if was_idle:
            self._aec3.process(past, np.zeros(len(past), np.float32))
            self._path.begin()
        if sounds:
            self._heard += length
            self._path.listen(power, length)
        cleaned = self._aec3.process(samples, self._reference.take(at + self._lead, BLOCK))
        before, self._share = self._share, float(self._path.audible)
        if before == self._share:
            return cleaned if self._path.audible else untouched
        return untouched + np.linspace(before, self._share, BLOCK, dtype=np.float32) * (cleaned - untouched)

    def _see_how_far(self, known: float) -> None:
        """For how many seconds the speaker's sound is known beyond the microphone's: the lead may be no more."""
        if known >= -STALE:
            self._lead = min(self._lead, max(0.0, known - SPARE))
