"""The thread of the card: it pulls when it likes, ahead of time, or never again."""

from tests.audio.card import PARTS
from tests.interruption.rules import Judge
from tests.interruption.tape import Tape
from tests.interruption.world import World

AHEAD = (40 * PARTS, 0, 90 * PARTS, 3)
"""What the card holds while it plays, in ticks; at least its latency."""
MOST_HELD = 100 * PARTS
BLOCKS = (16, 8, 1, 5, 30, 0)


class Player:
    """Lets time go by as the card plays."""

    def __init__(self, world: World, judge: Judge, tape: Tape) -> None:
        self.dead = False
        self._world = world
        self._judge = judge
        self._tape = tape
        self._ahead = tape.pick(AHEAD)
        self._mortal = tape.one_in(6)

    def pull(self) -> None:
        """One block, at some moment."""
        self._pull(self._tape.pick(BLOCKS))

    def play(self) -> None:
        """Some blocks, in good time."""
        for _ in range(self._tape.pick((2, 1, 4))):
            self.play_block(32)

    def play_block(self, count: int) -> None:
        """Pull a block, and play what is held beyond what shall be ahead."""
        self._pull(count)
        self._world.clock.move(count * PARTS if self.dead else max(0, self._world.card.held - self._ahead))

    def play_out(self, generation: int) -> None:
        """Play the reply to its last sample, but do not pull any more: that it has ended is not known yet."""
        lane = self._world.lane.lane
        while not self.dead and lane.waits(generation) and lane.queued(generation):
            self.play_block(32)
        self._world.clock.move(self._world.card.held)

    def die(self) -> None:
        """No pull any more, and nobody is told."""
        if self._mortal and not self.dead:
            self.dead = True
            self._world.seen["the card dies"] += 1

    def _pull(self, count: int) -> None:
        if self.dead:
            return
        card = self._world.card
        self._world.clock.move(max(0, card.held - MOST_HELD))
        samples = card.pull(count)
        self._world.seen["the card drops"] += samples is None
        self._judge.pulled(samples)
