"""How long a reply goes on when somebody speaks into it, as the ears of the appliance hear it in the simulated room."""

import tempfile
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import soundfile

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.audible import audible
from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.simulation.recording import at_room_rate
from appliance.simulation.run import simulate
from appliance.simulation.scenario import parse
from appliance.speaking.piper import load_voice

QUESTIONS = ("What can you do?", "What can I say?", "Help me, please.")
"""Each has the same long answer, so that there is always one to speak into."""

EARLIEST, PHASES = 1.0, 1.5
"""Seconds from the beginning of a reply to the question, at least, and over how many more they are spread evenly."""

BREAK = 0.3
"""Seconds without a sample that are more than the breath of a voice, which is never quite silent."""

_GOLDEN = 0.618


def measure_spoken(settings: Settings, models: Path, count: int) -> list[float]:
    """Seconds from the onset of each of `count` questions to the last sample of the reply that they interrupt."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        voice = load_voice(models, settings.voice_name)
        word = settings.wake.names[0].replace("_", " ")
        for number, text in enumerate((f"{word}, {QUESTIONS[0]}", *QUESTIONS)):
            samples = audible(at_room_rate(np.concatenate(list(voice.synthesise(text))), voice.rate))
            soundfile.write(out / f"{number}.wav", samples, HEARING_RATE)
        says = [f'[[say]]\nfile = "0.wav"\nafter = "ready"\ndelay = {EARLIEST}']
        says += (
            f'[[say]]\nfile = "{number}.wav"\nafter = "reply"\ndelay = {EARLIEST + n * _GOLDEN % 1 * PHASES}'
            for n, number in enumerate(islice(cycle((1, 2, 3)), count))
        )
        outcome = simulate(parse("\n".join(says), out / "spoken.toml"), settings, models, out, fast=False)
        played = soundfile.read(out / "room.wav", dtype="float32")[0][:, 1]
    interrupted = len(outcome.timeline.reports("interrupted"))
    if outcome.problems or interrupted != count:
        raise ApplianceError(
            "bench interruption",
            f"{interrupted} of {count} replies were interrupted by speech",
            remedy="\n".join(outcome.problems),
        )
    return [_sounds_for(played[round(said.begin * HEARING_RATE) :]) for said in outcome.done[1:]]


def _sounds_for(played: Samples) -> float:
    sounding = np.flatnonzero(played)
    breaks = np.flatnonzero(np.diff(sounding) > BREAK * HEARING_RATE)
    return float(sounding[breaks[0] if len(breaks) else -1] + 1) / HEARING_RATE
