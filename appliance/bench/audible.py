"""Where a spoken text begins and ends."""

import numpy as np

from appliance.audio.devices import Samples

AUDIBLE = 0.01
"""Share of the peak, -40 dB, from which on a sample is heard."""


def audible(samples: Samples) -> Samples:
    """From the first to the last sample that is heard."""
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max() * AUDIBLE)
    return samples[loud[0] : loud[-1] + 1]
