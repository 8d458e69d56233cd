"""What every skill gets, and what it is."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from appliance.thinking.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Question:
    """All that an answer may depend on besides the intent itself."""

    now: datetime
    """Local time."""
    last_reply: str
    """What the appliance said before; empty when it has said nothing yet."""
    rest: str
    """What is left to say of it after an interruption; empty when it was heard to its end."""
    phrases: Phrases


Skill = Callable[[Question], str]
"""Gives the answer to say, which is empty when the best answer is silence. Takes milliseconds, and no I/O."""
