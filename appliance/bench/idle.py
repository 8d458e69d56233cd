"""What listening for the wake word costs while nobody speaks."""

import time
from pathlib import Path

import numpy as np

from appliance.audio.devices import HEARING_RATE, Frame
from appliance.bench.figures import Figure, Result
from appliance.config.schema import Settings
from appliance.core.endpoint import EndpointSettings
from appliance.hearing.ears import Ears
from appliance.hearing.vad import VoiceActivity
from appliance.hearing.wake import WakeWords

SECONDS = 60
FRAME = HEARING_RATE // 50


def measure(settings: Settings, models: Path) -> Result:
    """Processor time of wake word and voice activity over a minute of a quiet room, as a share of that minute."""
    ears = Ears(
        WakeWords(models, settings.wake.scores, settings.wake.refractory),
        VoiceActivity(models),
        EndpointSettings(),
        lambda _: None,
    )
    hiss = (np.random.default_rng(0).standard_normal(FRAME * 50) * 1e-4).astype(np.float32)
    frames = [hiss[n * FRAME : (n + 1) * FRAME] for n in range(50)]
    began = time.process_time()
    for second in range(SECONDS):
        for n, frame in enumerate(frames):
            ears.feed(Frame(frame, second + n / 50))
    spent = time.process_time() - began
    return Result(
        "idle",
        f"processor time to hear {SECONDS} s of a quiet room (hiss at -80 dBFS, frames of 20 ms, "
        f"{len(settings.wake.words)} wake word(s), voice activity), by those {SECONDS} s",
        (Figure("processor share", 100 * spent / SECONDS, "% of a core", 5),),
    )
