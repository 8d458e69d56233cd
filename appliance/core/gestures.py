"""Edges of the push button -> presses, and how each ends.

Rules:
- The first edge down is the press, at once: nothing waits for the contact to come to rest.
- What bounces, when it is pressed and when it is let go, is no press: the line must have been up for a while before.
- It has been let go when the line has been up for that while: a contact that fails for a moment lets go of nothing.
- A button that was down from the start is not pressed until it has been let go.
"""

from math import inf

SETTLE = 0.03
"""Seconds that the line is up before it can be pressed anew: contacts bounce for less, and nobody presses faster."""

HOLD = 0.4
"""Seconds from which on a press is a hold: a tap takes 0.1 to 0.2, that of somebody slow 0.3."""


class Debounce:
    """Tells presses from bounces; `down`: how the line is now."""

    def __init__(self, *, down: bool) -> None:
        self._up_since = inf if down else -inf
        self.pressed = False
        """Whether a press is not over yet."""

    def edge(self, down: bool, at: float) -> bool:
        """The line went down, or else up, at the time `at` in seconds. Whether that is a press."""
        if not down:
            self._up_since = at
            return False
        pressed = at - self._up_since >= SETTLE
        self._up_since = inf
        self.pressed = self.pressed or pressed
        return pressed

    def let_go(self, at: float) -> bool:
        """No edge has come until `at`. Whether that is the end of a press; it is told once."""
        over = self.pressed and at - self._up_since >= SETTLE
        self.pressed = self.pressed and not over
        return over
