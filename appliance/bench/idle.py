"""What listening for the wake word costs while nobody speaks."""

import time
from pathlib import Path
from typing import Literal

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.frontend import FrontEnd
from appliance.bench.figures import Figure, Result
from appliance.bench.mixing import rumble
from appliance.config.schema import Settings
from appliance.core.endpoint import EndpointSettings
from appliance.hearing.ears import Ears
from appliance.hearing.vad import VoiceActivity
from appliance.hearing.wake import WakeWords

SECONDS = 60
FRAME = HEARING_RATE // 50


def measure(settings: Settings, models: Path) -> Result:
    """Processor time of hearing a minute of a quiet room, and of one in which something can always be heard."""
    rooms = {"quiet": _quiet(), "noisy": _noisy()}
    front_ends: dict[str, tuple[Literal["none", "cancel"], float]] = {
        "": ("none", 3),
        ", echo cancellation": ("cancel", 5),
    }
    figures = [
        Figure(f"{room} room{how}", _share(settings, models, sound, echo), "% of a core", aim)
        for how, (echo, aim) in front_ends.items()
        for room, sound in rooms.items()
    ]
    return Result(
        "idle",
        f"processor time to hear {SECONDS} s of a room in which nobody speaks, by those {SECONDS} s (frames of 20 ms, "
        f"{len(settings.wake.words)} wake word(s), voice activity): quiet is a hiss at -80 dBFS, noisy a noise of up "
        "to -28 dBFS whose level goes up and down twice a second, so that there is always something to hear",
        tuple(figures),
    )


def _share(settings: Settings, models: Path, sound: Samples, echo: Literal["none", "cancel"]) -> float:
    front_end = FrontEnd(HEARING_RATE, echo, automatic_gain=False)
    ears = Ears(
        WakeWords(models, settings.wake.scores, settings.wake.refractory),
        VoiceActivity(models),
        EndpointSettings(),
        lambda _: None,
    )
    began = time.process_time()
    for begin in range(0, len(sound), FRAME):
        ears.feed(front_end.process(Frame(sound[begin : begin + FRAME], begin / HEARING_RATE)))
    return 100 * (time.process_time() - began) / SECONDS


def _quiet() -> Samples:
    quiet: Samples = (np.random.default_rng(0).standard_normal(SECONDS * HEARING_RATE) * 1e-4).astype(np.float32)
    return quiet


def _noisy() -> Samples:
    times = np.arange(SECONDS * HEARING_RATE) / HEARING_RATE
    swell: Samples = (10 ** np.sin(4 * np.pi * times) / 60).astype(np.float32)
    return rumble(SECONDS) * swell
