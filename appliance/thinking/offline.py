"""Answers that need no network: the intent of what was heard, and its skill."""

from collections.abc import Callable, Collection
from datetime import datetime

from appliance.thinking.answer import Answer
from appliance.thinking.history import History
from appliance.thinking.intents import IntentMatcher
from appliance.thinking.phrases import PHRASES
from appliance.thinking.skills import SKILLS, stop
from appliance.thinking.skills.skill import Question

UNKNOWN = "unknown"
"""The intent of what nothing here understands."""


class Offline:
    """The skills in one language; an unsupported language is a BadInputError. `now` gives the local time."""

    def __init__(self, language: str, now: Callable[[], datetime]) -> None:
        self._matcher = IntentMatcher(language)
        self._phrases = PHRASES[language]
        self._now = now

    def answer(self, heard: str, conversation: History) -> Answer:
        """The answer to `heard`, which begins after the wake phrase. Takes milliseconds.

        What no skill is meant by gets the intent `UNKNOWN` and a sentence that says so, and what there are answers to.
        """
        intent = self._matcher.match(heard)
        if intent is None:
            return Answer(UNKNOWN, self._phrases.UNKNOWN)
        question = Question(self._now(), conversation.last_reply, conversation.rest, self._phrases)
        return Answer(intent, SKILLS[intent](question))

    def understands(self, heard: str) -> bool:
        """Whether a skill is meant by `heard`. Takes milliseconds."""
        return self._matcher.match(heard) is not None

    def means_stop(self, heard: str) -> bool:
        """Whether `heard` wants nothing but silence. Takes milliseconds."""
        return self._matcher.match(heard) == stop.INTENT

    @property
    def back_channels(self) -> Collection[str]:
        """What listeners say without wanting to speak."""
        return self._phrases.BACK_CHANNELS

    def apology(self) -> str:
        """What to say when something of ours broke."""
        return self._phrases.APOLOGY
