"""Whether there is anything to hear at all: so that no model runs in an empty room.

Loudness is that of the differences between neighbouring samples: mains hum and the rumble of a house, whose level
wavers, hardly count, and what makes words clear does. The room's own loudness is the least of the last seconds, so it
follows a fan that is switched on, or hiss that an automatic gain turns up, some seconds later; until then the gate is
open.
"""

from collections import deque

import numpy as np

from appliance.audio.devices import Samples

_STANDS_OUT = 1.5
"""How many times as much power as the room has a sound that counts: 1.8 dB more. In steady noise it is up to 1.4 times
as much. No detection is lost in silence, hiss, hum or a kitchen (docs/wake.md)."""

_WINDOW = 64
"""Steps, 5.1 s, of which the quietest is the room. Nobody speaks for longer without a pause of a step."""


class SoundGate:
    """Looks at one step of sound after the other. `memory`: for how many steps a sound still matters."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._powers: deque[float] = deque(maxlen=_WINDOW)
        self.reset()

    def reset(self) -> None:
        """Nothing is known of the room: the gate is open for as long as a sound matters."""
        self._powers.clear()
        self._still = 0

    def passes(self, step: Samples) -> bool:
        """Whether a sound that stands out from the room is in this step, or in one before that still matters."""
        changes = np.diff(step)
        power = float(np.dot(changes, changes))
        self._powers.append(power)
        self._still = 0 if power > _STANDS_OUT * min(self._powers) else self._still + 1
        return self._still <= self._memory
