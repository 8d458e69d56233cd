"""Piper's voices: espeak-ng turns text into phonemes, and one ONNX model those into sound."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort
import piper
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from appliance.audio.devices import Samples
from appliance.errors import BadInputError
from appliance.onnx import damaged, session
from appliance.speaking.level import level, trim_lead
from appliance.speaking.text import speakable

THREADS = 2
"""On two cores, 0.085 of real time instead of the 0.115 of one thread, for the same work."""

_INPUTS = ("input", "input_lengths", "scales")
_RAW_PHONEMES = re.compile(r"\[{2,}")
"""Piper takes what stands between [[ and ]] for phonemes; in a reply it is just brackets."""


class PiperVoice:
    """A loaded voice of Piper. Not for several threads at once."""

    def __init__(self, name: str, language: str, frontend: piper.PiperVoice) -> None:
        self.name = name
        self.language = language
        self.rate = frontend.config.sample_rate
        self._frontend = frontend
        self._run_options = ort.RunOptions()
        # Otherwise the memory for the longest clause of all is kept for ever: 320 MB after 9 s of speech, not 190.
        self._run_options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def synthesise(self, clause: str) -> Iterator[Samples]:
        """The samples of `clause`, one piece per sentence. Text with nothing to say gives none."""
        text = _RAW_PHONEMES.sub("[", speakable(clause))
        for phonemes in self._frontend.phonemize(text):
            speech = self._run(self._frontend.phonemes_to_ids(phonemes))
            yield trim_lead(level(speech), self.rate)

    def _run(self, phoneme_ids: list[int]) -> Samples:
        config = self._frontend.config
        inputs = {
            "input": np.array([phoneme_ids], np.int64),
            "input_lengths": np.array([len(phoneme_ids)], np.int64),
            "scales": np.array([config.noise_scale, config.length_scale, config.noise_w_scale], np.float32),
        }
        if config.num_speakers > 1:
            inputs["sid"] = np.array([config.default_speaker_id], np.int64)
        speech: Samples = self._frontend.session.run(None, inputs, self._run_options)[0].reshape(-1)
        return speech


def load_voice(models: Path, name: str) -> PiperVoice:
    """The voice `name` from the folder of all models, ready to speak without delay.

    One that isn't among those installed is a BadInputError; files that are missing, damaged or don't belong together
    are an ApplianceError.
    """
    folder = models / "voice"
    installed = sorted({path.name.removesuffix(".json").removesuffix(".onnx") for path in folder.glob("*.onnx*")})
    if installed and name not in installed:
        raise BadInputError(
            f"voice {name!r}",
            "it is not installed",
            allowed=", ".join(installed),
            remedy="Run: appliance models list",
        )
    model = folder / f"{name}.onnx"
    description = folder / f"{name}.onnx.json"
    if not description.is_file():
        raise damaged(description, "there is no such file")
    try:
        facts = json.loads(description.read_bytes())
        config = piper.PiperConfig.from_dict(facts)
        language = str(facts["language"]["family"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(description, "this is not the description of a voice") from error
    frontend = piper.PiperVoice(session(model, THREADS, _INPUTS), config)
    voice = PiperVoice(name, language, frontend)
    try:
        # The first synthesis takes twice as long as the others: espeak-ng and the model set themselves up.
        for _ in voice.synthesise("a"):
            pass
    except (ort_errors.InvalidArgument, RuntimeError) as error:
        raise damaged(description, f"this is not the description of {model.name}") from error
    return voice
