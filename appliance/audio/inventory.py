"""What the kernel has of sound cards: it tells whether a list of them that was made before is still right."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

CARDS = Path("/proc/asound/cards")
NODES = Path("/dev/snd")

_HARDWARE = re.compile(r"\(hw:(\d+),(\d+)\)$")
"""How PortAudio ends the name of a card of the kernel: number of the card, and of the device on it."""


class Change(Enum):
    """What has come since a list was made. That one only went is no change: there is nothing new to be found."""

    NOTHING = auto()
    PLUGGED = auto()
    """A card was plugged in, again or anew, or this user may use it now."""
    RENUMBERED = auto()
    """The list may name one card and mean another."""


@dataclass(frozen=True, slots=True)
class Node:
    """A file of a card. Its times say nothing: they change whenever a card is opened."""

    name: str
    number: int
    """Another one if it was made anew."""
    mode: int
    owner: int
    group: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """The cards at one time."""

    cards: frozenset[str]
    """Number and name of each."""
    nodes: frozenset["Node"]
    """Their files, which are made anew when a card is plugged in."""

    @staticmethod
    def now() -> "Inventory":
        """What there is. A system without ALSA has nothing."""
        try:
            lines = CARDS.read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        return Inventory(frozenset(line.strip() for line in lines if "]: " in line), frozenset(_nodes()))

    def since(self, then: "Inventory") -> Change:
        """What has come to this one since `then`."""
        if self.cards - then.cards:
            return Change.RENUMBERED
        return Change.PLUGGED if self.nodes - then.nodes else Change.NOTHING


def node_of(name: str, letter: str) -> Path | None:
    """The file by which the card called `name` is had now, to record ("c") or to play ("p"), where the kernel has one.

    It goes with the card.
    """
    numbers = _HARDWARE.search(name)
    if numbers is None:
        return None
    node = NODES / "pcmC{}D{}{}".format(*numbers.groups(), letter)
    return node if node.exists() else None


def without_number(name: str) -> str:
    """The name of a card without the number that the kernel has given to it, if it has."""
    return _HARDWARE.sub(r"(hw:,\2)", name)


def _nodes() -> list[Node]:
    nodes = []
    for path in NODES.glob("*"):
        try:
            found = path.lstat()
        except OSError:  # it has gone this very moment
            continue
        nodes.append(Node(path.name, found.st_ino, found.st_mode, found.st_uid, found.st_gid))
    return nodes
