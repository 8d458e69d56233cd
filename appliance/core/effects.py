"""What `step` asks the edges to do, in the order in which it is to be done."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Hush:
    """Silence now: the lane of `generation` is dead, and so is whatever is still being made for it."""

    generation: int


@dataclass(frozen=True, slots=True)
class Listen:
    """Take the utterance of `generation`, from what was heard at `since` on; give up at `patience_until`."""

    generation: int
    since: float
    patience_until: float


@dataclass(frozen=True, slots=True)
class FinishListening:
    """The user is done: what was heard so far is the utterance."""

    generation: int


@dataclass(frozen=True, slots=True)
class Think:
    """Find the answer to `text`."""

    generation: int
    text: str


@dataclass(frozen=True, slots=True)
class Speak:
    """Say `text`."""

    generation: int
    text: str


@dataclass(frozen=True, slots=True)
class Drop:
    """End the background work of `generation`; its results are no longer wanted."""

    generation: int


@dataclass(frozen=True, slots=True)
class Report:
    """A line of the timeline: `kind` as in the command contract, and what belongs to it."""

    kind: str
    at: float
    generation: int
    data: Mapping[str, object] = field(default_factory=dict)


Effect = Hush | Listen | FinishListening | Think | Speak | Drop | Report
