"""Speech-to-text with Vosk (https://alphacephei.com/vosk/): streaming, with partial results, in many languages."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import vosk

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.hearing.stt import Transcript
from appliance.hearing.utterance import LONGEST, is_silence
from appliance.onnx import damaged

_NEEDED = ("am/final.mdl", "conf/mfcc.conf", "conf/model.conf")
_GRAPHS = (("graph/HCLG.fst",), ("graph/HCLr.fst", "graph/Gr.fst"))
"""A model has its words in one file, or, the small ones, in two that are joined as it listens."""

_SILENT = -1

_NO_WORD = re.compile(r"\[\w*\]")
"""What some models write for sounds that are no words: "[1]"."""


class Vosk:
    """The Vosk model in `folder`, which is for `language`; ApplianceError when it cannot be used."""

    name = "vosk"

    def __init__(self, folder: Path, language: str) -> None:
        self.language = language
        _require(folder)
        vosk.SetLogLevel(_SILENT)
        try:
            self._model = vosk.Model(str(folder))
            self.begin()
        except Exception as error:  # vosk raises nothing more specific
            raise damaged(folder, "this is not a complete Vosk model") from error

    def begin(self) -> "_Utterance":
        """A new utterance."""
        recogniser = vosk.KaldiRecognizer(self._model, HEARING_RATE)
        recogniser.SetWords(True)
        return _Utterance(recogniser)


class _Utterance:
    """Collects the sound too, to tell at its end whether there was anything to recognise."""

    def __init__(self, recogniser: vosk.KaldiRecognizer) -> None:
        self._recogniser = recogniser
        self._room = LONGEST
        self._chunks: list[Samples] = []
        self._texts: list[str] = []
        self._confidences: list[float] = []
        self._partial = ""

    def feed(self, samples: Samples) -> str:
        """Take the next samples; the text so far, of which the last words may still change."""
        samples = samples[: self._room].astype(np.float32)
        if not len(samples):
            return _joined(self._texts)
        self._room -= len(samples)
        self._chunks.append(samples)
        pcm = np.clip(samples * 32768, -32768, 32767).astype("<i2").tobytes()
        if self._recogniser.AcceptWaveform(pcm):
            self._take(self._recogniser.Result())
            self._partial = ""
        else:
            self._partial = json.loads(self._recogniser.PartialResult())["partial"]
        return self.guess().text

    def guess(self) -> Transcript:
        """The text so far, of which the last words may still change."""
        return Transcript(_joined((*self._texts, self._partial)))

    def finish(self) -> Transcript:
        """The text, and the mean confidence of its words."""
        if not self._chunks or is_silence(np.concatenate(self._chunks)):
            return Transcript("")
        self._take(self._recogniser.FinalResult())
        confidence = float(np.mean(self._confidences)) if self._confidences else None
        return Transcript(_joined(self._texts), confidence)

    def _take(self, result: str) -> None:
        decoded = json.loads(result)
        self._texts.append(decoded["text"])
        self._confidences += (word["conf"] for word in decoded.get("result", ()))


def _joined(texts: Iterable[str]) -> str:
    return " ".join(_NO_WORD.sub(" ", " ".join(texts)).split())


def _require(folder: Path) -> None:
    """Name the first file that is missing; vosk itself only says that it could not make a model."""
    graph = next((graph for graph in _GRAPHS if (folder / graph[0]).exists()), _GRAPHS[-1])
    for name in (*_NEEDED, *graph):
        path = folder / name
        if not path.is_file() or path.stat().st_size == 0:
            raise damaged(path, "it is missing or empty")
