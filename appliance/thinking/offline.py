"""Answers that need no network: the intent of what was heard, and its skill."""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import lru_cache

from appliance.thinking.answer import Answer
from appliance.thinking.history import History
from appliance.thinking.intents import ANSWER, IntentMatcher, Match
from appliance.thinking.phrases import PHRASES
from appliance.thinking.skills import NEEDS, SKILLS, stop
from appliance.thinking.skills.skill import Done, Question, Situation

_TEXTS = 8
"""What was heard last, and what it was while it was being said."""

UNKNOWN = "unknown"
"""The intent of what nothing here understands."""


class Offline:
    """The skills in one language; an unsupported language is a BadInputError. `now` gives the local time.

    `situation` tells how it stands with what the skills can change; without it there is nothing to change.
    """

    def __init__(
        self, language: str, now: Callable[[], datetime], situation: Callable[[], Situation] = Situation
    ) -> None:
        # One text is asked about several times: whether it is complete, what it means for a reply, and for its answer.
        self._match_text = lru_cache(_TEXTS)(IntentMatcher(language).match)
        self._phrases = PHRASES[language]
        self._now = now
        self._situation = situation
        self._asked: Match | None = None
        """What was meant when the appliance asked back, until something else is said."""

    def answer(self, heard: str, conversation: History) -> Answer:
        """The answer to `heard`, which begins after the wake phrase. Takes milliseconds.

        What no skill is meant by gets the intent `UNKNOWN` and a sentence that says so, and what there are answers to.
        """
        match, self._asked = self._match(heard), None
        if match is None:
            return Answer(UNKNOWN, self._phrases.UNKNOWN)
        question = Question(
            now=self._now(),
            last_reply=conversation.last_reply,
            rest=conversation.rest,
            phrases=self._phrases,
            slots=match.slots,
            situation=self._situation(),
        )
        done = SKILLS[match.intent](question)
        if not isinstance(done, Done):
            return Answer(match.intent, done)
        self._asked = match if done.lacks else None
        return Answer(match.intent, done.text, done.deeds, asks=bool(done.lacks))

    def understands(self, heard: str) -> bool:
        """Whether a skill is meant by `heard`. Takes milliseconds."""
        return self._match(heard) is not None

    def lacks(self, heard: str) -> bool:
        """Whether a skill is meant by `heard`, but not all is said that it takes: "set a timer". Takes milliseconds."""
        match = self._match(heard)
        return match is not None and match.intent in NEEDS and NEEDS[match.intent] not in match.slots

    def means_stop(self, heard: str) -> bool:
        """Whether `heard` wants nothing but silence. Takes milliseconds."""
        match = self._match(heard)
        return match is not None and match.intent == stop.INTENT

    def _match(self, heard: str) -> Match | None:
        match, asked = self._match_text(heard), self._asked
        if match is None or match.intent != ANSWER:
            return match
        if asked is None or NEEDS[asked.intent] not in match.slots:
            return None
        return Match(asked.intent, {**asked.slots, **match.slots})

    @property
    def back_channels(self) -> Collection[str]:
        """What listeners say without wanting to speak."""
        return self._phrases.BACK_CHANNELS

    def apology(self) -> str:
        """What to say when something of ours broke."""
        return self._phrases.APOLOGY
