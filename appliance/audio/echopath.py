"""Whether what the speaker plays comes back to the microphone at all.

The first moments of a reply show it: if nothing stands out from the room in them, nothing comes back.
"""

from collections import deque

LISTENED = 0.8
"""Seconds of a reply's sound after which its echo must have come back, if there is any."""

TWICE = 2
"""Replies in a row that must seem to come back where none did before: the user may have spoken into one."""

STANDS_OUT = 20.0
"""How many times as much power as the quietest 10 ms before a reply has something that may be its echo: 13 dB. Steady
noise is 4 dB above its quietest moments."""

FAINTEST = 1e-9
"""Power, -90 dB of full scale, below which no room is."""

BEFORE = 300
"""Blocks before a reply, 3 s, of which the quietest is the room: the user may have spoken in the others."""


class EchoPath:
    """From the speaker to the microphone, by the powers that the microphone hears."""

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=BEFORE)
        self._room = FAINTEST
        self._sounded = 0.0
        """Seconds of this reply's sound."""
        self._quiet = True
        """Whether nothing stood out from the room since it began."""
        self.forget()

    def forget(self) -> None:
        """Nothing is known of the path any more."""
        self._came_back = 0
        """Replies in a row that seemed to come back."""
        self.audible = True
        """Whether this reply comes back; before that is known, whether the last one did."""

    def idle(self, power: float) -> None:
        """A block was heard while nothing sounds."""
        self._powers.append(power)

    def begin(self) -> None:
        """A reply begins to sound."""
        self._room = max(min(self._powers, default=FAINTEST), FAINTEST)
        self._powers.clear()
        self._sounded = 0.0
        self._quiet = True

    def listen(self, power: float, length: float) -> None:
        """A block of `length` seconds was heard while it sounds."""
        if self._sounded >= LISTENED:
            return
        self._sounded += length
        self._quiet = self._quiet and power <= STANDS_OUT * self._room
        if self._sounded >= LISTENED:
            self._came_back = 0 if self._quiet else self._came_back + 1
            self.audible = self._came_back >= (1 if self.audible else TWICE)
