"""Sound cards by their names, and how they are opened. PortAudio is started and ended here and nowhere else."""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pyaudio

from appliance.audio.devices import MissingCardError
from appliance.audio.inventory import Change, Inventory, node_of, without_number
from appliance.errors import ApplianceError, BadInputError

Direction = Literal["input", "output"]

Callback = Callable[[bytes | None, int, Mapping[str, float], int], tuple[bytes | None, int]]
"""PyAudio's: input, number of frames, times, status -> output, whether to go on."""

COMMON_RATES = (48_000, 44_100, 32_000, 96_000, 22_050, 16_000, 8_000)
"""The rates worth trying on a card, those that lose nothing first."""

_GONE = pyaudio.paBadIODeviceCombination
"""What PortAudio makes of all that ALSA says when a card is not there, or not for this user."""

_TRY_ANOTHER_FORMAT = {
    pyaudio.paInvalidSampleRate,
    pyaudio.paInvalidChannelCount,
    pyaudio.paSampleFormatNotSupported,
    pyaudio.paUnanticipatedHostError,  # what some drivers answer to a format that they do not have
}

_ROLE = {"input": "microphone", "output": "speaker"}
_LIST_COMMAND = {"input": "arecord -l", "output": "aplay -l"}

_lock = threading.Lock()  # PortAudio counts its users, and opens and closes, without a lock of its own


@dataclass(frozen=True, slots=True)
class Card:
    """A sound card in one direction. The number is PortAudio's, and good only while that is not ended."""

    direction: Direction
    number: int
    name: str
    channels: int
    rate: int
    """What the card itself would choose, in samples per second."""


@dataclass(frozen=True, slots=True)
class OpenCard:
    """A stream that was opened and not yet started, and the format that the card took."""

    card: Card
    stream: pyaudio.Stream
    rate: int
    channels: int
    node: Path | None
    """Its file, if it has one."""

    @property
    def is_unplugged(self) -> bool:
        """Whether the kernel says so. PortAudio does not, and goes on looking for sound."""
        return self.node is not None and not self.node.exists()

    def start(self) -> None:
        """Let it run. ApplianceError: the card would not."""
        try:
            self.stream.start_stream()
        except OSError as error:
            raise _refused(self.card, error) from error


class PortAudio:
    """PortAudio, from construction to `close`. Each user has their own; the list of cards is made by the first.

    It is made anew when there was no user in between.
    """

    _users = 0
    _listed = Inventory.now()
    """What there was before the list was made."""

    def __init__(self) -> None:
        with _lock, _without_stderr():
            if not PortAudio._users:
                PortAudio._listed = Inventory.now()
            self._audio = pyaudio.PyAudio()
            PortAudio._users += 1

    @staticmethod
    def change() -> Change:
        """What has come that the list of cards, as it was made last, does not know."""
        return Inventory.now().since(PortAudio._listed)

    def close(self) -> None:
        """End this use; streams that it opened are closed, and what their cards still hold is dropped."""
        with _lock:
            self._audio.terminate()
            PortAudio._users -= 1

    def cards(self, direction: Direction) -> list[Card]:
        """All the cards that have channels in this direction, in PortAudio's order."""
        infos = (self._audio.get_device_info_by_index(number) for number in range(self._audio.get_device_count()))
        return [card for info in infos if (card := _card(info, direction)).channels > 0]

    def find(self, name: str, direction: Direction, others: Collection[str] = ()) -> Card:
        """The card called `name`, or the only one whose name contains it, in any case; "": the system's default, or
        else the first. BadInputError: several fit. MissingCardError: none does.

        The kernel's number in a name counts for nothing when no card has it, for it is another each time, except that
        those which are called as one of `others` are other cards.
        """
        cards = self._some(direction)
        if not name:
            return self._default(cards, direction)
        wanted = name.casefold()
        fitting = [card for card in cards if card.name.casefold() == wanted]
        fitting = fitting or [card for card in cards if wanted in card.name.casefold()]
        fitting = fitting or _namesakes(cards, name, others)
        if len(fitting) == 1:
            return fitting[0]
        allowed = f"a name, or a part of a name that only one has, of {_listed(cards)}; nothing for the default"
        if not fitting:
            raise MissingCardError(_ROLE[direction], f'no sound card is called "{name}"', allowed=allowed, status=2)
        found = f'"{name}" fits several sound cards: {_listed(fitting)}'
        raise BadInputError(_ROLE[direction], found, allowed=allowed)

    def find_again(self, name: str, direction: Direction, others: Collection[str] = ()) -> Card:
        """The card that was the default before, and called `name` then. MissingCardError: it is not there."""
        cards = self._some(direction)
        again = [card for card in cards if card.name == name] or _namesakes(cards, name, others)
        if again:
            return again[0]
        raise MissingCardError(
            _ROLE[direction],
            f'the sound card "{name}", which was the default, is not there',
            remedy="Plug it in again. To use another one, set its name, or start the appliance anew",
        )

    def _some(self, direction: Direction) -> list[Card]:
        cards = self.cards(direction)
        if not cards:
            raise MissingCardError(
                _ROLE[direction],
                "no sound card was found for it",
                remedy=f"Plug one in. If one is, see whether `{_LIST_COMMAND[direction]}` lists it, and whether this "
                "user is in the group audio",
            )
        return cards

    def _default(self, cards: Sequence[Card], direction: Direction) -> Card:
        by_direction = {
            "input": self._audio.get_default_input_device_info,
            "output": self._audio.get_default_output_device_info,
        }
        try:
            number = by_direction[direction]()["index"]
        except OSError:
            number = None
        return next((card for card in cards if card.number == number), cards[0])

    def open(
        self,
        card: Card,
        rates: Sequence[int],
        channels: Sequence[int],
        block: float,
        callback: Callback | None = None,
    ) -> OpenCard:
        """Open `card` for float32 samples at the first of `rates`, and `channels`, that it takes, without starting it.

        `block` is what PortAudio moves at once, in seconds. It calls `callback` for it, or else is read by blocking.
        ApplianceError: the card takes none of them, or is not to be had. MissingCardError: it is not there any more.
        """
        refusal = OSError(pyaudio.paInvalidChannelCount, "Invalid number of channels")
        for rate, count in product(dict.fromkeys(rates), dict.fromkeys(channels)):
            if count > card.channels:
                continue
            try:
                with _lock:
                    stream = self._audio.open(
                        rate,
                        count,
                        pyaudio.paFloat32,
                        input=card.direction == "input",
                        output=card.direction == "output",
                        start=False,
                        frames_per_buffer=round(rate * block),
                        input_device_index=card.number if card.direction == "input" else None,
                        output_device_index=card.number if card.direction == "output" else None,
                        stream_callback=callback,
                    )
            except OSError as error:
                refusal = error
                if error.errno not in _TRY_ANOTHER_FORMAT:
                    break
            else:
                node = node_of(card.name, "c" if card.direction == "input" else "p")
                return OpenCard(card, stream, rate, count, node)
        raise _refused(card, refusal)


class Choice:
    """The card that is wanted by its name, or as the default: that is chosen once, and then it is that very card.

    Otherwise, where a speakerphone is unplugged, a television would get its sound, and keep it.
    """

    def __init__(self, name: str, direction: Direction) -> None:
        self._name = name
        self._direction = direction
        self._default = ""
        self._twins: frozenset[str] = frozenset()
        """Other cards that are called as it, but for their numbers."""
        self._found = "", self._twins

    def find(self, audio: PortAudio) -> Card:
        """It. Raises as `PortAudio.find` does."""
        if self._default:
            card = audio.find_again(self._default, self._direction, self._twins)
        else:
            card = audio.find(self._name, self._direction, self._twins)
        twins = _namesakes(audio.cards(self._direction), card.name, {card.name})
        self._found = card.name, frozenset(twin.name for twin in twins)
        return card

    def opened(self) -> None:
        """What was found last can be had."""
        name, self._twins = self._found
        if not self._name:
            self._default = name


def any_card() -> bool:
    """Whether there is a card to hear with, and one to speak with."""
    with closing(PortAudio()) as audio:
        return bool(audio.cards("input") and audio.cards("output"))


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Nothing reaches the standard error: ALSA and JACK write a page of it about cards that do not exist."""
    try:
        before = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _card(info: Any, direction: Direction) -> Card:
    channels = info["maxInputChannels" if direction == "input" else "maxOutputChannels"]
    return Card(direction, info["index"], info["name"], channels, int(info["defaultSampleRate"]))


def _refused(card: Card, error: OSError) -> ApplianceError:
    if error.errno == _GONE:
        found = f'the sound card "{card.name}" is not there any more'
        return MissingCardError(_ROLE[card.direction], found, remedy="See whether it is still plugged in")
    return ApplianceError(
        _ROLE[card.direction],
        f'the sound card "{card.name}" cannot be opened ({error.strerror})',
        remedy="See whether another program holds it, or set the name of another card",
    )


def _namesakes(cards: Sequence[Card], name: str, others: Collection[str]) -> list[Card]:
    """Cards that are called `name`, but for the kernel's number, if there is one in it, and are none of `others`."""
    plain = without_number(name)
    if plain == name:
        return []
    return [card for card in cards if without_number(card.name) == plain and card.name not in others]


def _listed(cards: Sequence[Card]) -> str:
    return ", ".join(f'"{card.name}"' for card in cards)
