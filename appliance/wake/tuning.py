"""What each threshold would make of recordings: of the wake words, and of a room in which nobody says them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.config.schema import Settings
from appliance.core.events import WakeHeard
from appliance.errors import BadInputError
from appliance.hearing.recognisers import load_recogniser
from appliance.hearing.second_look import AFTER, BEFORE, SecondLook
from appliance.hearing.wake import HINT, STEP, Detection, WakeWords
from appliance.simulation import recording
from appliance.thinking.wake_phrase import mentions

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

ROOM = "room"
"""The folder of the recordings in which nobody says a wake word."""

SUFFIXES = (".flac", ".wav", ".ogg", ".mp3")

_QUIET = np.random.default_rng(0).normal(scale=1e-4, size=HEARING_RATE).astype(np.float32)
"""What comes before and after a recording, which may be cut closely."""


@dataclass(frozen=True, slots=True)
class Row:
    """What comes of a threshold."""

    threshold: float
    missed: int
    false: int


@dataclass(frozen=True, slots=True)
class TunedWord:
    """What the recordings say of one wake word. `threshold` is the present one."""

    word: str
    threshold: float
    said: int
    rows: tuple[Row, ...]
    suggested: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """All words, and how many seconds there were of the room."""

    words: tuple[TunedWord, ...]
    room: float


@dataclass(frozen=True, slots=True)
class _Peak:
    """Where a score rose: how far, and what the second look says if it reached its threshold, and if it did not."""

    score: float
    clear: bool
    likely: bool
    faint: bool

    def counts(self, threshold: float) -> bool:
        if self.clear:
            return True
        return self.likely if self.score >= threshold else self.faint and self.score >= HINT * threshold


def tune(settings: Settings, models: Path, folder: Path) -> Tuned:
    """Listen to all recordings below `folder`. BadInputError: there are none, or one cannot be read."""
    names = settings.wake.names
    look = SecondLook(load_recogniser(settings.engine, settings.language, models), mentions)
    # With the lowest threshold a score that any of them would have is detected.
    words = WakeWords(models, dict.fromkeys(settings.wake.words, THRESHOLDS[0]), refractory=0)
    said = {
        name: [_peaks(words, look, recording.load(path)) for path in _files(folder, name, alone=len(names) == 1)]
        for name in names
    }
    seconds, room = 0.0, []
    for path in _sounds(folder / ROOM):
        sound = recording.load(path)
        seconds += len(sound) / HEARING_RATE
        room.append(_peaks(words, look, sound))
    if not room and not any(said.values()):
        allowed = f"sound files ({', '.join(SUFFIXES)}) in {', '.join(names)} or {ROOM} there"
        raise BadInputError(
            str(folder), "there are no recordings", allowed=allowed, remedy="Make them: --say 20 --record 60"
        )
    scores = dict(zip(names, settings.wake.scores.values(), strict=True))
    heard = [peak for peaks in room for peak in peaks]
    return Tuned(tuple(_tuned(name, scores[name], said[name], heard) for name in names), seconds)


def _tuned(
    word: str, present: float, said: Sequence[Sequence[tuple[str, _Peak]]], room: Sequence[tuple[str, _Peak]]
) -> TunedWord:
    def row(threshold: float) -> Row:
        heard = [any(name == word and peak.counts(threshold) for name, peak in peaks) for peaks in said]
        return Row(
            threshold,
            missed=heard.count(False),
            false=sum(name == word and peak.counts(threshold) for name, peak in room),
        )

    rows = tuple(map(row, THRESHOLDS))
    return TunedWord(word, present, len(said), rows, _best(rows, row(present)))


def _best(rows: Sequence[Row], present: Row) -> float:
    """The threshold with the fewest mistakes; of equals the present one, or the middle one."""
    fewest = min(each.missed + each.false for each in rows)
    if present.missed + present.false <= fewest:
        return present.threshold
    best = [each.threshold for each in rows if each.missed + each.false == fewest]
    return best[len(best) // 2]


def _peaks(words: WakeWords, look: SecondLook, recorded: Samples) -> list[tuple[str, _Peak]]:
    sound = np.concatenate([_QUIET, recorded, _QUIET])
    words.reset()
    peaks = []
    for begin in range(0, len(sound) - STEP + 1, STEP):
        for found in words.feed(sound[begin : begin + STEP]):
            at = begin + found.offset
            around = sound[
                max(0, at - round(BEFORE * HEARING_RATE)) : min(begin + STEP, at + round(AFTER * HEARING_RATE))
            ]
            peaks.append((found.word, _judged(found, look, around)))
    return peaks


def _judged(found: Detection, look: SecondLook, sound: Samples) -> _Peak:
    if found.clear:
        return _Peak(found.score, clear=True, likely=True, faint=True)
    heard = WakeHeard(found.word, found.score, 0.0, clear=False)
    faint = look.confirms(replace(heard, likely=False), sound)
    return _Peak(found.score, clear=False, likely=faint or look.confirms(heard, sound), faint=faint)


def _files(folder: Path, word: str, *, alone: bool) -> list[Path]:
    own = list(_sounds(folder / word))
    return [*own, *_sounds(folder)] if alone else own


def _sounds(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
