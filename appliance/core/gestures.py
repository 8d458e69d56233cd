"""Edges of the push button -> presses.

Rules:
- The first edge down is the press, at once: nothing waits for the contact to come to rest.
- What bounces, when it is pressed and when it is let go, is no press: the line must have been up for a while before.
- A button that was down from the start is not pressed until it has been let go.
"""

from math import inf

SETTLE = 0.03
"""Seconds that the line is up before it can be pressed anew: contacts bounce for less, and nobody presses faster."""


class Debounce:
    """Tells presses from bounces; `down`: how the line is now."""

    def __init__(self, *, down: bool) -> None:
        self._up_since = inf if down else -inf

    def edge(self, down: bool, at: float) -> bool:
        """The line went down, or else up, at the time `at` in seconds. Whether that is a press."""
        if not down:
            self._up_since = at
            return False
        pressed = at - self._up_since >= SETTLE
        self._up_since = inf
        return pressed
