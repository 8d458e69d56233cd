"""Another rate for sound that comes in pieces."""

import numpy as np
import soxr

from appliance.audio.devices import Samples


class StreamResampler:
    """One sound, from rate to rate, in pieces of any size: the pieces together are what one call would have given.

    Some 10 to 40 ms are held back for the next piece, and come at last with `flush`. A new sound needs a new one.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        same = source_rate == target_rate
        self._stream = None if same else soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality="HQ")

    def feed(self, samples: Samples) -> Samples:
        """What is ready after the next samples; may be nothing."""
        return samples if self._stream is None else self._stream.resample_chunk(samples)

    def flush(self) -> Samples:
        """What was held back. Nothing may be fed afterwards."""
        nothing = np.zeros(0, np.float32)
        return nothing if self._stream is None else self._stream.resample_chunk(nothing, last=True)
