"""What the conductor can be told. `at` is in seconds on the clock of the microphone's frames.

What belongs to a response carries the generation it was asked for in; `step` drops what is stale. A trigger carries the
number of the turn that it came in, so that several in one instant are one interruption.
"""

from dataclasses import dataclass
from enum import Enum

from appliance.core.interruption import Meaning, SpokenClause


class ListeningEnd(Enum):
    """Why an utterance was over."""

    SILENCE = "silence"
    """The user spoke, and then was quiet for long enough."""
    COMPLETE = "complete"
    """So for a shorter while, since what was said wants nothing more."""
    LEVEL = "level"
    """So, though there was voice all the time: but none that was louder than the room had been before."""
    LIMIT = "limit"
    """The user, or the noise, went on for longer than an utterance may last."""
    NOTHING = "nothing"
    """Nobody spoke before the patience was over."""
    ASKED = "asked"
    """The user said so with the button."""


@dataclass(frozen=True, slots=True)
class WakeHeard:
    """A wake word was heard; `at` is the end of the audio that it was recognised in."""

    word: str
    score: float
    at: float
    turn: int = 0
    """The turn that it came in; the ears do not know it, and the supervisor fills it in."""
    clear: bool = True
    """Whether it counts by its score alone. What does not is looked at again, before `step` is told of it."""
    likely: bool = True
    """Whether its score reached the threshold."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """The button went down."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class Released:
    """The button came up again."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Voice activity began at `at`, whoever speaks and whatever the appliance is doing."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechSustained:
    """The speech that began at `since` has lasted, at `at`, for long enough to interrupt a reply."""

    since: float
    at: float


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """Voice activity ended: its last voice was at `at`."""

    at: float


@dataclass(frozen=True, slots=True)
class ListeningEnded:
    """The utterance of `generation` is complete: the last voice at `at`, decided at `decided`."""

    generation: int
    at: float
    decided: float
    why: ListeningEnd


@dataclass(frozen=True, slots=True)
class Heard:
    """Speech-to-text is done. `text` is without the wake word, and empty when nothing else was said."""

    generation: int
    text: str
    at: float
    confidence: float | None = None
    """0 … 1, where speech-to-text knows how sure it is."""


@dataclass(frozen=True, slots=True)
class Overheard:
    """Speech-to-text of what was said during the reply of `generation` is done, and what it means for the reply.

    `text` is without the wake word.
    """

    generation: int
    text: str
    meaning: Meaning
    at: float
    confidence: float | None = None
    """0 … 1, where speech-to-text knows how sure it is."""


@dataclass(frozen=True, slots=True)
class Answered:
    """There is an answer. `text` is what will be said: empty where silence is the answer, None if it is not yet known
    in full, and comes as it is worded.
    """

    generation: int
    intent: str
    text: str | None
    at: float
    asks: bool = False
    """Whether it is a question to the user."""


@dataclass(frozen=True, slots=True)
class Worded:
    """An answer that came as it was worded has come to its end, or was cut off: `text` is all of it.

    `by` is who worded it; empty if nobody in particular did.
    """

    generation: int
    text: str
    at: float
    by: str = ""


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """The first sample of the reply leaves the speaker at `at`."""

    generation: int
    at: float


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The last sample of the reply sounded at `at`; `seconds` of it did, or `played` samples. Exactly one per reply.

    `cut`: there was more to come. `clauses`: what the samples say, as far as they were made.
    """

    generation: int
    at: float
    seconds: float
    cut: bool
    played: int
    clauses: tuple[SpokenClause, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A stage of a response gave up. `message` says why, for the log; `apology` is what the user should hear."""

    generation: int
    message: str
    apology: str
    at: float


@dataclass(frozen=True, slots=True)
class Announced:
    """`text` is to be said, for which nobody has asked: as soon as nothing else is going on."""

    text: str
    at: float


Event = (
    WakeHeard
    | Pressed
    | Released
    | SpeechStarted
    | SpeechSustained
    | SpeechEnded
    | ListeningEnded
    | Heard
    | Overheard
    | Answered
    | Worded
    | ReplyStarted
    | ReplyEnded
    | Failed
    | Announced
)
