"""English."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import FormatPurpose, RbnfEngine

from appliance.thinking.phrases.wording import capital, listed, parts

NAME = "English"
READY = "I'm ready."
SOUND_IS_BACK = "Sound is back."
HOW_I_AM = "I'm fine, thank you."
HELP = (
    "You can ask me what time it is, or what day. I can set timers, and be louder or quieter. "
    "I can say my last answer again, or go on with it, and I'm quiet when you say stop."
)
NOTHING_TO_REPEAT = "I haven't said anything yet."
NOTHING_TO_GO_ON_WITH = "I have nothing more to say."
UNKNOWN = "Sorry, I can't answer that. I can tell you the time and the date."
ONE_MOMENT = "One moment."
MODEL_SLOW = "I'm still waiting for the language model. Ask me again in a minute, or ask for the time or the date now."
MODEL_WARMING = "The language model is still starting. Ask me again in a minute, or ask for the time or the date now."
MODEL_BUSY = "The language model is busy. Ask me again in a minute, or ask for the time or the date now."
MODEL_TOO_LONG = "That was too long for the language model. Ask me in fewer words, or ask for the time or the date."
NO_MODEL = "I can't reach the language model just now. I can still tell you the time and the date."
BROKE_OFF = "Sorry, I've lost the connection to the language model."
APOLOGY = "Sorry, something went wrong. Please try again."
TIMER_HOW_LONG = "For how long?"
TIMER_TOO_LONG = "I can only set a timer for up to a day."
TIMERS_TOO_MANY = "There are too many timers. Cancel one first."
TIMERS_NONE = "There is no timer."
TIMER_UNKNOWN = "I have no such timer."
TIMER_CANCELLED = "The timer is cancelled."
TIMERS_CANCELLED = "All timers are cancelled."
VOLUME_WHICH = "How loud, from one to ten?"
VOLUME_HIGHEST = "I can't be any louder."
VOLUME_LOWEST = "I can't be any quieter."

BACK_CHANNELS = (
    *("mm", "mm-hmm", "mhm", "hm", "uh", "uh-huh", "um", "ah", "aha", "oh", "ooh", "huh", "ha", "wow"),
    *("yeah", "yes", "yep", "yup", "okay", "ok", "right", "alright", "all right", "sure", "of course", "please"),
    *("I see", "I know", "I understand", "got it", "gotcha", "makes sense", "fair enough", "good to know"),
    *("go on", "go ahead", "carry on", "continue", "keep going", "and", "so", "well"),
    *("thanks", "thank you", "fine", "good", "great", "nice", "cool", "perfect", "excellent", "wonderful"),
    *("really", "interesting", "exactly", "absolutely", "indeed", "true", "that's right", "that's true"),
    *("that's good", "that's great", "that's nice", "that's interesting"),
    # What Moonshine writes for humming and laughing.
    *("m h m", "amen", "make sense", "thank you for watching"),
)

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_PARTS_OF_DAY = ((1, "at night"), (12, "in the morning"), (18, "in the afternoon"), (21, "in the evening"))

_numbers = RbnfEngine.for_language("en")


def tell_time(now: time) -> str:
    """As people say it: "It's three oh five in the afternoon.", "It's noon."."""
    if now.minute == 0 and now.hour % 12 == 0:
        return "It's noon." if now.hour else "It's midnight."
    hour = _cardinal(now.hour % 12 or 12)
    if now.minute == 0:
        minute = "o'clock"
    else:
        minute = f"oh {_cardinal(now.minute)}" if now.minute < 10 else _cardinal(now.minute)
    part = next((part for until, part in _PARTS_OF_DAY if now.hour < until), "at night")
    return f"It's {hour} {minute} {part}."


def tell_date(today: date) -> str:
    """As people say it: "It's Monday, the thirtieth of November."."""
    day = _numbers.format_number(today.day, FormatPurpose.ORDINAL).text
    return f"It's {_DAYS[today.weekday()]}, the {day} of {_MONTHS[today.month - 1]}."


def timer_called(name: str, seconds: int) -> str:
    """ "the pasta timer", "the timer for ten minutes"."""
    return f"the {name} timer" if name else f"the timer for {_duration(seconds)}"


def timer_set(name: str, seconds: int) -> str:
    """ "Ten minutes, starting now."."""
    return capital(
        f"{name} timer, {_duration(seconds)}, starting now." if name else f"{_duration(seconds)}, starting now."
    )


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"There are {listed(called, 'and')}. Say which one to cancel, or say cancel all timers."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "Two minutes and ten seconds left."."""
    if len(left) == 1:
        return capital(f"{_duration(left[0][1])} left.")
    return " ".join(capital(f"{called} has {_duration(seconds)} left.") for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "The pasta timer is done."."""
    return capital(f"{listed(called, 'and')} {'is' if len(called) == 1 else 'are'} done.")


def timers_missed(called: Sequence[str]) -> str:
    """ "While I was off, the pasta timer ended."."""
    return f"While I was off, {listed(called, 'and')} ended."


def volume_set(level: int) -> str:
    """ "Volume five."."""
    return f"Volume {_cardinal(level)}."


def tell_volume(level: int) -> str:
    """ "The volume is five, out of ten."."""
    return f"The volume is {_cardinal(level)}, out of ten."


def _duration(seconds: int) -> str:
    names = (("hour", "hours"), ("minute", "minutes"), ("second", "seconds"))
    return listed([f"{_cardinal(count)} {names[unit][count != 1]}" for unit, count in parts(seconds)], "and")


def _cardinal(number: int) -> str:
    return _numbers.format_number(number, FormatPurpose.CARDINAL).text
