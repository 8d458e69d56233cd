"""Voice activity: is somebody speaking, window by window, with Silero's model (16 kHz, opset 15)."""

from pathlib import Path

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.onnx import session

WINDOW = 512
"""Samples per probability: what the model was trained with."""

_CONTEXT = 64
"""Samples of the window before that the model wants in front of each."""


class VoiceActivity:
    """A probability of voice for each 512 samples. `models` is the folder of all models. Used from one thread."""

    def __init__(self, models: Path) -> None:
        self._model = session(models / "vad/silero.onnx", inputs=("input", "state", "sr"))
        self._rate = np.array(HEARING_RATE, np.int64)
        self._input = np.empty((1, _CONTEXT + WINDOW), np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget everything heard, as after a gap in the sound."""
        self._input.fill(0)
        self._filled = _CONTEXT
        self._state = np.zeros((2, 1, 128), np.float32)

    def feed(self, samples: Samples) -> list[float]:
        """Take any number of samples; the probability, 0 … 1, of each window that they complete, in order."""
        probabilities = []
        window = self._input[0]
        while len(samples) > 0:
            taken = samples[: len(window) - self._filled]
            window[self._filled : self._filled + len(taken)] = taken
            self._filled += len(taken)
            samples = samples[len(taken) :]
            if self._filled == len(window):
                probabilities.append(self._run())
                window[:_CONTEXT] = window[-_CONTEXT:]
                self._filled = _CONTEXT
        return probabilities

    def _run(self) -> float:
        inputs = {"input": self._input, "state": self._state, "sr": self._rate}
        probability, self._state = self._model.run(None, inputs)
        return float(probability[0, 0])
