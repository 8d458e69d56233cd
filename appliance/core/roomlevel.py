"""How loud the room is -> which voice is only the room's: a television that never pauses, noise that passes for voice.

Rules:
- The voice of the room is as loud as what passed for voice before the wake word, but for its loudest moments. Where
  there was hardly any, nothing is taken for the room: noise that is told from voice need not be told from the user.
- Whoever is addressed by must stand out from that; who does not is told from the room by nothing, and heard as ever.
- What is no louder than the room was, for about a syllable, is the room.
"""

from collections import deque

SYLLABLE = 8
"""Windows, a quarter of a second, over which the level is taken: that of speech falls to nothing between sounds."""

WORD = 1.4
"""Seconds before the opening that may hold the wake word, and say nothing of the room."""

ENOUGH = 30
"""Windows of voice, 1 s, that tell how loud a room is."""

LOUDEST = 0.95
"""Share of the levels of the room that are below what it is taken for."""

_MARGIN = 2.0
"""How much more power, 3 dB, the user has than the room at least."""

_STANDS_OUT = 8.0
"""How much more power, 9 dB, the loudest syllable of the user has than the room, if the level is to tell them apart."""


class RoomLevel:
    """Of one utterance, which was opened at `opened`."""

    def __init__(self, opened: float) -> None:
        self._word_from = opened - WORD
        self._powers: deque[float] = deque(maxlen=SYLLABLE)
        self._before: list[float] = []
        self._room: float | None = None
        self._loudest = 0.0

    def is_room(self, level: float, at: float, *, voice: bool) -> bool:
        """Take the level of the window that ends at `at`, and passes for `voice` or not. Whether it is the room's."""
        self._powers.append(level * level)
        power = sum(self._powers) / len(self._powers)
        if at <= self._word_from:
            if voice:
                self._before.append(power)
            return False
        if self._room is None:
            self._room = self._measured()
        self._loudest = max(self._loudest, power)
        return self._room * _STANDS_OUT < self._loudest and power <= self._room * _MARGIN

    def _measured(self) -> float:
        """The power of the room; infinite where too little of it was heard."""
        if len(self._before) < ENOUGH:
            return float("inf")
        return sorted(self._before)[int(LOUDEST * len(self._before))]
