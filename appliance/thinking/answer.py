"""What comes of thinking."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from appliance.thinking.skills.skill import Deed


@dataclass(frozen=True, slots=True)
class Answer:
    """What was meant, and what to say to it. `text` is empty when silence is the answer."""

    intent: str
    text: str
    deeds: tuple[Deed, ...] = ()
    """What is to be done besides."""
    asks: bool = False
    """Whether it is a question, which may be answered without a wake word."""


@dataclass(frozen=True, slots=True)
class Wording:
    """An answer that is still being worded: `words` gives it piece by piece, and stops its writer when it is closed.

    `by` names the writer when the words are over; empty if it is nobody in particular.
    """

    intent: str
    words: AsyncGenerator[str, None]
    by: Callable[[], str] = str
