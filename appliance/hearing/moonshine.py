"""Speech-to-text with Moonshine (https://arxiv.org/abs/2410.15608): the utterance as a whole, without partial results.

Its encoder makes features of the sound, once; its decoder makes one token of them and of the tokens so far, again and
again, until it makes the end token. What the decoder computed for earlier tokens is handed back to it (the cache).
"""

import re
from copy import copy
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.hearing.guard import is_made_up
from appliance.hearing.stt import Transcript
from appliance.hearing.utterance import LONGEST, is_silence
from appliance.onnx import damaged, session

_WINDOW = 15 * HEARING_RATE
"""Samples that are transcribed at once. The memory it takes grows with the square of their number: 15 s take 30 MB more
than 8 s, and 30 s take 150 MB more."""

_CUT_FROM = 10 * HEARING_RATE
"""A full window is cut at its quietest point after this one."""

_PAUSE = HEARING_RATE // 5
"""Samples over which the quietest point is sought."""

_TOKENS_PER_SECOND = 6.5
"""What its authors allow: more is no speech, but the model repeating itself without an end."""

_TOKENS_SPARE = 8
"""On top of it, since a short phrase, or a number said quickly, can be denser."""

_PAUSE_AFTER = np.zeros(HEARING_RATE // 10, np.float32)
"""Appended, it ends the loop in which speech that breaks off within a word can catch the model (40 of 465 pieces)."""

_PLACES = 10
"""Tokens at the beginning among which a word is looked for: more than 2 s of speech have."""

_LIKELIEST = 2
"""Of these places, how many are tried."""

_BLANK = "\N{LOWER ONE EIGHTH BLOCK}"
"""What it writes before a word."""

_PAST = "past_key_values."
_PRESENT = "present."
_START, _END = b"<s>", b"</s>"
_SPECIAL = re.compile(rb"<unk>|</?s>|<<ST_\d+>>")


class Moonshine:
    """Moonshine's English model out of `folder`; ApplianceError when one of its three files cannot be used."""

    name = "moonshine"
    language = "en"

    def __init__(self, folder: Path) -> None:
        self.encoder = session(folder / "encoder_model.ort", inputs=("input_values", "attention_mask"))
        inputs = ("encoder_attention_mask", "encoder_hidden_states", "input_ids", "use_cache_branch")
        self.decoder = session(folder / "decoder_model_merged.ort", inputs=inputs)
        self.no_past = {
            given.name: np.zeros((1, given.shape[1], 0, given.shape[3]), np.float32)
            for given in self.decoder.get_inputs()
            if given.name.startswith(_PAST)
        }
        vocabulary = _read_vocabulary(folder / "tokenizer.bin", self.decoder.get_outputs()[0].shape[-1])
        self._start, self._end = vocabulary.index(_START), vocabulary.index(_END)
        self._written: dict[str, list[int]] = {}
        """How words are written that were looked for, which are few, again and again."""
        self._spelling = [b"" if _SPECIAL.fullmatch(token) else token for token in vocabulary]
        # The first run takes twice as long as the others, and nobody waits for this one.
        self._decode(np.zeros(HEARING_RATE, np.float32))

    def begin(self) -> "_Utterance":
        """A new utterance."""
        return _Utterance(self)

    def transcribe(self, samples: Samples) -> tuple[str, list[float]]:
        """The text of at most 15 s, empty when nothing was said, and the probability of each of its tokens."""
        if is_silence(samples):
            return "", []
        tokens, probabilities = self._decode(samples) or self._decode(np.append(samples, _PAUSE_AFTER)) or ([], [])
        spelling = b"".join(self._spelling[token] for token in tokens)
        text = spelling.decode("utf-8", errors="ignore").replace(_BLANK, " ").strip()
        if not text or is_made_up(text, float(np.mean(probabilities))):
            return "", []
        return text, probabilities

    def likeness(self, samples: Samples, word: str) -> float:
        """How likely it is that `word` was said: the logarithm of its probability where it fits best, 0 at most.

        Its first token is compared with the likeliest one there, the others follow by themselves.
        """
        decoding = _Decoding(self, samples)
        places: list[tuple[_Decoding, npt.NDArray[np.float32]]] = []
        token = self._start
        while len(places) < _PLACES and token != self._end:
            scores = decoding.step(token)
            places.append((decoding.fork(), scores))
            token = int(scores.argmax())
        return max(self._fit(self._tokens(spelling), places) for spelling in {word, word.capitalize()})

    def _fit(self, tokens: list[int], places: "list[tuple[_Decoding, npt.NDArray[np.float32]]]") -> float:
        first, *others = tokens
        begun = [(float(scores[first] - scores.max()), decoding) for decoding, scores in places]
        fits = []
        for likeness, begin in sorted(begun, key=itemgetter(0), reverse=True)[:_LIKELIEST]:
            decoding, token, total = begin.fork(), first, likeness
            for following in others:
                scores = decoding.step(token)
                total += float(scores[following] - np.logaddexp.reduce(scores))
                token = following
            fits.append(total)
        return max(fits)

    def _tokens(self, word: str) -> list[int]:
        """How the model writes `word`: in the longest pieces that it knows, of which single bytes come first."""
        if word in self._written:
            return self._written[word]
        left, tokens = f"{_BLANK}{word}".encode(), []
        while left:
            known = ((len(spelling), token) for token, spelling in enumerate(self._spelling) if spelling)
            length, token = max(each for each in known if left.startswith(self._spelling[each[1]]))
            tokens.append(token)
            left = left[length:]
        self._written[word] = tokens
        return tokens

    def _decode(self, samples: Samples) -> tuple[list[int], list[float]] | None:
        """The likeliest tokens, one by one, and their probabilities, with the end token's; None when no end came."""
        decoding = _Decoding(self, samples)
        tokens: list[int] = []
        probabilities: list[float] = []
        token = self._start
        for _ in range(_TOKENS_SPARE + int(_TOKENS_PER_SECOND * len(samples) / HEARING_RATE)):
            scores = decoding.step(token)
            token = int(scores.argmax())
            probabilities.append(float(1 / np.exp(scores - scores[token]).sum()))
            if token == self._end:
                return tokens, probabilities
            tokens.append(token)
        return None


class _Decoding:
    """The decoder at work on one sound."""

    def __init__(self, engine: Moonshine, samples: Samples) -> None:
        self._decoder = engine.decoder
        mask = np.ones((1, len(samples)), np.int64)
        (features,) = engine.encoder.run(None, {"input_values": samples[np.newaxis], "attention_mask": mask})
        self._sound = {"encoder_attention_mask": mask, "encoder_hidden_states": features}
        self._past = engine.no_past
        self._begun = False

    def step(self, token: int) -> npt.NDArray[np.float32]:
        """The scores of all tokens for what follows `token`."""
        # The first step also computes the part of the cache that depends on the sound alone.
        fresh = [name for name in self._past if not self._begun or ".decoder." in name]
        logits, *present = self._decoder.run(
            ["logits", *(name.replace(_PAST, _PRESENT) for name in fresh)],
            {
                **self._sound,
                "input_ids": np.array([[token]], np.int64),
                "use_cache_branch": np.array([self._begun]),
                **self._past,
            },
        )
        self._past = {**self._past, **dict(zip(fresh, present, strict=True))}
        self._begun = True
        scores: npt.NDArray[np.float32] = logits[0, -1]
        return scores

    def fork(self) -> "_Decoding":
        """Another one that stands where this one does."""
        return copy(self)


class _Utterance:
    """Collects the sound; of a long one each full window is transcribed, cut in a pause, as soon as it is there."""

    def __init__(self, engine: Moonshine) -> None:
        self._engine = engine
        self._room = LONGEST
        self._chunks: list[Samples] = []
        self._texts: list[str] = []
        self._probabilities: list[float] = []
        self._guessed: tuple[int, str, list[float]] | None = None
        """Of the chunks, how many samples were transcribed already, and what they are."""

    def feed(self, samples: Samples) -> None:
        """Take the next samples; never any text."""
        samples = samples[: self._room].astype(np.float32)
        if not len(samples):
            return
        self._room -= len(samples)
        self._chunks.append(samples)
        while sum(map(len, self._chunks)) >= _WINDOW:
            sound = np.concatenate(self._chunks)
            end = _quietest(sound)
            self._take(*self._engine.transcribe(sound[:end]))
            self._chunks, self._guessed = [sound[end:]], None

    def guess(self) -> Transcript | None:
        """What was said so far, which takes as long as `finish`; that is then free if nothing more is said."""
        if not self._chunks:
            return None
        sound = np.concatenate(self._chunks)
        text, probabilities = self._engine.transcribe(sound)
        self._chunks, self._guessed = [sound], (len(sound), text, probabilities)
        return Transcript(" ".join((*self._texts, text)).strip())

    def finish(self) -> Transcript:
        """The text, and the mean probability of its tokens."""
        if self._chunks:
            sound = np.concatenate(self._chunks)
            if self._guessed is not None and is_silence(sound[self._guessed[0] :]):
                self._take(*self._guessed[1:])
            else:
                self._take(*self._engine.transcribe(sound))
        confidence = float(np.mean(self._probabilities)) if self._probabilities else None
        return Transcript(" ".join(self._texts), confidence)

    def _take(self, text: str, probabilities: list[float]) -> None:
        if text:
            self._texts.append(text)
            self._probabilities += probabilities


def _quietest(sound: Samples) -> int:
    """The middle of the quietest pause between the 10th second and the end of the window."""
    energy = np.cumsum(np.square(sound[_CUT_FROM:_WINDOW], dtype=np.float64))
    return _CUT_FROM + _PAUSE // 2 + int(np.argmin(energy[_PAUSE:] - energy[:-_PAUSE]))


def _read_vocabulary(path: Path, size: int) -> list[bytes]:
    """The spelling of each token: `size` strings of bytes, each after one byte with its length."""
    if not path.is_file():
        raise damaged(path, "there is no such file")
    content = path.read_bytes()
    tokens: list[bytes] = []
    at = 0
    while at < len(content):
        end = at + 1 + content[at]
        tokens.append(content[at + 1 : end])
        at = end
    if at != len(content) or len(tokens) != size or not {_START, _END} <= set(tokens):
        raise damaged(path, f"this is not a vocabulary of {size} tokens")
    return tokens
