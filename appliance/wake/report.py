"""What `appliance wake tune` has found, for people and for programs."""

import sys
from collections.abc import Iterator

import msgspec

from appliance.wake.tuning import Tuned, TunedWord

_RARE = 600.0
"""Seconds of the room below which false wakes say little."""
_FEW = 10
"""Recordings of a word below which misses say little."""


def lines(tuned: Tuned) -> Iterator[str]:
    """A table for each word."""
    for word in tuned.words:
        yield f"{word.word}: {word.said} recordings, and {tuned.room / 60:.1f} minutes of the room"
        if word.said < _FEW or tuned.room < _RARE:
            yield f"  (that says little: {_FEW} recordings and {_RARE / 60:.0f} minutes are the least)"
        yield "  THRESHOLD  MISSED  FALSE WAKES"
        for row in word.rows:
            marks = _marks(row.threshold, word)
            yield f"  {row.threshold:9.2f}  {row.missed:6}  {row.false:11}{marks}"
        yield f"  now {word.threshold:g}, suggested {word.suggested:g}"


def print_json(tuned: Tuned) -> None:
    """All of it."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(tuned), indent=2).decode() + "\n")


def _marks(threshold: float, word: TunedWord) -> str:
    now = "  now" if threshold == word.threshold else ""
    return f"{now}  suggested" if threshold == word.suggested else now
