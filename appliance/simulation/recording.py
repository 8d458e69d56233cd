"""Recordings of any kind, as the room has its sound: 16 kHz mono."""

from pathlib import Path

import numpy as np
import soundfile
import soxr

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import BadInputError

LONGEST = 3600.0
"""Seconds that a recording may last: it is held in memory."""

_RATES = range(1_000, 768_001)


def problem_of(path: Path) -> str | None:
    """Why `path` cannot be used, judged by its beginning; None if it can."""
    try:
        if not path.is_file():
            return "there is no such file"
        info = soundfile.info(path)
    except (OSError, ValueError, soundfile.SoundFileError) as error:
        return f"cannot be read as sound ({str(error).replace(str(path), path.name)})"
    if info.samplerate not in _RATES:
        return f"has {info.samplerate} samples per second; allowed: {_RATES[0]} to {_RATES[-1]}"
    if info.frames == 0:
        return "holds no sound"
    if info.frames > LONGEST * info.samplerate:
        return f"lasts {info.frames / info.samplerate:.0f} s; allowed: at most {LONGEST:.0f} s"
    return None


def load(path: Path) -> Samples:
    """The whole of `path`, its channels averaged. Raises BadInputError."""
    wrong = problem_of(path)
    if wrong:
        raise BadInputError(str(path), wrong)
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise BadInputError(str(path), f"is damaged ({error})") from error
    if not samples.size or not np.isfinite(samples).all():
        raise BadInputError(str(path), "is damaged: not all of its samples are numbers")
    return at_room_rate(samples.mean(axis=1), rate)


def at_room_rate(samples: Samples, rate: int) -> Samples:
    """`samples` of any rate as 16 kHz."""
    if rate == HEARING_RATE:
        return samples
    return np.asarray(soxr.resample(samples, rate, HEARING_RATE), dtype=np.float32)
