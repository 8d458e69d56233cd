"""How long a person waits for the answer."""

import tempfile
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import soundfile

from appliance.audio.devices import HEARING_RATE
from appliance.bench.audible import audible
from appliance.bench.figures import Figure, Result, percentile
from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.simulation.recording import at_room_rate
from appliance.simulation.run import simulate
from appliance.simulation.scenario import parse
from appliance.speaking.piper import load_voice

TURNS = 24
QUESTIONS = (
    "What time is it?",
    "What day is it today?",
    "How are you?",
    "What's the time?",
    "Repeat that.",
    "Tell me the date.",
)


def measure(settings: Settings, models: Path) -> Result:
    """Questions to the whole appliance in the simulated room, in real time."""
    words = cycle(word.replace("_", " ") for word in settings.wake.names)
    asked = [f"{next(words)}, {question}" for question in islice(cycle(QUESTIONS), TURNS)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        voice = load_voice(models, settings.voice_name)
        for text in set(asked):
            samples = at_room_rate(np.concatenate(list(voice.synthesise(text))), voice.rate)
            soundfile.write(out / f"{asked.index(text)}.wav", audible(samples), HEARING_RATE)
        says = (
            f'[[say]]\nfile = "{asked.index(text)}.wav"\nafter = "{"idle" if n else "ready"}"\ndelay = 0.7\n'
            for n, text in enumerate(asked)
        )
        outcome = simulate(parse("\n".join(says), out / "answer.toml"), settings, models, out, fast=False)
    starts = [report.at for report in outcome.timeline.reports("reply_start")]
    if outcome.problems or len(starts) != TURNS:
        raise ApplianceError(
            "bench answer", f"{len(starts)} of {TURNS} questions were answered", remedy="\n".join(outcome.problems)
        )
    waits = [start - said.end for start, said in zip(starts, outcome.done, strict=True)]
    stages = [[stage.seconds for stage in turn.stages] for turn in outcome.timeline.turns()]
    names = [stage.name for stage in outcome.timeline.turns()[0].stages]
    return Result(
        "answer",
        f"{TURNS} questions spoken by the installed voice to the whole appliance in a quiet simulated room, in real "
        "time: from the last audible sample of the question (above -40 dB of its peak) to the first sample of the "
        "answer that the speaker plays; below it the medians of its parts, as the appliance sees them",
        (
            Figure("answer, p50", percentile(waits, 0.5), "s", 0.6),
            Figure("answer, p95", percentile(waits, 0.95), "s"),
            *(
                Figure(f"  {name}, p50", percentile(times, 0.5), "s")
                for name, times in zip(names, zip(*stages, strict=True), strict=True)
            ),
        ),
    )
