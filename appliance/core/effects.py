"""What `step` asks the edges to do, in the order in which it is to be done."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.core.interruption import SpokenClause


@dataclass(frozen=True, slots=True)
class Hush:
    """Silence now: the lane of `generation` is dead, and so is whatever is still being made for it."""

    generation: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence now, but the reply of `generation` may go on from the very sample."""

    generation: int


@dataclass(frozen=True, slots=True)
class Resume:
    """The reply of `generation` goes on if it was paused. `pausable`: whether speech may pause it again."""

    generation: int
    pausable: bool


@dataclass(frozen=True, slots=True)
class Begin:
    """A turn begins, with this generation for its response."""

    generation: int


@dataclass(frozen=True, slots=True)
class Listen:
    """Take the utterance of `generation`, from what was heard at `since` on; give up at `patience_until`.

    `preroll`: how many seconds of sound before `since` belong to it; None: as many as hold a wake word. `held`: the
    button is down, and until it comes up neither a pause nor the patience ends it.
    """

    generation: int
    since: float
    patience_until: float
    preroll: float | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class LetGo:
    """The button is up again: from now on a pause, or the patience, ends the utterance of `generation`."""

    generation: int


@dataclass(frozen=True, slots=True)
class Overhear:
    """Take what is said during the reply of `generation`, from `since` on; give up at `patience_until`."""

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
    """Say `text`, or what comes as it is worded if that is None. `pausable`: whether speech may pause it."""

    generation: int
    text: str | None
    pausable: bool


@dataclass(frozen=True, slots=True)
class Remember:
    """The reply of `generation` is over: the history keeps what was heard of it."""

    generation: int
    played: int
    """In samples, as `clauses` counts them."""
    clauses: tuple[SpokenClause, ...]
    cut: bool


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


Effect = (
    Hush
    | Pause
    | Resume
    | Begin
    | Listen
    | LetGo
    | Overhear
    | FinishListening
    | Think
    | Speak
    | Remember
    | Drop
    | Report
)
