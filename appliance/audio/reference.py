"""What the speaker plays, by the time at which it sounds: the echo that the microphone will hear.

It is tapped where samples are handed to the card, so it is known before it sounds. What the card dropped never sounds,
and is forgotten.
"""

import math
import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.resample import StreamResampler

KEPT = 3.0
"""Seconds of it that can be asked for."""

AUDIBLE = 1e-3
"""The peak, -60 dB of full scale, from which on a frame is a sound."""

_JUMP = 0.005
"""Seconds by which a frame is too early or too late to follow the one before: some were dropped, or never played."""

_ROUNDING = 1e-6
"""Seconds that are no gap."""

_RINGS = 0.1
"""Seconds of silence after which no filter holds anything of a sound any more."""


@dataclass(frozen=True, slots=True)
class _Piece:
    at: float
    samples: Samples

    @property
    def end(self) -> float:
        return self.at + len(self.samples) / HEARING_RATE


class Reference:
    """Of a speaker with so many samples per second. From any thread; frames are added by one of them, in order."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._pieces: deque[_Piece] = deque()
        self._sounding: deque[tuple[float, float]] = deque()
        """From when to when there was sound, or will be."""
        self._until = -math.inf
        self._resampler: StreamResampler | None = None
        self._taken = self._given = 0
        """Samples that went into the resampler, and came out."""
        self._silent = math.inf
        """Seconds of silence before what comes next."""

    @property
    def until(self) -> float:
        """Up to when it is known what sounds."""
        with self._lock:
            return self._until

    def add(self, frame: Frame) -> None:
        """The next frame that the card was given, at the speaker's own rate."""
        with self._lock:
            if abs(frame.at - self._until) > _JUMP:
                self._cut(frame.at)
            length = len(frame.samples) / self._rate
            self._until = frame.at + length
            peak = float(np.abs(frame.samples).max()) if len(frame.samples) else 0.0
            self._silent = 0.0 if peak > 0 else self._silent + length
            if self._silent < _RINGS:
                self._keep(frame)
            else:
                self._resampler = None
            if peak >= AUDIBLE:
                self._note(frame.at)
            self._forget()

    def take(self, begin: float, count: int) -> Samples:
        """What sounds from `begin` on, in 16 kHz; silence where nothing does, or nothing is known."""
        taken = np.zeros(count, np.float32)
        with self._lock:
            pieces = [each for each in self._pieces if each.end > begin and each.at < begin + count / HEARING_RATE]
        for piece in pieces:
            first = round((piece.at - begin) * HEARING_RATE)
            samples = piece.samples[max(0, -first) : max(0, count - first)]
            first = max(0, first)
            taken[first : first + len(samples)] = samples
        return taken

    def sounds(self, begin: float, end: float) -> bool:
        """Whether anything audible was played between two times, or is going to be."""
        with self._lock:
            return any(since < end and until > begin for since, until in self._sounding)

    def _keep(self, frame: Frame) -> None:
        if self._rate == HEARING_RATE:
            self._append(_Piece(frame.at, frame.samples))
            return
        if self._resampler is None:
            self._resampler = StreamResampler(self._rate, HEARING_RATE)
            self._taken = self._given = 0
        held_back = self._taken / self._rate - self._given / HEARING_RATE
        samples = self._resampler.feed(frame.samples)
        self._taken += len(frame.samples)
        self._given += len(samples)
        if len(samples):
            self._append(_Piece(frame.at - held_back, samples))

    def _append(self, piece: _Piece) -> None:
        """Of two clocks one runs a little faster: no hole may come of it, however times are rounded."""
        if self._pieces and _ROUNDING < piece.at - self._pieces[-1].end < 2 / HEARING_RATE:
            last = self._pieces.pop()
            self._pieces.append(_Piece(last.at, np.append(last.samples, last.samples[-1])))
        self._pieces.append(piece)

    def _note(self, at: float) -> None:
        if self._sounding and at - self._sounding[-1][1] <= _JUMP:
            at, _ = self._sounding.pop()
        self._sounding.append((at, self._until))

    def _cut(self, at: float) -> None:
        """What was to sound from `at` on never will."""
        self._resampler = None
        while self._pieces and self._pieces[-1].end > at:
            last = self._pieces.pop()
            left = last.samples[: max(0, round((at - last.at) * HEARING_RATE))]
            if len(left):
                self._pieces.append(_Piece(last.at, left))
                break
        while self._sounding and self._sounding[-1][1] > at:
            since, _ = self._sounding.pop()
            if since < at:
                self._sounding.append((since, at))

    def _forget(self) -> None:
        old = self._until - KEPT
        while self._pieces and self._pieces[0].end < old:
            self._pieces.popleft()
        while self._sounding and self._sounding[0][1] < old:
            self._sounding.popleft()
