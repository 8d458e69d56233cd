"""How loud the room is -> which voice is only the room's: a television that never pauses, noise that passes for voice.

Rules:
- The voice of the room is as loud as what passes for voice while nobody is listened to and nothing is played, but for
  its loudest moments. Where there was hardly any, nothing is taken for the room: noise that is told from voice need not
  be told from the user.
- The wake word, and what is said to the appliance, is not the room.
- Who speaks to the appliance must stand out from the room; who does not is told from it by nothing, and heard as ever.
- What is no louder than the room was, for about a syllable, is the room.
"""

from collections import deque
from math import inf

SYLLABLE = 8
"""Windows, a quarter of a second, over which the level is taken: that of speech falls to nothing between sounds."""

WORD = 1.4
"""Seconds before the opening of an utterance that may hold the wake word, and say nothing of the room."""

MEMORY = 120.0
"""Seconds after which a room may have become another one."""

MOST = 1000
"""Windows of voice that are remembered: half a minute."""

ENOUGH = 30
"""Windows of voice, 1 s, that tell how loud a room is."""

LOUDEST = 0.95
"""Share of the levels of the room that are below what it is taken for."""

_MARGIN = 2.0
"""How much more power, 3 dB, the user has than the room at least. With a television 15 or 10 dB below them, none of 50
spoken orders was cut off, and each ended 0.8 to 1.4 s after its last word."""

_STANDS_OUT = 8.0
"""How much more power, 9 dB, the loudest syllable of the user has than the room, if the level is to tell them apart."""


class Loudness:
    """The power of the last syllable's length of sound."""

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=SYLLABLE)

    def step(self, level: float) -> float:
        """Take the level of the next window."""
        self._powers.append(level * level)
        return sum(self._powers) / len(self._powers)


class Room:
    """Remembers how loud it was while nobody was listened to."""

    def __init__(self) -> None:
        self._loudness = Loudness()
        self._voice: deque[tuple[float, float]] = deque(maxlen=MOST)

    def hear(self, level: float, at: float, *, is_voice: bool, is_ours: bool) -> None:
        """Take the window that ends at `at`. `is_ours`: somebody is listened to, or the appliance speaks."""
        power = self._loudness.step(level)
        while self._voice and self._voice[0][0] < at - MEMORY:
            self._voice.popleft()
        if is_voice and not is_ours:
            self._voice.append((at, power))

    def power(self, opened: float) -> float:
        """What it was before an utterance that was opened at `opened`, infinite if nobody knows.

        What came later than that, and just before, is forgotten: it is not the room's.
        """
        while self._voice and self._voice[-1][0] > opened - WORD:
            self._voice.pop()
        if len(self._voice) < ENOUGH:
            return inf
        return sorted(power for _, power in self._voice)[int(LOUDEST * len(self._voice))]


class Foreground:
    """Tells the user of one utterance from a room of that power."""

    def __init__(self, room: float) -> None:
        self._room = room
        self._loudness = Loudness()
        self._loudest = 0.0

    def is_room(self, level: float) -> bool:
        """Take the level of the next window. Whether it is only the room's."""
        power = self._loudness.step(level)
        self._loudest = max(self._loudest, power)
        return self._room * _STANDS_OUT < self._loudest and power <= self._room * _MARGIN
