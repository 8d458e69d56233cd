"""Where the conversation stands."""

import math
from dataclasses import dataclass, field
from enum import Enum

from appliance.core.events import Announced, Heard, Overheard, Pressed, WakeHeard
from appliance.core.interruption import Gates


class Phase(Enum):
    """What the appliance is doing."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
    PAUSED = "paused"
    """Somebody speaks during the reply, which waits until it is known what that means."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The whole state of the conversation. `patience`: seconds that the user may take before the first word."""

    patience: float
    gates: Gates = field(default_factory=Gates)
    follow_up: float = 0.0
    """Seconds after a reply that came as it was worded in which the next question needs no wake word."""
    phase: Phase = Phase.IDLE
    generation: int = 0
    """The number of the newest response; 0 before the first."""
    patience_until: float = 0.0
    invites: bool = False
    """Whether what is said after the reply needs no wake word."""
    follows_up: bool = False
    """Whether nobody has asked for this turn yet, and somebody may go on with the one before."""
    follows_speech: bool = False
    """Whether it was begun by what was said during the one before, without a trigger."""
    unasked: bool = False
    """Whether nobody has asked for what is being said."""
    announced: tuple[Announced, ...] = ()
    """What is to be said as soon as nothing else is going on."""
    listened_until: float = 0.0
    """How far the utterance went; where listening goes on if only the wake word was said."""
    voice: bool = False
    """Whether somebody's speech has been reported as started, but not as ended."""
    voice_since: float = -math.inf
    """When the newest speech began."""
    overhearing: bool = False
    """Whether what is being said, to whomever, while the appliance thinks or speaks is being taken down."""
    remarks: tuple[float, ...] = ()
    """When each of those began, the newest included, of which it is not known yet what they mean."""
    attending: bool = False
    """Whether what is said to the appliance, which was addressed, is awaited or being taken down."""
    sounding_since: float = 0.0
    """When the reply began to sound, or went on after a pause."""
    held_at: float = 0.0
    """Since when the speech that is taken down cannot be an echo: it paused the reply, or there was none yet."""
    last_voice: float = 0.0
    """When the last of that speech was over."""
    nothing_left: bool = False
    """Whether there is no reply any more, and only what was said during it is not known yet for what it means."""
    held_down: float | None = None
    """Since when the button is down that the utterance was begun with."""
    addressed: WakeHeard | Pressed | None = None
    """The trigger that came during the reply and may not interrupt it: its turn comes when the reply is over."""
    waiting: Heard | Overheard | None = None
    """What was said to the appliance, and is the next turn's question once the reply is over."""
    asked_at: float = 0.0
    """When that began, if it was overheard."""
    false_alarms: int = 0
    """How often this reply was paused for nothing."""
    echoes: int = 0
    """How many echoes of its own voice the appliance has heard since somebody else spoke during a reply."""
    deaf: int = 0
    """In how many replies, the newest one included, speech is taken for an echo and pauses nothing."""
