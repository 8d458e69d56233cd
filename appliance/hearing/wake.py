"""Wake words, with openWakeWord's models: sound -> mel frames -> embeddings -> a score per word.

Mel frames and embeddings cost almost everything and are shared by all words. Window lengths, the scaling of the samples
and that of the mel frames are what the models were trained with (openWakeWord 0.5, openwakeword/utils.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import BadInputError
from appliance.onnx import session

STEP = 1280
"""Samples between two scores."""

_CONTEXT = 480
"""Samples before a step that its first mel frames reach back to."""
_FULL_SCALE = 32767
"""The models want samples as large as those of 16-bit sound."""
_MEL_FRAMES = 76
_MELS_PER_STEP = 8
_MEL_BANDS = 32
_EMBEDDING = 96

_QUIET = 3.0
"""How loud, in the models' scale, the room was before the first sample, for all that they know. With empty buffers
instead, the first second of speech scored up to 1.0 for words that it did not hold; so at most 0.2 in 260 starts."""

_REST = 6
"""Steps that a word's score must stay below its threshold before the next rise is another word. The score of one word
dips for up to 5 steps in the middle, in a third of the recordings."""

_SHARED = ("melspectrogram", "embedding")


@dataclass(frozen=True, slots=True)
class Detection:
    """A wake word. `offset`: how many of the samples fed along with it lie before the end of what it was heard in."""

    word: str
    score: float
    offset: int


class _Word:
    """The last stage for one word."""

    def __init__(self, name: str, threshold: float, model: ort.InferenceSession) -> None:
        self.name = name
        self.threshold = threshold
        self.below = _REST
        """Steps since the score was last at the threshold."""
        self._model = model
        self._input = model.get_inputs()[0].name
        self.embeddings: int = model.get_inputs()[0].shape[1]

    def score(self, embeddings: npt.NDArray[np.float32]) -> float:
        scores = self._model.run(None, {self._input: embeddings[:, -self.embeddings :]})[0][0]
        # A model of several phrases has a first output for none of them.
        return float(scores.max() if len(scores) == 1 else scores[1:].max())


class WakeWords:
    """Listens for several words at once. `models` is the folder of all models. Used from one thread.

    A word fires when its score rises to its threshold, and again only after it was below for half a second. For
    `refractory` seconds after a detection nothing fires. A word without a model is a BadInputError.
    """

    def __init__(self, models: Path, thresholds: Mapping[str, float], refractory: float = 1.0) -> None:
        folder = models / "wake"
        self._mel = session(folder / "melspectrogram.onnx", inputs=("input",))
        self._embedding = session(folder / "embedding.onnx", inputs=("input_1",))
        self._words = [
            _Word(name, threshold, session(_word_file(folder, name))) for name, threshold in thresholds.items()
        ]
        self.scores: dict[str, float] = {}
        """What each word scored last."""
        self._refractory = round(refractory * HEARING_RATE)
        longest = max((word.embeddings for word in self._words), default=1)
        self._sound = np.zeros((1, _CONTEXT + STEP), np.float32)
        self._mels = np.zeros((1, _MEL_FRAMES, _MEL_BANDS, 1), np.float32)
        self._embeddings = np.zeros((1, longest, _EMBEDDING), np.float32)
        self._quiet = self._quiet_past()
        self.reset()

    def reset(self) -> None:
        """Forget everything heard, as after a gap in the sound: it was quiet before what comes next."""
        for buffer, quiet in zip(self._buffers(), self._quiet, strict=True):
            buffer[:] = quiet
        self._filled = _CONTEXT
        self._deaf = 0
        for word in self._words:
            word.below = _REST

    def feed(self, samples: Samples) -> list[Detection]:
        """Take any number of samples; the wake words that were recognised with them, in order."""
        detections = []
        step = self._sound[0]
        taken = 0
        while taken < len(samples):
            piece = samples[taken : taken + len(step) - self._filled]
            np.multiply(piece, _FULL_SCALE, out=step[self._filled : self._filled + len(piece)])
            self._filled += len(piece)
            taken += len(piece)
            if self._filled == len(step):
                self._advance()
                if fired := self._fired():
                    detections.append(Detection(*fired, taken))
        return detections

    def _advance(self) -> None:
        """Turn a full step of sound into the next embedding."""
        mels = self._mel.run(None, {"input": self._sound})[0]
        self._mels[:, :-_MELS_PER_STEP] = self._mels[:, _MELS_PER_STEP:]
        self._mels[0, -_MELS_PER_STEP:, :, 0] = mels[0, 0] / 10 + 2
        embedding = self._embedding.run(None, {"input_1": self._mels})[0]
        self._embeddings[:, :-1] = self._embeddings[:, 1:]
        self._embeddings[:, -1] = embedding[:, 0, 0]
        self._sound[0, :_CONTEXT] = self._sound[0, -_CONTEXT:]
        self._filled = _CONTEXT

    def _fired(self) -> tuple[str, float] | None:
        """The word that is recognised now, the surest of several, and its score."""
        self._deaf = max(0, self._deaf - STEP)
        fired: tuple[str, float] | None = None
        for word in self._words:
            score = self.scores[word.name] = word.score(self._embeddings)
            if score < word.threshold:
                word.below += 1
                continue
            if word.below >= _REST and not self._deaf and (fired is None or score > fired[1]):
                fired = word.name, score
            word.below = 0
        if fired:
            self._deaf = self._refractory
        return fired

    def _quiet_past(self) -> list[npt.NDArray[np.float32]]:
        """What the buffers hold after a while in a quiet room."""
        noise = np.random.default_rng(1)
        for _ in range(_MEL_FRAMES // _MELS_PER_STEP + self._embeddings.shape[1] + 1):
            self._sound[0, _CONTEXT:] = _QUIET * noise.standard_normal(STEP)
            self._advance()
        return [buffer.copy() for buffer in self._buffers()]

    def _buffers(self) -> tuple[npt.NDArray[np.float32], ...]:
        return self._sound, self._mels, self._embeddings


def _word_file(folder: Path, name: str) -> Path:
    words = sorted(path.stem for path in folder.glob("*.onnx") if path.stem not in _SHARED)
    if name not in words:
        near = get_close_matches(name, words, 1)
        raise BadInputError(
            f"wake word {name!r}",
            "there is no model for it",
            allowed=", ".join(words),
            remedy=f"Did you mean {near[0]!r}?" if near else "Use one of these",
        )
    return folder / f"{name}.onnx"
