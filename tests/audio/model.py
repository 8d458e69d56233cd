"""A lane without threads and without efficiency: sample by sample it writes down what must be heard, and told."""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise

from appliance.audio.lane import FADE
from appliance.core.events import ReplyEnded, ReplyStarted
from appliance.core.interruption import SpokenClause
from tests.audio.card import PARTS, RATE

FADING = round(FADE * RATE)

Heard = tuple[float, bool]
"""A sample, and whether it is part of a fade: between nothing and that."""


@dataclass
class Reply:
    """Everything there is to know of one; times in ticks."""

    generation: int
    pausable: bool
    made: list[float] = field(default_factory=list)
    clauses: list[tuple[str, int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """For each sample that was handed over, and not dropped, when it has sounded."""
    until: int = 0
    """When the last of them has sounded, or was dropped."""
    begins: int | None = None
    finished: bool = False
    paused: bool = False
    flowing: bool = False
    rising: int = 0
    told: bool = False

    @property
    def coming(self) -> list[float]:
        """What is still to be handed over."""
        return self.made[len(self.ends) :]

    def played(self, now: int) -> int:
        """How many samples have sounded."""
        return bisect_right(self.ends, now)

    def spoken(self, now: int) -> tuple[tuple[SpokenClause, ...], int]:
        """Which samples say what, as far as they are made, and how many have sounded."""
        begins = [*(begin for _, begin in self.clauses), len(self.made)]
        clauses = (SpokenClause(text, *ends) for (text, _), ends in zip(self.clauses, pairwise(begins), strict=True))
        return tuple(clauses), self.played(now)

    def sounds_beyond(self, now: int) -> bool:
        """Whether the card holds some of it."""
        return bool(self.ends) and self.ends[-1] > now

    def hand(self, count: int, at: int) -> list[float]:
        """The next samples, of which the first sounds at `at`."""
        samples = self.made[len(self.ends) :][:count]
        if samples:
            self.begins = at if self.begins is None else self.begins
            self.until = at + PARTS * len(samples)
            self.ends += range(at + PARTS, self.until + 1, PARTS)
        return samples

    def forget(self, now: int) -> None:
        """The card has dropped what it held."""
        del self.ends[self.played(now) :]
        self.until = min(self.until, now)
        if not self.ends:
            self.begins = None


class Model:
    """What the lane's methods do. `heard` is what the card plays, with the time at which it has been heard."""

    def __init__(self, *, drops: bool) -> None:
        self.drops = drops
        self.turn = 0
        self.cancelled = False
        self.active = False
        self.opened: set[int] = set()
        self.over: set[int] = {0}
        """Turns in which nothing is left to be expected."""
        self.reply: Reply | None = None
        self.hushed: list[Reply] = []
        self.fade: list[float] = []
        self.pulled = 0
        self.events: list[ReplyStarted | ReplyEnded] = []
        self.heard: list[tuple[int, Heard]] = []

    def begin_turn(self, generation: int, now: int) -> None:
        assert generation == self.turn + 1, "not the model's affair"
        self.hush(None, now)
        self.turn, self.cancelled, self.active = generation, False, False

    def is_current(self, generation: int) -> bool:
        return generation == self.turn and not self.cancelled

    def expect(self, generation: int) -> None:
        self.active = self.active or (self.is_current(generation) and generation not in self.over)

    def open(self, generation: int, *, pausable: bool) -> bool:
        if not self.is_current(generation) or generation in self.opened | self.over:
            return False
        self.opened.add(generation)
        self.active = True
        self.reply = Reply(generation, pausable)
        return True

    def current(self, generation: int) -> Reply | None:
        return self.reply if self.reply is not None and self.reply.generation == generation else None

    def clause(self, generation: int, text: str) -> None:
        if reply := self.current(generation):
            reply.clauses.append((text, len(reply.made)))

    def put(self, generation: int, samples: list[float]) -> bool:
        reply = self.current(generation)
        if reply is None or reply.finished:
            return False
        reply.made += samples
        return True

    def finish(self, generation: int, now: int) -> None:
        if reply := self.current(generation):
            reply.finished = True
            self.end_if_over(reply, now)

    def done(self, generation: int) -> None:
        if self.is_current(generation) and self.reply is None:
            self.active = False
            self.over.add(generation)

    def hush(self, generation: int | None, now: int) -> int:
        if self.active and (generation is None or self.is_current(generation)):
            self.active, self.cancelled = False, self.turn > 0  # before the first turn there is no response
            reply, self.reply = self.reply, None
            if reply is not None:
                if not self.drops:
                    self.fade_out(reply)
                    self.end(reply, max(now, reply.ends[-1]) if reply.ends else now)
                elif reply.sounds_beyond(now):
                    self.hushed.append(reply)
                else:
                    self.end(reply, now)
        return self.turn

    def fade_out(self, reply: Reply) -> None:
        if reply.flowing:
            self.fade = reply.hand(FADING, reply.until)

    def pause(self, generation: int | None) -> int:
        reply = self.reply
        if reply and reply.pausable and not reply.paused and generation in {None, reply.generation}:
            reply.paused = True
            if not self.drops and reply.flowing:
                self.fade = reply.coming[:FADING]
            reply.flowing = False
        return self.turn

    def resume(self, generation: int, *, pausable: bool) -> None:
        if reply := self.current(generation):
            reply.pausable = pausable
            if reply.paused:
                reply.paused = False
                reply.rising = 0 if reply.begins is None else FADING

    def lose(self) -> None:
        self.settle(None, self.pulled)
        if reply := self.reply:
            reply.forget(self.pulled)
            reply.flowing = False
            if not reply.paused:
                reply.rising = 0 if reply.begins is None else FADING
        self.heard = [(end, heard) for end, heard in self.heard if end <= self.pulled]

    def settle(self, generation: int | None, now: int) -> None:
        over = [reply for reply in self.hushed if generation in {None, reply.generation}]
        self.hushed = [reply for reply in self.hushed if reply not in over]
        for reply in over:
            self.end(reply, now)

    def pull(self, count: int, at: int, now: int) -> list[Heard] | None:
        self.pulled = now
        reply = self.reply
        unwanted = [*self.hushed, *([reply] if reply and reply.paused else [])]
        if self.drops and any(each.sounds_beyond(now) for each in unwanted):
            self.settle(None, now)
            if reply:
                reply.forget(now)
            self.heard = [(end, heard) for end, heard in self.heard if end <= now]
            return None
        self.settle(None, now)
        block: list[Heard] = [(sample, True) for sample in self.fade[:count]]
        self.fade = self.fade[count:]
        if reply:
            if not reply.paused:
                taken = reply.hand(count - len(block), at + PARTS * len(block))
                block += [(sample, place < reply.rising) for place, sample in enumerate(taken)]
                reply.rising = max(0, reply.rising - len(taken))
                reply.flowing = bool(taken) and len(block) == count
            self.note_start(reply, now)
            self.end_if_over(reply, now)
        self.heard += [(at + PARTS * (place + 1), heard) for place, heard in enumerate(block)]
        return block + [(0.0, False)] * (count - len(block))

    def note_start(self, reply: Reply, now: int) -> None:
        if not reply.told and reply.begins is not None and reply.played(now):
            reply.told = True
            self.events.append(ReplyStarted(reply.generation, _seconds(reply.begins)))

    def end_if_over(self, reply: Reply, now: int) -> None:
        if reply.finished and not reply.coming and not reply.sounds_beyond(now):
            self.active, self.reply = False, None
            self.over.add(reply.generation)
            self.end(reply, now)

    def end(self, reply: Reply, now: int) -> None:
        self.note_start(reply, now)
        clauses, played = reply.spoken(now)
        at = min(reply.until, now) if played else now
        cut = not reply.finished or played < len(reply.made)
        self.events.append(ReplyEnded(reply.generation, _seconds(at), played / RATE, cut, played, clauses))


def _seconds(ticks: int) -> float:
    return ticks / (RATE * PARTS)
