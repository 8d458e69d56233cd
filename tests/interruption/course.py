"""Plays a history: who acts next, and how, is on the tape."""

from collections.abc import Callable

from appliance.core.events import (
    Announced,
    Answered,
    Event,
    Failed,
    Heard,
    ListeningEnd,
    ListeningEnded,
    Overheard,
    ReplyStarted,
    Worded,
)
from appliance.core.interruption import Gates, Meaning
from appliance.core.turn import Phase
from appliance.speaking.reply import STALLED
from tests.audio.card import PARTS
from tests.interruption.corners import COMBINATIONS, gates_name, row_name
from tests.interruption.edges import Button, Microphone
from tests.interruption.player import Player
from tests.interruption.rules import Judge, row_of
from tests.interruption.tape import Tape
from tests.interruption.workers import fail, make_out, work
from tests.interruption.world import SECOND, World

ALL_OPEN, ALL_CLOSED = Gates(), Gates(button=False, wake_word=False, stop_word=False, speech=False)
GATES = (*COMBINATIONS, *[ALL_OPEN, ALL_CLOSED] * 4)
LATENCIES = (30 * PARTS, 0, 3, 64 * PARTS)
PATIENCES = (0.02, 1.0)
FOLLOW_UPS = (0.0, 1.0)
MOMENTS = (1, 3, 16 * PARTS, 64 * PARTS, SECOND // 3, SECOND)
BLOCKED = (2, 4, 8, 16)
NOTHING_UNUSUAL = Tape(b"")
ROUNDS = 300
"""In which every conversation comes to its end."""
LATE: tuple[Callable[[int, float], Event], ...] = (
    lambda generation, now: Heard(generation, "ghost", now),
    lambda generation, now: Answered(generation, "ghost", "Boo!", now),
    lambda generation, now: Overheard(generation, "ghost", Meaning.WORDS, now),
    lambda generation, now: Failed(generation, "ghost", "Sorry.", now),
    lambda generation, now: ListeningEnded(generation, now, now, ListeningEnd.SILENCE),
    lambda generation, now: Worded(generation, "ghost", now),
    ReplyStarted,
)


class Course:
    """One history."""

    def __init__(self, choices: bytes) -> None:
        self._tape = tape = Tape(choices)
        gates = tape.pick(GATES)
        drops = tape.pick((True, False))
        self.world = World(
            drops=drops,
            latency=tape.pick(LATENCIES),
            gates=gates,
            patience=tape.pick(PATIENCES),
            follow_up=tape.pick(FOLLOW_UPS),
        )
        self.world.seen.update([gates_name(gates), "a card that drops" if drops else "a card that cannot drop"])
        self._blocked = 0
        self._slow = 0
        self._judge = Judge(self.world)
        self._player = Player(self.world, self._judge, tape)
        self._button = Button(self.world, tape)
        self._microphone = Microphone(self.world, tape)
        self._acts: tuple[Callable[[], None], ...] = (
            *[self._turn_loop] * 6,
            *[self._work] * 8,
            *[self._player.play] * 3,
            *[self._player.pull] * 2,
            *[self._take] * 2,
            *[self._converse] * 4,
            *[self._speak_up] * 3,
            self._remark,
            *[self._remarks] * 2,
            *[self._play_out] * 2,
            *[self._microphone.speech] * 2,
            *[self._button.press] * 2,
            self._button.let_go,
            *[self._hold] * 2,
            *[self._microphone.wake] * 2,
            self._wait,
            self._tell,
            self._both,
            *[self._break] * 3,
            *[self._remark_at_the_end] * 2,
            self._order,
            *[self._stop_and_address] * 2,
            *[self._address_at_the_end] * 2,
            *[self._speak_while_it_thinks] * 2,
            *[self._go_on_in_the_ordinary_way] * 2,
            *[self._announce] * 2,
            self._late_producer,
            self._late_event,
            self._block,
            self._slow_down,
            self._player.die,
        )

    def play(self) -> None:
        """From the first choice to where nobody does anything any more. AssertionError: something is wrong."""
        while not self._tape.over:
            act = self._tape.pick(self._acts)
            self.world.note(act.__name__)
            act()
            self._blocked = max(0, self._blocked - 1)
            self._slow = max(0, self._slow - 1)
            self.world.teller_is_slow = self._slow > 0
            self._pass_on()
            self._look()
        self._finish()

    def _look(self) -> None:
        untold = self._button.untold or self._microphone.untold or self.world.reports
        if not self.world.inbox and not untold:
            self._judge.quiet()

    def _pass_on(self) -> None:
        if not self._slow:
            self.world.pass_on()

    def _turn_loop(self) -> None:
        if not self._blocked:
            while self.world.inbox:
                self._take()
            self.world.run_watchdogs()

    def _take(self) -> None:
        if self._blocked or not self.world.inbox:
            return
        taken = self.world.take()
        self.world.seen[type(taken.event).__name__] += 1
        if (row := row_of(taken)) is not None:
            self.world.seen[row_name(row)] += 1
        self._judge.taken(taken)
        self.world.clock.move(1)  # what comes later comes in another instant

    def _work(self) -> None:
        if self.world.jobs:
            work(self.world, self._tape.pick(tuple(self.world.jobs.values())), self._tape)

    def _converse(self) -> None:
        """All goes well until a reply is under way."""
        world = self.world
        if self._blocked:
            return
        self._turn_loop()
        if world.turn.phase is Phase.IDLE:
            self._microphone.wake()
            self._microphone.tell()
            self._turn_loop()
        if world.turn.follows_up and self._tape.one_in(2):
            edge = self._tape.pick((self._button, self._microphone))
            self._button.press() if edge is self._button else self._microphone.wake()
            edge.tell()
            self._turn_loop()
        while world.turn.phase in {Phase.LISTENING, Phase.THINKING} and world.jobs:
            job = next(iter(world.jobs.values()))
            work(world, job, self._tape if job.stage == "think" else NOTHING_UNUSUAL)
            self._turn_loop()
        for _ in range(self._tape.pick((2, 3, 1, 0))):
            self._synthesise()
            self._player.play()

    def _synthesise(self) -> bool:
        """One more piece of the reply. Whether there was one."""
        job = self.world.jobs.get(f"speak-{self.world.turn.generation}")
        if job is None or job.put:
            return False
        work(self.world, job, NOTHING_UNUSUAL)
        return True

    def _speak_up(self) -> None:
        """Somebody speaks for a while."""
        self._microphone.speech()
        self._player.play()
        self._microphone.speech()
        self._turn_loop()
        self.world.clock.move(SECOND // 3)

    def _remark(self) -> None:
        """Somebody says something short during the reply."""
        self._microphone.speech()
        self._microphone.tell()
        for _ in range(2):
            self._turn_loop()
            if job := next((job for job in self.world.jobs.values() if job.stage in {"listen", "overhear"}), None):
                work(self.world, job, self._tape)

    def _remarks(self) -> None:
        """Somebody speaks again before it is known what was said before; and then it is."""
        world = self.world
        for _ in range(self._tape.pick((2, 3))):
            self._microphone.speech()
            self._microphone.tell()
            self._turn_loop()
            if world.microphone is not None and world.microphone.stage == "overhear":
                world.clock.move(SECOND // 3)
                world.end_utterance(world.microphone, ListeningEnd.SILENCE)
                self._turn_loop()
        for job in [job for job in world.jobs.values() if job.stage == "overhear" and not job.listening]:
            if job.name in world.jobs:
                work(world, job, self._tape)
                self._turn_loop()

    def _play_out(self) -> None:
        while self._synthesise():
            pass
        self._player.play_out(self.world.turn.generation)

    def _announce(self) -> None:
        """There is news, as a rule when nothing goes on, and sometimes just after a trigger, or before one."""
        edge = self._tape.pick((None, None, self._button.press, self._microphone.wake))
        if self._tape.one_in(2):
            self._turn_loop()
        if edge is not None:
            edge()
        self.world.inbox.append(Announced(f"news {self.world.number()}", self.world.clock()))
        if edge is None:
            self._turn_loop()

    def _hold(self) -> None:
        """Somebody holds the button, for a shorter or longer while, and speaks or does not."""
        self._button.press()
        self._button.tell()
        self._turn_loop()
        if not self._tape.one_in(3):
            self._microphone.speech()
            self._microphone.tell()
        self.world.clock.move(self._tape.pick((SECOND, SECOND // 3)))
        self._turn_loop()
        self._button.let_go()
        self._turn_loop()

    def _wait(self) -> None:
        self.world.clock.move(self._tape.pick(MOMENTS))

    def _tell(self) -> None:
        self._tape.pick((self._button, self._microphone)).tell()

    def _both(self) -> None:
        press, wake = self._button.press, self._microphone.wake
        for trigger in self._tape.pick(((press, wake), (wake, press))):
            trigger()
        self.world.seen["two triggers in one instant"] += 1

    def _break(self) -> None:
        """The voice breaks, as a rule while somebody speaks, and often after a trigger."""
        world = self.world
        if not self._tape.one_in(3):
            self._microphone.speech()
            self._microphone.tell()
            self._turn_loop()
        if self._tape.one_in(2):
            self._tape.pick((self._button.press, self._microphone.wake))()
            self._tell()
            self._turn_loop()
            for _ in range(2):
                if self._tape.one_in(2) and (job := world.jobs.get(f"hear-{world.turn.generation}")):
                    work(world, job, NOTHING_UNUSUAL)
                    self._turn_loop()
        if job := world.jobs.get(f"speak-{world.turn.generation}"):
            fail(world, job)

    def _order(self) -> None:
        """The reply hears itself, and then somebody says something that cannot be its echo."""
        world = self.world
        for meaning in (Meaning.ECHO, Meaning.ORDER):
            self._microphone.speech()
            self._microphone.tell()
            self._turn_loop()
            if (job := world.microphone) is not None and job.stage == "overhear" and not self._blocked:
                world.clock.move(SECOND // 3)
                world.end_utterance(job, ListeningEnd.SILENCE)
                self._turn_loop()
                if job.name in world.jobs:
                    make_out(world, job, meaning)
            self._microphone.speech()
            self._microphone.tell()
            self._turn_loop()

    def _remark_at_the_end(self) -> None:
        """Somebody says something over the end of the reply, and means it or not."""
        world = self.world
        self._play_out()
        self._microphone.speech()
        self._microphone.tell()
        self._turn_loop()
        self._player.pull()
        self._turn_loop()
        if (job := world.microphone) is not None and job.stage == "overhear":
            world.clock.move(SECOND // 3)
            world.end_utterance(job, ListeningEnd.SILENCE)
            make_out(world, job, self._tape.pick((Meaning.NOTHING, Meaning.ORDER, Meaning.BACK_CHANNEL)))
            self._turn_loop()

    def _stop_and_address(self) -> None:
        """Somebody says stop, for a shorter or longer while, and wants something else before that is made out."""
        world = self.world
        for _ in range(self._tape.pick((1, 2))):
            self._microphone.speech()
            self._microphone.tell()
            self._turn_loop()
        edge = self._tape.pick((self._button, self._microphone))
        self._button.press() if edge is self._button else self._microphone.wake()
        edge.tell()
        self._turn_loop()
        if job := next((job for job in world.jobs.values() if job.stage == "overhear"), None):
            make_out(world, job, Meaning.STOP)
            self._turn_loop()

    def _speak_while_it_thinks(self) -> None:
        """Somebody speaks before there is an answer; then something becomes known, or breaks."""
        world = self.world
        self._turn_loop()
        if self._blocked or world.turn.phase is not Phase.IDLE:
            return
        self._microphone.wake()
        self._microphone.tell()
        self._turn_loop()
        while f"hear-{world.turn.generation}" in world.jobs:
            work(world, world.jobs[f"hear-{world.turn.generation}"], NOTHING_UNUSUAL)
            self._turn_loop()
        self._microphone.speech()
        self._microphone.tell()
        self._turn_loop()
        thinking, job = world.jobs.get(f"think-{world.turn.generation}"), world.microphone
        if thinking and self._tape.one_in(2):
            fail(world, thinking) if self._tape.one_in(2) else work(world, thinking, self._tape)
        elif job is not None and job.stage == "overhear":
            world.clock.move(SECOND // 3)
            world.end_utterance(job, ListeningEnd.SILENCE)
            make_out(world, job, self._tape.pick((Meaning.STOP, Meaning.WORDS, Meaning.NOTHING)))
        self._turn_loop()

    def _go_on_in_the_ordinary_way(self) -> None:
        """Somebody presses, or says the wake word, where that would not be necessary."""
        self._play_out()
        self._player.pull()
        self._turn_loop()
        if self.world.turn.follows_up:
            edge = self._tape.pick((self._button, self._microphone))
            self._button.press() if edge is self._button else self._microphone.wake()
            edge.tell()
            self._turn_loop()

    def _address_at_the_end(self) -> None:
        """Somebody speaks, and wants something, when the last sample has sounded and nobody knows it."""
        self._play_out()
        for _ in range(2):
            self._microphone.speech()
            self._microphone.tell()
        self._tape.pick((self._button.press, self._microphone.wake))()
        self._turn_loop()
        self._player.pull()

    def _late_producer(self) -> None:
        lane = self.world.lane
        generation = self.world.turn.generation - self._tape.pick((1, 2, 3))
        self.world.seen["a late producer"] += 1
        assert not self.world.put(generation, 9)
        assert not lane.open(generation)
        match self._tape.pick(range(5)):
            case 0:
                lane.finish(generation)
            case 1:
                lane.clause(generation, "ghost")
            case 2:
                lane.resume(generation)
            case 3:
                lane.expect(generation)
            case _:
                lane.done(generation)

    def _late_event(self) -> None:
        generation = self.world.turn.generation - self._tape.pick((1, 2, 3))
        self.world.inbox.append(self._tape.pick(LATE)(generation, self.world.clock()))
        self.world.seen["a late event"] += 1

    def _block(self) -> None:
        self._blocked = self._tape.pick(BLOCKED)
        self.world.seen["a blocked loop"] += 1

    def _slow_down(self) -> None:
        self._slow = self._tape.pick(BLOCKED)
        self.world.seen["the lane's reports are late"] += 1

    def _finish(self) -> None:
        """All workers do their work, and the card plays, or is found to be dead."""
        world, rounds = self.world, 0
        self._blocked = self._slow = 0
        self.world.teller_is_slow = False
        while rounds == 0 or not self._is_over():
            rounds += 1
            assert rounds < ROUNDS, "stuck"
            for job in tuple(world.jobs.values()):
                if job.put and self._player.dead and world.lane.lane.waits(job.generation):
                    world.clock.move(round(STALLED * SECOND))
                    fail(world, job)
                else:
                    work(world, job, self._tape)
            self._pass_on()
            self._button.let_go()
            self._button.tell()
            self._microphone.tell()
            self._player.play_block(200)
            world.clock.move(SECOND if self._player.dead else 0)
            self._turn_loop()
            self._look()
        self._player.play_block(200)
        world.clock.move(SECOND)
        self._judge.over()

    def _is_over(self) -> bool:
        world = self.world
        return world.turn.phase is Phase.IDLE and not (world.inbox or world.jobs or world.lane.model.hushed)
