"""Another rate for sound that comes in pieces."""

import math

import numpy as np

from appliance.audio.devices import Samples, Source


class StreamResampler:
    """One sound, from rate to rate, in pieces of any size: the pieces together are what one call would have given.

    Some 10 to 40 ms are held back for the next piece, and come at last with `flush`. A new sound needs a new one.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        self._stream = None
        if source_rate != target_rate:
            import soxr  # not everywhere where sound cards are tried

            self._stream = soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality="HQ")

    def feed(self, samples: Samples) -> Samples:
        """What is ready after the next samples; may be nothing."""
        return samples if self._stream is None else self._stream.resample_chunk(samples)

    def flush(self) -> Samples:
        """What was held back. Nothing may be fed afterwards."""
        nothing = np.zeros(0, np.float32)
        return nothing if self._stream is None else self._stream.resample_chunk(nothing, last=True)


class ResampledSource:
    """A `Source` at the rate of a card, of one at another rate, which is told of each sample when it really sounds.

    What is held back on the way is dropped together with what the card holds.
    """

    def __init__(self, source: Source, source_rate: int, rate: int) -> None:
        self._source = source
        self._source_rate = source_rate
        self._rate = rate
        self._resampler = StreamResampler(source_rate, rate)
        self._ready: Samples = np.zeros(0, np.float32)
        self._pulled = 0
        self._given = 0

    def pull(self, count: int, at: float) -> Samples | None:
        """Exactly `count` samples, the first of which will sound at `at`; None: drop what was pulled before."""
        asked = False
        while not asked or len(self._ready) < count:
            ahead = self._pulled / self._source_rate - self._given / self._rate
            # One at least, though enough may be ready: a drop must not wait until that is used up.
            wanted = max(1, math.ceil((count - len(self._ready)) * self._source_rate / self._rate))
            samples = self._source.pull(wanted, at + ahead)
            if samples is None:
                self._resampler = StreamResampler(self._source_rate, self._rate)
                self._ready = np.zeros(0, np.float32)
                self._pulled = self._given = 0
                return None
            asked = True
            self._pulled += wanted
            self._ready = np.concatenate([self._ready, self._resampler.feed(samples)])
        self._given += count
        samples, self._ready = self._ready[:count], self._ready[count:]
        return samples
