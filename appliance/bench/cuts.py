"""How fast a reply that is interrupted falls silent on a sound card, by what another card, or its own monitor, hears.

A reply is a constant level, each of the other sign than the one before, so that a sample that sounds when it must not
is known by its sign. The next reply is there at the very moment of the interruption. Each reply has a mark, a short
step in its level: the card says when that sounds, and the recording has it at some sample. The median of nine such
pairs makes a time of a sample's number. Needs a way from card to card that keeps a constant level: a monitor, or
snd-aloop.

Imports nothing but numpy and PyAudio, so that it runs on any machine with a checkout.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import pairwise

import numpy as np

from appliance.audio.devices import Frame, Samples
from appliance.audio.lane import Lane
from appliance.audio.speaker import CardSpeaker
from appliance.bench.tape import Recording, Tape
from appliance.errors import ApplianceError

LEVEL = 0.5
MARK_LEVEL = 0.25
MARK, MARK_END = 0.12, 0.13
"""Seconds from the beginning of a reply: long enough after a restart for the card's times to have settled."""

LONG = 2.0
"""Seconds that a reply would last if it were not interrupted."""

HOLD = 0.25
"""Seconds that it plays at least."""

PHASES = 0.045
"""The moments of the interruptions are spread evenly over so many seconds more: three blocks of the card."""

BLOCKED = 0.5
"""Seconds for which the event loop is blocked."""

TRIES = 3
"""How often those that do not count are made again: in an underrun there is nothing to interrupt, and a recording may
lack a part."""

LOST = 0.003
"""Seconds between the places of neighbouring marks that are no doubt about a time any more."""

_GOLDEN = 0.618

_REMEDY = "Name a recording card that hears the playing one without loss, as its monitor or the other side of snd-aloop"


class Loop(Enum):
    """What the event loop does around a trigger."""

    FREE = "free"
    ASLEEP = "asleep"
    """It is blocked by something that waits."""
    SPINNING = "spinning"
    """It is blocked by something that computes, in Python: nobody else gets the interpreter but in turns."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One interruption, in seconds from the trigger, which is the call of `Lane.hush`."""

    silence: float
    """To the end of the last sample of the reply."""
    next_sound: float
    """To the first sample of the next reply."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """As many interruptions as were asked for."""

    cuts: Sequence[Cut]
    doubts: Sequence[float]
    """By how many seconds each mark disagrees with the time that is made of it and its neighbours."""
    left_out: int
    """How many more there were, in which nothing sounded, or not all was recorded."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """The reply of `generation` was interrupted at `at`."""

    generation: int
    at: float


def measure_cuts(plays_on: str, hears_with: str, count: int, loop: Loop = Loop.FREE) -> Cuts:
    """Interrupt `count` replies on one card, listening with another.

    ApplianceError: a card cannot be had, or gave up, or what is played is not heard.
    """
    cuts: list[Cut] = []
    doubts: list[float] = []
    made = 0
    for _ in range(TRIES):
        found = asyncio.run(_measure(plays_on, hears_with, count - len(cuts), loop))
        made += len(found.cuts) + found.left_out
        cuts += found.cuts
        doubts += found.doubts
        if len(cuts) == count:
            return Cuts(cuts, doubts, made - count)
    raise ApplianceError(
        "recording", f"only {len(cuts)} of {made} replies are heard, whole, up to where they were cut", remedy=_REMEDY
    )


async def _measure(plays_on: str, hears_with: str, count: int, doing: Loop) -> Cuts:
    loop = asyncio.get_running_loop()
    speaker, handed, faults = CardSpeaker(plays_on), list[Frame](), list[str]()
    lane = Lane(speaker.rate, partial(_post, loop), time.monotonic, drops=speaker.drops)
    reply = Replies(lane)
    tape = Tape(hears_with)
    try:
        speaker.start(lane, handed.append, faults.append)
        await asyncio.sleep(2 * HOLD)
        reply.begin()
        triggers = []
        for number in range(count + 1):
            shot = asyncio.to_thread(reply.interrupt, HOLD + number * _GOLDEN % 1 * PHASES)
            interrupted = asyncio.create_task(shot)
            await asyncio.sleep(0)
            _block(doing)
            triggers.append(await interrupted)
            if faults:
                raise ApplianceError(f'card "{speaker.name}"', faults[0])
        await asyncio.sleep(2 * HOLD)
        lane.hush()
        await asyncio.sleep(HOLD)
    finally:
        await asyncio.to_thread(speaker.stop)
        recording = tape.stop()
    return evaluate(recording, handed, speaker.rate, triggers)


def _block(doing: Loop) -> None:
    end = time.monotonic() + BLOCKED
    if doing is Loop.ASLEEP:
        time.sleep(BLOCKED)
    while doing is Loop.SPINNING and time.monotonic() < end:
        pass


def _post(loop: asyncio.AbstractEventLoop, event: object) -> None:
    """As the appliance reports."""
    loop.call_soon_threadsafe(lambda: event)


class Replies:
    """Begins replies, and interrupts them by the next."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._sound = np.full(round(LONG * lane.rate), LEVEL, np.float32)
        self._sound[round(MARK * lane.rate) : round(MARK_END * lane.rate)] = MARK_LEVEL
        self._generation = 0

    def begin(self) -> None:
        """The next reply is there, all of it."""
        self._generation += 1
        self._lane.begin_turn(self._generation)
        self._lane.expect(self._generation)
        self._lane.open(self._generation)
        self._lane.put(self._generation, self._sound * sign(self._generation))

    def interrupt(self, delay: float) -> Trigger:
        """After `delay` seconds, from this thread."""
        time.sleep(delay)
        trigger = Trigger(self._generation, time.monotonic())
        self._lane.hush()
        self.begin()
        return trigger


def sign(generation: int) -> int:
    """The sign of the samples of a reply."""
    return 1 if generation % 2 else -1


def evaluate(recording: Recording, handed: Iterable[Frame], rate: int, triggers: Sequence[Trigger]) -> Cuts:
    """What the recording says about all `triggers` but the last, which only tells where the one before ends."""
    offsets = _offsets(recording, _marks(handed, rate))
    if not offsets:
        return Cuts((), (), len(triggers) - 1)
    times, values = np.array(offsets).T
    smooth = np.array([np.median(values[max(0, n - 4) : n + 5]) for n in range(len(values))])
    loud = np.abs(recording.samples) > LEVEL / 10
    signs = np.sign(recording.samples) * loud
    at = np.array([trigger.at for trigger in triggers])
    before = np.maximum(np.searchsorted(times, at) - 1, 0)  # each reply's own mark
    places = np.rint((at - smooth[before]) * recording.rate).astype(int).tolist()
    cuts: list[Cut] = []
    for trigger, mark, (begin, end) in zip(triggers, before, pairwise(places), strict=False):
        if np.ptp(smooth[mark : mark + 3]) > LOST:
            continue
        old = np.flatnonzero(signs[begin:end] == sign(trigger.generation))
        new = np.flatnonzero(signs[begin:end] == -sign(trigger.generation))
        if signs[begin] == sign(trigger.generation) and len(new):
            silence, next_sound = old[-1] + 1, new[0]
            cuts.append(Cut(float(silence) / recording.rate, float(next_sound) / recording.rate))
    return Cuts(cuts, np.abs(values - smooth).tolist(), len(triggers) - 1 - len(cuts))


def _marks(handed: Iterable[Frame], rate: int) -> list[tuple[float, int]]:
    """When each mark sounds, and the sign of its reply."""
    marks: list[tuple[float, int]] = []
    before = 0.0
    for frame in handed:
        levels = np.concatenate([[before], frame.samples])
        marks += [(frame.at + (index - 1) / rate, int(np.sign(levels[index]))) for index in _steps(levels)]
        before = float(levels[-1])
    return marks


def _steps(levels: Samples) -> list[int]:
    """Where the level goes from that of a reply to that of a mark."""
    size = np.abs(levels)
    middle = (LEVEL + MARK_LEVEL) / 2
    down = (size[:-1] > middle) & (size[1:] < middle) & (size[1:] > MARK_LEVEL / 2) & (levels[1:] * levels[:-1] > 0)
    return [int(index) + 1 for index in np.flatnonzero(down)]


def _offsets(recording: Recording, marks: Sequence[tuple[float, int]]) -> list[tuple[float, float]]:
    """For each mark that was heard its time, and by how much that is later than its place in the recording says."""
    heard = _steps(recording.samples)
    pairs = []
    for at, side in marks:
        expected = recording.place(at)
        near = [
            index
            for index in heard
            if abs(index - expected) < HOLD / 2 * recording.rate and np.sign(recording.samples[index]) == side
        ]
        if near:
            best = min(near, key=lambda index: abs(index - expected))
            pairs.append((at, at - best / recording.rate))
    return pairs
