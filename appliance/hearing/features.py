"""What wake words are recognised by, with openWakeWord's models: sound -> mel frames -> embeddings.

They cost almost everything, and all words share them. Window lengths, the scaling of the samples and that of the mel
frames are what the models were trained with (openWakeWord 0.5, openwakeword/utils.py).
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.audio.devices import Samples
from appliance.onnx import session

STEP = 1280
"""Samples to an embedding."""

EMBEDDING = 96
"""Numbers in an embedding."""

_CONTEXT = 480
"""Samples before a step that its first mel frames reach back to."""
_FULL_SCALE = 32767
"""The models want samples as large as those of 16-bit sound."""
_MEL_FRAMES = 76
_MELS_PER_STEP = 8
_MEL_BANDS = 32

_QUIET = 3.0
"""How loud, in the models' scale, the room was before the first sample, for all that they know. With empty buffers
instead, the first second of speech scored up to 1.0 for words that it did not hold; so at most 0.2 in 260 starts."""


class Features:
    """The newest `count` embeddings of the sound. Used from one thread."""

    def __init__(self, folder: Path, count: int) -> None:
        """With the models in `folder`; ApplianceError when one cannot be used."""
        self._mel = session(folder / "melspectrogram.onnx", inputs=("input",))
        self._embedding = session(folder / "embedding.onnx", inputs=("input_1",))
        self._sound = np.zeros((1, _CONTEXT + STEP), np.float32)
        self._mels = np.zeros((1, _MEL_FRAMES, _MEL_BANDS, 1), np.float32)
        self.embeddings = np.zeros((1, count, EMBEDDING), np.float32)
        """As a model of a word takes them, the newest last."""
        self.memory = count + -(-_MEL_FRAMES // _MELS_PER_STEP) - 1
        """How many steps of sound the embeddings are made of."""
        self._quiet = self._quiet_past()
        self.reset()

    def reset(self) -> None:
        """It was quiet before what comes next."""
        for buffer, quiet in zip(self._buffers(), self._quiet, strict=True):
            buffer[:] = quiet

    def advance(self, step: Samples) -> None:
        """Take the next step of sound."""
        self.skip(step)
        mels = self._mel.run(None, {"input": self._sound})[0]
        self._mels[:, :-_MELS_PER_STEP] = self._mels[:, _MELS_PER_STEP:]
        self._mels[0, -_MELS_PER_STEP:, :, 0] = mels[0, 0] / 10 + 2
        embedding = self._embedding.run(None, {"input_1": self._mels})[0]
        self.embeddings[:, :-1] = self.embeddings[:, 1:]
        self.embeddings[:, -1] = embedding[:, 0, 0]

    def skip(self, step: Samples) -> None:
        """Take a step only for what the next one reaches back to."""
        self._sound[0, :_CONTEXT] = self._sound[0, -_CONTEXT:]
        np.multiply(step, _FULL_SCALE, out=self._sound[0, _CONTEXT:])

    def _quiet_past(self) -> list[npt.NDArray[np.float32]]:
        """What the buffers hold after a while in a quiet room."""
        noise = np.random.default_rng(1)
        for _ in range(self.memory + 1):
            self.advance((_QUIET / _FULL_SCALE * noise.standard_normal(STEP)).astype(np.float32))
        return [buffer.copy() for buffer in self._buffers()]

    def _buffers(self) -> tuple[npt.NDArray[np.float32], ...]:
        return self._sound, self._mels, self.embeddings
