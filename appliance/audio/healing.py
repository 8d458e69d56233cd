"""When a card that is lost is tried again, and when its owner is told. No clock: all times are given, in seconds."""

import math

FIRST_DELAY = 0.25
GROWTH = 1.5
LONGEST_DELAY = 2.0
"""Seconds between two tries, so that a card that is back is found, and opened, within three."""

REST = 9.0
"""A try that fails without a sign of a card is followed by a rest of so many times its length: making the list of the
cards takes a small board up to a second, in which it can do little else, and the other card may be closed."""

STEADY = 10.0
"""Seconds in which a card that was back has to work before it counts as healed. One that comes and goes more often is
told about once, not each time."""


class Health:
    """Of one card, which is believed to work until `lost`."""

    def __init__(self) -> None:
        self.is_lost = False
        """As far as was told."""
        self.lost_at = 0.0
        self._back_at = -math.inf
        self._relapsed = False
        self._delay = FIRST_DELAY
        self._rest_until = -math.inf

    def lost(self, now: float) -> bool:
        """It does not work. Whether that is news."""
        self._relapsed = now - self._back_at < STEADY
        if not self._relapsed:
            self._delay = FIRST_DELAY
        news, self.is_lost = not self.is_lost, True
        if news:
            self.lost_at = now
        return news

    def delay(self) -> float:
        """Seconds until the next try."""
        delay, self._delay = self._delay, min(self._delay * GROWTH, LONGEST_DELAY)
        return delay

    def failed(self, began: float, now: float) -> None:
        """A try has failed that began then."""
        self._rest_until = now + REST * (now - began)

    def rests(self, now: float) -> bool:
        """Whether it is too early for another try without a sign that there is a card."""
        return now < self._rest_until

    def works(self, now: float) -> float:
        """It moves sound again. Seconds that it has to go on before that is told."""
        self._back_at = now
        return STEADY if self._relapsed else 0.0

    def told(self) -> None:
        """It was told that the card is back."""
        self.is_lost = False
