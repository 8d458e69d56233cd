"""To be run in the machine: replies whose every sample tells which it is, hushed, and recorded from the other side.

They come in pairs: a long one that is hushed, and at that moment a short one that is not. Prints JSON: `replies`, each
with its number, what its end event says was heard of it, and whether it was cut; and `stretches` of neighbouring
samples in the recording, each with the reply's number, its first sample's and how many there are.
"""

import json
import queue
import sys
import time

import numpy as np

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
from appliance.audio.speaker import CardSpeaker
from appliance.bench.tape import Tape
from appliance.core.events import ReplyEnded, ReplyStarted

FACTOR = 1 << 16
"""A sample is the number of its reply times this, and its own number: whole, and exact as float32."""

SCALE = np.float32(1 << 23)

REPLIES = 126
"""So many have a number of their own, from 1."""

STALE = REPLIES + 1
"""The number of what comes for a reply that was hushed."""

LONG, SHORT = 1.2, 0.1
"""Seconds of the two replies."""

HOLD, SPREAD = 0.1, 0.045
"""Seconds after which the long one is hushed, and over how many more the moments are spread: three blocks."""

PAUSE = 0.05
"""Seconds of silence after a pair, for what must not come any more."""

LATE = 10.0
"""Seconds after which an end event does not come any more."""

_GOLDEN = 0.618


def numbered(reply: int, count: int) -> Samples:
    """The samples of a reply."""
    return (reply * FACTOR + np.arange(count)).astype(np.float32) / SCALE


def stretches(samples: Samples) -> list[tuple[int, int, int]]:
    """Of each stretch of neighbours: the reply, the number of its first sample, how many they are."""
    numbers = np.rint(samples * SCALE).astype(int)
    begins = np.flatnonzero((numbers != 0) & (np.diff(numbers, prepend=0) != 1))
    ends = np.flatnonzero((numbers != 0) & (np.diff(numbers, append=0) != 1)) + 1
    return [(*divmod(int(numbers[begin]), FACTOR), int(end - begin)) for begin, end in zip(begins, ends, strict=True)]


def main(plays_on: str, hears_with: str, interruptions: int) -> None:
    """Interrupt so many replies."""
    ended: queue.SimpleQueue[ReplyEnded] = queue.SimpleQueue()

    def report(event: ReplyStarted | ReplyEnded) -> None:
        if isinstance(event, ReplyEnded):
            ended.put(event)

    def gave_up(why: str) -> None:
        sys.stderr.write(f"the card gave up: {why}\n")

    speaker = CardSpeaker(plays_on)
    lane = Lane(speaker.rate, report, time.monotonic, drops=speaker.drops)
    long, short = round(LONG * lane.rate), round(SHORT * lane.rate)

    def begin(generation: int, count: int) -> None:
        lane.begin_turn(generation)
        lane.open(generation)
        lane.put(generation, numbered((generation - 1) % REPLIES + 1, count))

    tape = Tape(hears_with)
    speaker.start(lane, lambda _: None, gave_up)
    time.sleep(LONG)  # until the recording runs
    replies = []
    for number in range(interruptions):
        generation = 2 * number + 1
        begin(generation, long)
        time.sleep(HOLD + number * _GOLDEN % 1 * SPREAD)
        lane.hush()
        begin(generation + 1, short)
        lane.finish(generation + 1)
        lane.put(generation, numbered(STALE, short))
        ends = [ended.get(timeout=LATE) for _ in range(2)]
        replies += [((end.generation - 1) % REPLIES + 1, end.played, end.cut) for end in ends]
        time.sleep(PAUSE)
    speaker.stop()
    found = {"rate": lane.rate, "short": short, "replies": replies, "stretches": stretches(tape.stop().samples)}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
