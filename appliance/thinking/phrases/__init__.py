"""What the appliance says, per language: one module each, which the skills choose from."""

from collections.abc import Collection, Sequence
from datetime import date, time
from typing import Protocol

from appliance.thinking.phrases import de, en, es, fr, it, ko


class Phrases(Protocol):
    """What a language's module provides, in words that any voice of that language, a man's or a woman's, says right."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What the language is called in itself."""

    @property
    def READY(self) -> str:  # noqa: N802
        """The appliance has started, and hears."""

    @property
    def SOUND_IS_BACK(self) -> str:  # noqa: N802
        """It could neither be heard nor hear for some time."""

    @property
    def HOW_I_AM(self) -> str: ...  # noqa: N802

    @property
    def HELP(self) -> str:  # noqa: N802
        """What can be asked for."""

    @property
    def NOTHING_TO_REPEAT(self) -> str: ...  # noqa: N802

    @property
    def NOTHING_TO_GO_ON_WITH(self) -> str: ...  # noqa: N802

    @property
    def UNKNOWN(self) -> str:  # noqa: N802
        """There is no answer to this; what there are answers to."""

    @property
    def APOLOGY(self) -> str:  # noqa: N802
        """Something of ours broke."""

    @property
    def ONE_MOMENT(self) -> str:  # noqa: N802
        """The language model takes its time."""

    @property
    def MODEL_SLOW(self) -> str:  # noqa: N802
        """It took too long."""

    @property
    def MODEL_WARMING(self) -> str:  # noqa: N802
        """It is there and not ready yet."""

    @property
    def MODEL_BUSY(self) -> str:  # noqa: N802
        """It has too much to do."""

    @property
    def MODEL_TOO_LONG(self) -> str:  # noqa: N802
        """Already the question is more than it can take."""

    @property
    def NO_MODEL(self) -> str:  # noqa: N802
        """It is not there any more; what works without it."""

    @property
    def BROKE_OFF(self) -> str:  # noqa: N802
        """It vanished in the middle of its answer."""

    @property
    def BACK_CHANNELS(self) -> Collection[str]:  # noqa: N802
        """What listeners say, alone or one after the other, without wanting to speak, as recognisers write it."""

    @property
    def TIMER_HOW_LONG(self) -> str:  # noqa: N802
        """Asks for the time of a timer."""

    @property
    def TIMER_TOO_LONG(self) -> str:  # noqa: N802
        """No timer runs for more than a day."""

    @property
    def TIMERS_TOO_MANY(self) -> str:  # noqa: N802
        """There cannot be another one."""

    @property
    def TIMERS_NONE(self) -> str:  # noqa: N802
        """There is none."""

    @property
    def TIMER_UNKNOWN(self) -> str:  # noqa: N802
        """There are some, but not the one that was named."""

    @property
    def TIMER_CANCELLED(self) -> str: ...  # noqa: N802

    @property
    def TIMERS_CANCELLED(self) -> str: ...  # noqa: N802

    @property
    def VOLUME_WHICH(self) -> str:  # noqa: N802
        """Asks for a level."""

    @property
    def VOLUME_HIGHEST(self) -> str:  # noqa: N802
        """It cannot be louder."""

    @property
    def VOLUME_LOWEST(self) -> str:  # noqa: N802
        """It cannot be quieter, and still be heard."""

    def timer_called(self, name: str, seconds: int) -> str:
        """What a timer is called, by its name or else by its time, within a sentence."""

    def timer_set(self, name: str, seconds: int) -> str:
        """A timer has begun; `name` may be empty."""

    def timer_which(self, called: Sequence[str]) -> str:
        """Names the timers that there are, and what to say so that the right one is cancelled."""

    def timers_left(self, left: Sequence[tuple[str, int]]) -> str:
        """How many seconds each of these still runs; one alone need not be named."""

    def timers_done(self, called: Sequence[str]) -> str:
        """These are over."""

    def timers_missed(self, called: Sequence[str]) -> str:
        """These were over while the appliance had no power."""

    def volume_set(self, level: int) -> str:
        """The level is this now."""

    def tell_volume(self, level: int) -> str:
        """The level is this, of ten."""

    def tell_time(self, now: time) -> str:
        """The time of day."""

    def tell_date(self, today: date) -> str:
        """The day of the week, of the month, and the month."""


PHRASES: dict[str, Phrases] = {"de": de, "en": en, "es": es, "fr": fr, "it": it, "ko": ko}
