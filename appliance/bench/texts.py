"""What is said in the bench of hearing where no recordings have it."""

from collections.abc import Sequence
from itertools import product

COMPLETE = (
    "What time is it?",
    "What day is it today?",
    "Tell me the date.",
    "How are you?",
    "Set a timer for five minutes.",
    "Repeat that.",
    "What can you do?",
    "Set the volume to four.",
)
"""Commands that are over with their last word."""

HESITANT = (
    ("Set a timer for", "ten minutes."),
    ("Set the volume to", "seven."),
    ("What is the", "time?"),
    ("Set a timer for twenty", "minutes."),
)
"""Commands in two parts, between which somebody has to think."""

REPLY = (
    "The garden behind the house is long and narrow, and in the summer it is full of beans and tomatoes. My sister "
    "planted most of them in the spring, when the ground was still cold and nobody believed that they would grow."
)
"""What is said while somebody calls: longer than any of the recordings."""

_BEGINNINGS = (
    "{} is a name that many people know.",
    "The neighbours have a speaker called {}.",
    "You can call me {}, if you like.",
    "Say {} first, and then what you want.",
    "My name is {}.",
    "{} was the queen of a small island.",
    "I am not sure whether {} comes to dinner.",
    "There were three of them: Tom, {} and Susan.",
    "Hello, I am {}.",
    "If you say {}, I listen.",
)
_ENDINGS = (
    "That was long ago.",
    "It is going to rain in the afternoon.",
    "The timer has four minutes left.",
    "There is nothing else to do today.",
    "The shop opens at nine.",
)


def naming(word: str, count: int) -> Sequence[str]:
    """`count` replies in which the wake word `word` occurs."""
    name = word.replace("_", " ").title()
    texts = [f"{begin.format(name)} {end}" for end, begin in product(_ENDINGS, _BEGINNINGS)]
    return [texts[n % len(texts)] for n in range(count)]


SUBJECTS = (
    "The minister",
    "Alexander",
    "My old friend Alex",
    "A lecture in Texas",
    "The electric car",
    "Her sister Alice",
    "The next election",
    "Travis",
    "The harvest",
    "A Lexus",
    "The team from Alaska",
    "Doctor Jarvinen",
    "A relaxed goalkeeper",
    "The lexicon",
    "A legal expert",
    "Everybody in the kitchen",
)
"""Many sound a little like a wake word; none of them is one."""

PREDICATES = (
    "said this morning that the talks would go on until the weekend.",
    "has not been seen since the storm, and nobody knows why.",
    "was the reason for all that trouble, I am telling you.",
    "costs less than last year, which surprises the experts.",
    "comes home late, opens the door, and there is nobody there.",
    "wins by three goals to one!",
    "is going to be sold next week, ask her about it.",
    "makes a wonderful soup with carrots and a little butter.",
    "will tell us more about the weather after the break.",
    "asks a question that I'll ask her again tomorrow.",
    "collects stamps, and looks at them every evening.",
    "stopped in front of the house, and we all ran outside.",
)
