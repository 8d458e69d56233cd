"""To be run in the machine: cards that are unplugged, and plugged in again, while one listens and the other speaks.

Prints JSON: for each round what was `unplugged`; the seconds `away`; those until the loss was `noticed`, and from when
the card was there again to the first sound that it moved, `back`; whether the reply that was playing sounded `whole`;
by how many seconds what was heard went `backwards`; and how many `files` and `threads` there were afterwards.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from appliance.audio.cards import PortAudio
from appliance.audio.devices import HEARING_RATE, Frame
from appliance.audio.kept import Beat
from appliance.audio.lane import Lane
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.core.events import ReplyEnded, ReplyStarted
from appliance.errors import ApplianceError
from appliance.sound import Sound

DRIVER = Path("/sys/bus/platform/drivers/snd_aloop")
SPEAKER, MICROPHONE = "snd_aloop.0", "snd_aloop.1"

KINDS = (MICROPHONE,), (SPEAKER,), (MICROPHONE, SPEAKER)

REPLY, CUT = 0.6, 0.3
"""Seconds of a reply, and after which a card is unplugged."""

AWAY = 0.0, 3.0, 0.7
"""Seconds for which a card is away after that was noticed, and longer until it was looked for in vain, if not 0. After
some it is looked for less often."""

LONGEST = 20.0
"""Seconds after which what is waited for does not come."""


@dataclass(frozen=True, slots=True)
class Unplugging:
    """Cards that are gone at once, though their driver waits until nobody has them open any more."""

    cards: tuple[str, ...]
    processes: tuple["subprocess.Popen[bytes]", ...]

    @staticmethod
    def begin(cards: Iterable[str]) -> "Unplugging":
        cards = tuple(cards)
        commands = [f"echo {card} > {DRIVER}/unbind" for card in cards]
        return Unplugging(cards, tuple(subprocess.Popen(["sh", "-c", command]) for command in commands))

    async def undo(self) -> float:
        """When they are there again."""
        await until(lambda: all(process.poll() is not None for process in self.processes))
        for card in self.cards:
            (DRIVER / "bind").write_text(card)
        return time.monotonic()


class Cards:
    """Both cards, and all that comes of them."""

    def __init__(self, plays_on: str, hears_with: str) -> None:
        self.speaker = CardSpeaker(plays_on)
        self.ended: dict[int, ReplyEnded] = {}
        self.lane = Lane(self.speaker.rate, self._report, time.monotonic, drops=True)
        self.heard_until = 0.0
        self.backwards = 0.0
        self.sound = Sound(
            CardMicrophone(hears_with),
            self.speaker,
            self.lane,
            self._hear,
            time.monotonic,
            PortAudio.change,
            lambda _: None,
            refuse,
        )

    def beats(self, cards: Iterable[str]) -> list[Beat]:
        beats = self.sound.beats
        return [beats.speaker if card == SPEAKER else beats.microphone for card in cards]

    def work(self, cards: Iterable[str], since: float) -> bool:
        return all(beat.open and beat.moved_at > since for beat in self.beats(cards))

    def reply(self, generation: int) -> None:
        self.lane.begin_turn(generation)
        self.lane.open(generation)
        self.lane.put(generation, np.full(round(REPLY * self.lane.rate), 0.1, np.float32))
        self.lane.finish(generation)

    def _report(self, event: ReplyStarted | ReplyEnded) -> None:
        if isinstance(event, ReplyEnded):
            self.ended[event.generation] = event

    def _hear(self, frame: Frame) -> None:
        self.backwards = max(self.backwards, self.heard_until - frame.at)
        self.heard_until = frame.at + len(frame.samples) / HEARING_RATE


def refuse(error: ApplianceError) -> None:
    raise error


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST):
        while not condition():  # noqa: ASYNC110  what changes is in other threads
            await asyncio.sleep(0.005)


def held() -> tuple[int, int]:
    files, threads = (len(list(Path("/proc/self", each).iterdir())) for each in ("fd", "task"))
    return files, threads


async def one_round(cards: Cards, generation: int, unplugged: tuple[str, ...], away: float) -> dict[str, Any]:
    """Lost while it listens, and in the middle of a reply."""
    cards.backwards = 0.0
    cards.reply(generation)
    await asyncio.sleep(CUT)
    before = time.monotonic()
    unplugging = Unplugging.begin(unplugged)
    await until(lambda: not any(beat.open for beat in cards.beats(unplugged)))
    noticed = time.monotonic()
    await asyncio.sleep(away)
    await until(lambda: not away or all(beat.missing for beat in cards.beats(unplugged)))
    plugged = await unplugging.undo()
    await until(lambda: cards.work(unplugged, plugged))
    back = max(beat.moved_at for beat in cards.beats(unplugged)) - plugged
    await until(lambda: generation in cards.ended)
    ended = cards.ended[generation]
    await until(lambda: cards.work((SPEAKER, MICROPHONE), plugged))
    files, threads = held()
    return {
        "unplugged": unplugged,
        "away": away,
        "noticed": noticed - before,
        "back": back,
        "whole": not ended.cut and ended.played == round(REPLY * cards.lane.rate),
        "backwards": cards.backwards,
        "files": files,
        "threads": threads,
    }


async def main(plays_on: str, hears_with: str, rounds: int) -> None:
    """So many rounds."""
    cards = Cards(plays_on, hears_with)
    keeping = asyncio.create_task(cards.sound.keep())
    await cards.sound.tried.wait()
    await until(lambda: cards.work((SPEAKER, MICROPHONE), 0))
    found: list[dict[str, Any]] = []
    for number in range(rounds):
        unplugged, away = KINDS[number % len(KINDS)], AWAY[number // len(KINDS) % len(AWAY)]
        found.append(await one_round(cards, number + 1, unplugged, away))
    keeping.cancel()
    await asyncio.wait({keeping})
    await cards.sound.close()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
