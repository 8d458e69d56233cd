"""Speech at one loudness, that begins at once and never clips."""

import numpy as np

from appliance.audio.devices import Samples

LOUDNESS = 0.12
"""Root mean square of what is loud enough to be speech. Ordinary speech then peaks at about 0.7."""

PEAK = 0.89
"""One decibel below full scale: what resampling and the card may add fits in between."""

LEAD = 0.02
"""Seconds that are kept before the first sound."""

_SPEECH = 0.05
"""Of the peak; what is quieter is a pause between sounds."""
_AUDIBLE = 0.02
"""Of the peak; where the first sound begins."""


def level(speech: Samples) -> Samples:
    """`speech` at `LOUDNESS`, or as loud as `PEAK` allows. Silence stays silence."""
    size = np.abs(speech)
    peak = float(size.max(initial=0))
    if peak == 0:
        return speech
    loud = speech[size >= peak * _SPEECH]
    return speech * np.float32(min(LOUDNESS / float(np.sqrt(np.mean(loud**2))), PEAK / peak))


def trim_lead(speech: Samples, rate: int) -> Samples:
    """`speech` without the silence in front of it, save for `LEAD`."""
    size = np.abs(speech)
    audible = size > _AUDIBLE * size.max(initial=0)
    return speech[max(0, int(audible.argmax()) - round(LEAD * rate)) :] if audible.any() else speech
