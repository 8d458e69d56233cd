"""From the microphone to the ears: the speaker's sound is taken out, and what is soft gets louder."""

from collections.abc import Callable
from typing import Literal

from appliance.audio.devices import Frame
from appliance.audio.echo import AdaptiveCanceller, EchoCanceller, Untouched
from appliance.audio.gain import AutomaticGain
from appliance.audio.loudness import Loudness
from appliance.audio.reference import Reference

LAST_WORDS = 2.0
"""Seconds at the end of what was said that tell how loud it was."""


class FrontEnd:
    """For one microphone, beside a speaker with `rate` samples per second.

    `echo`: who takes the speaker's sound out, we, the card or nobody. `automatic_gain`: whether soft sound gets louder.
    """

    def __init__(self, rate: int, echo: Literal["cancel", "hardware", "none"], *, automatic_gain: bool) -> None:
        self._reference = Reference(rate)
        self._canceller: EchoCanceller
        if echo == "cancel":
            self._canceller = AdaptiveCanceller(self._reference)
        else:
            self._canceller = Untouched(settled=echo == "hardware")
        self._loudness = Loudness()
        self._gain = AutomaticGain() if automatic_gain else None

    @property
    def played(self) -> Callable[[Frame], None]:
        """Takes each frame that the speaker plays, from the speaker's thread."""
        return self._reference.add

    def process(self, frame: Frame) -> Frame:
        """What the ears should hear of a frame. From the microphone's thread."""
        frame = self._canceller.clean(frame)
        self._loudness.note(frame)
        return frame if self._gain is None else self._gain.apply(frame)

    def plays(self, begin: float, end: float) -> bool:
        """Whether the speaker sounded between two times. From any thread."""
        return self._reference.sounds(begin, end)

    def is_sure(self, begin: float, end: float) -> bool:
        """Whether what was heard between two times cannot be the speaker. From any thread."""
        return self._canceller.settled or not self._reference.sounds(begin, end)

    def loudness(self, until: float) -> float | None:
        """How loud the last words before `until` were, in decibels of full scale. From any thread."""
        return self._loudness.of(until - LAST_WORDS, until)
