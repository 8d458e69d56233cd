"""Wake words: a score per word for each step of sound, and what follows from the scores.

A score that is hardly ever reached by mistake counts at once. A lower one is worth a second look by somebody who can
tell the word from others that sound like it ("a lexicon" scores 0.997), after a moment in which it may still rise.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError, BadInputError
from appliance.hearing.features import EMBEDDING, STEP, Features
from appliance.hearing.gate import SoundGate
from appliance.hearing.naming import is_file, name_of
from appliance.onnx import session

__all__ = ["CLEAR", "HINT", "STEP", "Detection", "WakeWords", "Word", "load_word"]

CLEAR = 0.999
"""A score that counts at once: of 157 people, 138 reach it in a quiet room. Of 40 sentences full of words that sound
like "Alexa", and of 155 other recordings, clean and with noise, none does; the highest was 0.9975."""

HINT = 0.2
"""Share of its threshold at which a score is worth a second look. With noise 10 dB below them, 12 of 157 people stay
below the threshold of 0.5, and 3 below this."""

_REST = 6
"""Steps that a word's score must stay low before the next rise is another word. The score of one word dips for up to 5
steps in the middle, in a third of the recordings."""

_RISING = 4
"""Steps in which a score may still rise before it is looked at: of 138 that become clear, 132 do so in them."""

_SHARED = ("melspectrogram", "embedding")


@dataclass(frozen=True, slots=True)
class Detection:
    """A wake word. `offset`: how many of the samples fed along with it lie before the end of what it was heard in.

    Negative, if that was before them. `clear`: it counts; if not, `likely` says whether it reached its threshold.
    """

    word: str
    score: float
    offset: int
    clear: bool = True
    likely: bool = True


class Word:
    """The last stage for one word, and how far its score has come since it was low."""

    def __init__(self, name: str, threshold: float, model: ort.InferenceSession) -> None:
        """Called `name`; `model` gives its score."""
        self.name = name
        self.threshold = threshold
        self._model = model
        self._input = model.get_inputs()[0].name
        self.embeddings: int = model.get_inputs()[0].shape[1]
        self.reset()

    def reset(self) -> None:
        """It was low for long enough."""
        self._low = _REST
        self._reached = 0
        self._best = 0.0
        self._left = 0
        """Steps until what it has reached is reported; 0: there is nothing to report."""
        self._age = 0
        """Steps since what it was heard in."""

    def score(self, embeddings: npt.NDArray[np.float32]) -> float:
        """Of the newest embeddings."""
        scores = self._model.run(None, {self._input: embeddings[:, -self.embeddings :]})[0][0]
        # A model of several phrases has a first output for none of them.
        return float(scores.max() if len(scores) == 1 else scores[1:].max())

    def rest(self) -> None:
        """A step in which there was nothing to score."""
        self._low += 1
        self._left = 0

    def step(self, score: float, threshold: float, *, deaf: bool) -> Detection | None:
        """What its score means; its offset is in steps."""
        bars = (HINT * threshold, threshold, CLEAR)
        level = sum(score >= bar for bar in bars)
        if level and self._low >= _REST:
            self._reached = len(bars) if deaf else 0
        self._low = 0 if level else self._low + 1
        self._age += 1
        if level > self._reached:
            if not self._left or level < len(bars):
                self._age = 0
            if not self._left:
                self._left, self._best = _RISING + 1, 0.0
            self._reached = level
        if not self._left:
            return None
        self._best = max(self._best, score)
        clear = self._reached == len(bars)
        self._left = 0 if clear else self._left - 1
        if self._left:
            return None
        return Detection(self.name, self._best, -self._age, clear, self._reached > 1)


class WakeWords:
    """Listens for several words at once. `models` is the folder of all models. Used from one thread.

    A word is its name, or the path of an .onnx file, whose stem is the name. It is detected when its score rises, and
    again only when it rises further, or after it was low for half a second. For `refractory` seconds after one that is
    clear nothing is detected. A word without a model is a BadInputError.
    """

    def __init__(self, models: Path, thresholds: Mapping[str, float], refractory: float = 1.0) -> None:
        folder = models / "wake"
        self._words = [Word(name_of(word), threshold, _model(folder, word)) for word, threshold in thresholds.items()]
        self._features = Features(folder, max((word.embeddings for word in self._words), default=1))
        self.scores: dict[str, float] = {}
        """What each word scored last; 0 where there was nothing to hear."""
        self._refractory = round(refractory * HEARING_RATE)
        self._gate = SoundGate(self._features.memory)
        self._step = np.zeros(STEP, np.float32)
        self._missed: deque[Samples] = deque(maxlen=self._features.memory + 1)
        """The newest steps that were not listened to: those that later scores look at, and one that they reach back to.
        """
        self.reset()

    def reset(self) -> None:
        """Forget everything heard, as after a gap in the sound: it was quiet before what comes next."""
        self._features.reset()
        self._gate.reset()
        self._missed.clear()
        self._filled = 0
        self._deaf = 0
        for word in self._words:
            word.reset()

    def feed(self, samples: Samples, threshold: float = 0.0) -> list[Detection]:
        """Take any number of samples; the wake words that were recognised with them, in order.

        `threshold`: the least that a word takes, as while something is being played.
        """
        detections = []
        taken = 0
        while taken < len(samples):
            piece = samples[taken : taken + STEP - self._filled]
            self._step[self._filled : self._filled + len(piece)] = piece
            self._filled += len(piece)
            taken += len(piece)
            if self._filled == STEP:
                self._filled = 0
                if found := self._advance(threshold):
                    offset = taken + found.offset * STEP
                    detections.append(Detection(found.word, found.score, offset, found.clear, found.likely))
        return detections

    def _advance(self, threshold: float) -> Detection | None:
        """The wake word that is recognised with a full step of sound, the surest of several."""
        self._deaf = max(0, self._deaf - STEP)
        if not self._gate.passes(self._step):
            self._missed.append(self._step.copy())
            for word in self._words:
                word.rest()
                self.scores[word.name] = 0.0
            return None
        self._catch_up()
        self._features.advance(self._step)
        found = [each for word in self._words if (each := self._sensed(word, threshold))]
        best = max(found, key=lambda each: (each.clear, each.score), default=None)
        if best is not None and best.clear:
            self._deaf = self._refractory
        return best

    def _catch_up(self) -> None:
        """Listen to what was missed, as far as it still matters."""
        if len(self._missed) == self._missed.maxlen:
            self._features.skip(self._missed.popleft())
        while self._missed:
            self._features.advance(self._missed.popleft())

    def _sensed(self, word: Word, threshold: float) -> Detection | None:
        score = self.scores[word.name] = word.score(self._features.embeddings)
        return word.step(score, max(word.threshold, threshold), deaf=self._deaf > 0)


def load_word(path: Path) -> ort.InferenceSession:
    """The model of one of the owner's wake words. BadInputError: it cannot be read, or is another model."""
    place = f'wake word "{path}"'
    try:
        path.open("rb").close()
        model = session(path)
    except OSError as error:
        remedy = "It has to be a file that the appliance's user may read"
        raise BadInputError(place, f"the file cannot be read: {error.strerror}", remedy=remedy) from error
    except ApplianceError as error:
        raise BadInputError(place, error.found, allowed=_WANTED) from error
    shapes = [list(each.shape) for each in (*model.get_inputs(), *model.get_outputs())]
    if len(shapes) != 2 or len(shapes[0]) != 3 or not isinstance(shapes[0][1], int) or shapes[0][2] != EMBEDDING:
        raise BadInputError(place, f"it takes and gives {shapes}", allowed=_WANTED)
    return model


_WANTED = f"a model that openWakeWord's training has made, which takes [1, N, {EMBEDDING}] and gives [1, 1]"


def _model(folder: Path, word: str) -> ort.InferenceSession:
    if is_file(word):
        return load_word(Path(word))
    words = sorted(path.stem for path in folder.glob("*.onnx") if path.stem not in _SHARED)
    if words and word not in words:
        near = get_close_matches(word, words, 1)
        raise BadInputError(
            f"wake word {word!r}",
            "there is no model for it",
            allowed=", ".join(words),
            remedy=f"Did you mean {near[0]!r}?" if near else "Use one of these",
        )
    return session(folder / f"{word}.onnx")
