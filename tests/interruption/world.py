"""What a history happens in: a lane that is held against its model, a card, the workers' jobs, and the one queue."""

from bisect import bisect_right
from collections import Counter, deque
from dataclasses import dataclass

from appliance.conductor import MISSING_END
from appliance.core.effects import (
    Begin,
    Drop,
    Effect,
    FinishListening,
    Hush,
    LetGo,
    Listen,
    Overhear,
    Pause,
    Remember,
    Report,
    Resume,
    Speak,
    Think,
)
from appliance.core.events import Event, ListeningEnd, ListeningEnded, ReplyEnded, ReplyStarted, Worded
from appliance.core.interruption import Gates
from appliance.core.turn import Turn, step
from tests.audio.card import PARTS, RATE, Card, Clock
from tests.audio.checked import CheckedLane

SECOND = PARTS * RATE
LAST = 60
"""Things that are told of a history that went wrong."""


@dataclass
class Job:
    """What a worker does for a turn, until it ends with an event, or is dropped."""

    stage: str
    generation: int
    name: str
    pieces: int = 0
    """What is still to be synthesised."""
    listening: bool = False
    """The utterance is not over."""
    held: bool = False
    """The button is down, and only its release, or the limit, ends the utterance."""
    put: bool = False
    """All is in the lane."""
    wording: bool = False
    """The answer is being spoken, and not yet known in full."""


@dataclass(frozen=True)
class Taken:
    """An event that the table was asked about, and what it said."""

    event: Event
    before: Turn
    after: Turn
    effects: tuple[Effect, ...]

    def __str__(self) -> str:
        done = ", ".join(str(effect) for effect in self.effects if not isinstance(effect, Report))
        return f"    {self.before.phase.value} -> {self.after.phase.value}: {done}"


class World:
    """Carries out what the table says, as the conductor does, and keeps account."""

    def __init__(self, *, drops: bool, latency: int, gates: Gates, patience: float, follow_up: float) -> None:
        self.clock = Clock()
        self.lane = CheckedLane(self.clock, self._told, drops=drops)
        self.card = Card(self.lane, self.clock, latency)
        self.turn = Turn(patience, gates, follow_up)
        self.inbox: deque[Event] = deque()
        self.reports: deque[ReplyStarted | ReplyEnded] = deque()
        self.teller_is_slow = False
        """Whoever tells what the lane reports was stopped in the middle, and the others leave it to that thread."""
        self.jobs: dict[str, Job] = {}
        self.button_is_down = False
        self.microphone: Job | None = None
        """Whose utterance is going on."""
        self.watchdogs: list[tuple[int, int]] = []
        self.seen: Counter[str] = Counter()
        self.opened: list[int] = []
        self.started: list[int] = []
        self.ended: list[ReplyEnded] = []
        self.remembered: list[Remember] = []
        self.paused: Counter[int] = Counter()
        self.made: Counter[int] = Counter()
        self._numbers: list[tuple[int, int]] = []
        self._count = self._overheard = 0
        self._story: deque[tuple[int, object]] = deque(maxlen=LAST)
        self.silenced: set[int] = set()
        """The replies for which a hush has returned."""

    def take(self) -> Taken:
        """The loop takes the next event."""
        event, before = self.inbox.popleft(), self.turn
        self.note(event)
        self.turn, effects = step(before, event)
        taken = Taken(event, before, self.turn, effects)
        self.note(taken)
        for effect in effects:
            self._carry_out(effect)
        return taken

    def note(self, thing: object) -> None:
        """Something happens."""
        self._story.append((self.clock.ticks, thing))

    @property
    def story(self) -> str:
        """The last things that happened."""
        return "\n".join(f"{ticks:8} {thing}" for ticks, thing in self._story)

    def hush(self, generation: int | None = None) -> int:
        """Anybody says so."""
        turn = self.lane.hush(generation)
        self.silenced.update(self.opened if generation is None else {generation})
        return turn

    def put(self, generation: int, count: int) -> bool:
        """A producer has got on."""
        first = self.lane.numbered
        put = self.lane.put(generation, count)
        if put:
            self._numbers.append((first, generation))
            self.made[generation] += count
        return put

    def owner(self, number: float) -> int:
        """The reply to which a sample belongs."""
        return self._numbers[bisect_right(self._numbers, (number, 1 << 30)) - 1][1]

    def number(self) -> int:
        """One that was not used yet."""
        self._count += 1
        return self._count

    def pause(self, generation: int | None = None) -> None:
        """Anybody says so."""
        reply = self.lane.model.reply
        was_paused = reply is not None and reply.paused
        self.lane.pause(generation)
        if reply is not None and reply.paused and not was_paused:
            self.paused[reply.generation] += 1
            self.seen["a reply pauses"] += 1

    def pass_on(self) -> None:
        """Whoever is telling what the lane reports gets on with it."""
        self.inbox.extend(self.reports)
        self.reports.clear()

    def run_watchdogs(self) -> None:
        """The loop does what is due by now."""
        while self.watchdogs and self.watchdogs[0][0] <= self.clock.ticks:
            _, generation = self.watchdogs.pop(0)
            before = len(self.ended)
            self.lane.settle(generation)
            self.seen["a watchdog ends a reply"] += len(self.ended) - before

    def end_utterance(self, job: Job, why: ListeningEnd) -> None:
        """The microphone, or the user, says that it is over."""
        job.listening = job.held = False
        self.microphone = None
        self.inbox.append(ListeningEnded(job.generation, self.clock(), self.clock(), why))

    def _carry_out(self, effect: Effect) -> None:
        lane = self.lane
        match effect:
            case Hush(generation):
                self.hush(generation)
                self.watchdogs.append((self.clock.ticks + round(MISSING_END * SECOND), generation))
            case Pause(generation):
                self.pause(generation)
            case Resume(generation, pausable):
                lane.resume(generation, pausable=pausable)
            case Begin(generation):
                self.silenced.update(self.opened)
                lane.begin_turn(generation)
            case Listen(generation):
                self._listen(Job("listen", generation, f"hear-{generation}", listening=True, held=effect.held))
            case LetGo(generation):
                if job := self.jobs.get(f"hear-{generation}"):
                    job.held = False
            case Overhear(generation):
                self._overheard += 1
                self._listen(Job("overhear", generation, f"overhear-{self._overheard}-{generation}", listening=True))
            case FinishListening(generation):
                job = self.jobs.get(f"hear-{generation}")
                if job and job.listening:
                    self.end_utterance(job, ListeningEnd.ASKED)
            case Think(generation):
                lane.expect(generation)
                self._start(Job("think", generation, f"think-{generation}"))
            case Speak(generation, _, pausable):
                if lane.open(generation, pausable=pausable):
                    self.opened.append(generation)
                    self._start(Job("speak", generation, f"speak-{generation}", pieces=3))
            case Remember():
                self.remembered.append(effect)
            case Drop(generation):
                lane.done(generation)
                for job in [job for job in self.jobs.values() if job.generation == generation]:
                    self.end(job)
                    if job.wording:
                        self.inbox.append(Worded(generation, "So far", self.clock()))

    def end(self, job: Job) -> None:
        """It is over, or nobody wants it any more."""
        del self.jobs[job.name]
        if self.microphone is job:
            self.microphone = None

    def _start(self, job: Job) -> None:
        self.jobs[job.name] = job

    def _listen(self, job: Job) -> None:
        """One utterance at a time; what another one takes the place of is transcribed as far as it went."""
        if self.microphone is not None:
            self.microphone.listening = self.microphone.held = False
        self.microphone = job
        self._start(job)

    def _told(self, event: ReplyStarted | ReplyEnded) -> None:
        self.reports.append(event)
        if not self.teller_is_slow:
            self.pass_on()
        if isinstance(event, ReplyEnded):
            self.ended.append(event)
        else:
            self.started.append(event.generation)
