"""How loud speech is, and what is made of recordings before the room has them."""

import numpy as np
import soxr

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.simulation.sounds import gain

SPEECH_DB = -26.0
"""Level of speech, in dB of full scale, where noise is mixed to it."""

_FRAME = HEARING_RATE // 50
_ACTIVE_DB = 20.0
"""How far below the loud frames a frame may be to count as speech: pauses are 30 dB below and more."""

_LOUD = 95
"""The percentile of the frames that is loud; the very loudest may be a click."""


def speech_db(samples: Samples) -> float:
    """The level of speech in `samples`, without its pauses, in dB of full scale."""
    whole = max(len(samples) // _FRAME, 1) * _FRAME
    padded = np.zeros(whole, np.float64)
    padded[: min(whole, len(samples))] = samples[:whole]
    energies = np.square(padded).reshape(-1, _FRAME).mean(axis=1)
    loud = np.percentile(energies, _LOUD)
    active = energies[energies >= loud / 10 ** (_ACTIVE_DB / 10)]
    return float(10 * np.log10(max(active.mean(), 1e-12)))


def rms_db(samples: Samples) -> float:
    """The level of all of `samples`, in dB of full scale."""
    return float(10 * np.log10(max(float(np.mean(np.square(samples, dtype=np.float64))), 1e-12)))


def at_level(samples: Samples, db: float = SPEECH_DB) -> Samples:
    """`samples`, in which speech is as loud as `db`; clipped as a sound card would."""
    louder: Samples = samples * np.float32(gain(db - speech_db(samples)))
    return np.clip(louder, -1.0, 1.0, out=louder)


def noise_db(snr_db: float) -> float:
    """The level of a noise that is `snr_db` below speech `at_level`."""
    return SPEECH_DB - snr_db


def as_another(samples: Samples, pitch: float) -> Samples:
    """`samples` as from another speaker: higher and faster by the factor `pitch`."""
    return np.asarray(soxr.resample(samples, HEARING_RATE * pitch, HEARING_RATE), dtype=np.float32)


def rumble(seconds: int) -> Samples:
    """Noise that is loud where it is low, as that of rooms is, at -12 dB of full scale."""
    spectrum = np.fft.rfft(np.random.default_rng(2).standard_normal(seconds * HEARING_RATE))
    spectrum[0] = 0
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    noise = np.fft.irfft(spectrum).astype(np.float32)
    quiet: Samples = noise / (4 * noise.std())
    return quiet
