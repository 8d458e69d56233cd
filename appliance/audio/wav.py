"""Sound files."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from appliance.audio.devices import Samples
from appliance.errors import ApplianceError, BadInputError


def read_mono(path: Path, rate: int) -> Samples:
    """All of a WAV or FLAC file of any rate, width and number of channels, as mono samples at `rate`.

    BadInputError: it is missing, not a sound file, or empty.
    """
    try:
        with path.open("rb") as file:
            samples, own_rate = soundfile.read(file, dtype="float32", always_2d=True)
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read ({error.strerror})") from error
    except soundfile.LibsndfileError as error:
        raise BadInputError(
            str(path), f"is not a sound file that can be read ({error.error_string})", allowed="WAV or FLAC"
        ) from error
    if not len(samples):
        raise BadInputError(str(path), "has no sound in it")
    mono: Samples = samples.mean(axis=1, dtype=np.float32)
    return mono if own_rate == rate else soxr.resample(mono, own_rate, rate)


def write_wav(path: Path, samples: npt.NDArray[np.float32], rate: int) -> None:
    """Write a WAV file of 16-bit samples; one dimension is mono, two are samples by channels. Loud samples are clipped.

    ApplianceError: it cannot be written.
    """
    try:
        with path.open("wb") as file:
            soundfile.write(file, samples, rate, format="WAV", subtype="PCM_16")
    except OSError as error:
        raise ApplianceError(str(path), f"cannot be written ({error.strerror})") from error
