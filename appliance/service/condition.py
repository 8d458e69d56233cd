"""How the appliance is, as `appliance status` tells it. Nothing of what was said is in it."""

import msgspec

from appliance.service.ends import End


class CardStatus(msgspec.Struct, frozen=True):
    """A sound card, by its name, and whether it works."""

    name: str
    works: bool


class ButtonStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """The push button."""

    state: str
    """"works", "broken", or "none": by the configuration, for want of pins, or as long as it is not in use."""
    why: str = ""
    """What is wrong with it, in one line."""
    remedy: str = ""


class LastAnswer(msgspec.Struct, frozen=True):
    """What the last answer was for, who gave it ("skills", a server, or "nobody"), and how many seconds ago."""

    intent: str
    by: str
    ago: float


class TurnStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn of the conversation."""

    generation: int
    ago: float
    """Seconds since it began."""
    woken_by: str
    """"word", "button", "speech" or "follow-up"."""
    intent: str = ""
    """What was wanted; nothing if that is not known, or nobody spoke."""
    by: str = ""
    """Who answered: "skills", a server, or "nobody"."""
    first_sound: float | None = None
    """Seconds from the end of speech to the first sound of the reply; None if there was none."""
    interrupted_by: str = ""


class InterruptionStatus(msgspec.Struct, frozen=True):
    """A reply that was cut off."""

    by: str
    ago: float
    silent_after: float | None = None
    """Seconds until nothing of it could be heard any more."""


class ConfigurationStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which configuration is in force."""

    generation: int | None
    """None: it is none that was recorded."""
    on_trial: bool = False
    taken_back: str = ""
    """What became of the last one that did not work: which, and why."""


class Condition(msgspec.Struct, frozen=True):
    """How the appliance is."""

    phase: str
    running: float
    """In seconds."""
    microphone: CardStatus
    speaker: CardStatus
    language: str
    recogniser: str
    voice: str
    language_model: str
    """How the best of its servers is; "off", or "none found"."""
    language_model_server: str = ""
    """Which server that is."""
    last_answer: LastAnswer | None = None
    turns: tuple[TurnStatus, ...] = ()
    """The last ones, the newest first."""
    last_interruption: InterruptionStatus | None = None
    configuration: ConfigurationStatus | None = None
    last_end: End | None = None
    """How the process before this one ended."""
    button: ButtonStatus = ButtonStatus("none")
    problems: tuple[str, ...] = ()
    """What is wrong now, in one line each."""
