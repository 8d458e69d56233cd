"""What must be true of the conversation, at each step and at the end of a history."""

from appliance.audio.devices import Samples
from appliance.core.effects import Begin, FinishListening, Listen, Overhear, Remember, Report, Speak, Think
from appliance.core.events import (
    Announced,
    Failed,
    Heard,
    Overheard,
    Pressed,
    Released,
    ReplyEnded,
    SpeechEnded,
    SpeechStarted,
    SpeechSustained,
    WakeHeard,
    Worded,
)
from appliance.core.interruption import Meaning
from appliance.core.turn import TABLE, Phase, Row, is_stale
from tests.audio.checked import STEP
from tests.audio.model import FADING
from tests.interruption.world import Taken, World

ROWS: dict[tuple[Phase, type[object]], list[Row]] = {}
for _row in TABLE:
    ROWS.setdefault((_row.phase, _row.event), []).append(_row)


class Judge:
    """Looks at everything that happens in a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._may_be_cut: set[int] = set()
        self._promised: str | None = None
        """What was said to the appliance during the reply after it was addressed."""
        self._addresses = 0
        self._silenced = 0
        """For how many replies the card was looked at after their hush."""
        self._said: list[str] = []
        """What was said, and came in time."""
        self._reported: list[str] = []
        self._begun: dict[float, int] = {}
        """How many turns the triggers of an instant have begun."""

    def taken(self, taken: Taken) -> None:
        """An event was taken."""
        event, before, after = taken.event, taken.before, taken.after
        begun = [effect.generation for effect in taken.effects if isinstance(effect, Begin)]
        assert begun == list(range(before.generation + 1, after.generation + 1))[:1], "one event, one turn"
        assert after.generation <= before.generation + 1
        asked = (each for each in taken.effects if isinstance(each, Listen | Overhear | Think | Speak))
        assert all(each.generation == after.generation for each in asked), "something is asked for in an old turn"
        if is_late(taken):
            assert after == before, "what comes late changes something"
            assert isinstance(event, ReplyEnded | Worded) or not taken.effects
            assert all(isinstance(effect, Report | Remember) for effect in taken.effects)
        elif isinstance(event, ReplyEnded):
            assert not (before.remarks and after.phase is Phase.IDLE), "what is being said when a reply ends is lost"
        if isinstance(event, WakeHeard | Pressed):
            self._trigger(taken, event.at, len(begun))
        self._causes(taken)
        self._promises(taken)
        if isinstance(event, Heard | Overheard) and not is_late(taken):
            self._said += [event.text] if event.text else []
        for effect in taken.effects:
            if isinstance(effect, Report) and effect.kind == "heard":
                self._reported.append(str(effect.data["text"]))

    def _trigger(self, taken: Taken, at: float, begun: int) -> None:
        self._begun[at] = self._begun.get(at, 0) + begun
        assert self._begun[at] <= 1, "several triggers in one instant, and several interruptions"
        finished = any(isinstance(effect, FinishListening) for effect in taken.effects)
        assert not (finished and self._begun[at]), "of two triggers in one instant, one ends what the other began"

    def _causes(self, taken: Taken) -> None:
        event, gates = taken.event, taken.before.gates
        match event:
            case Pressed() if gates.button:
                self._may_be_cut.update({event.turn, event.turn + taken.before.unasked})
            case WakeHeard() if gates.wake_word:
                self._may_be_cut.update({event.turn, event.turn + taken.before.unasked})
            case Overheard(meaning=Meaning.STOP) if gates.stop_word:
                self._may_be_cut.add(event.generation)
            case Overheard(meaning=Meaning.STOP | Meaning.ORDER | Meaning.WORDS) if gates.speech:
                self._may_be_cut.add(event.generation)
            case Failed():
                self._may_be_cut.add(event.generation)

    def _promises(self, taken: Taken) -> None:
        """What was said to the appliance during a reply is the next question, unless something else interrupts."""
        before, after, event = taken.before, taken.after, taken.event
        if after.addressed is not before.addressed and after.addressed is not None:
            self._promised, self._addresses = None, self._addresses + 1
        if isinstance(event, Heard) and before.phase is after.phase is Phase.SPEAKING and not is_late(taken):
            self._promised = event.text
        if after.generation > before.generation or after.phase is Phase.IDLE:
            if isinstance(event, ReplyEnded) and not is_late(taken):
                if before.addressed is not None:
                    assert after.generation > before.generation, "somebody waits for ever"
                is_alone = self._promised is None and self._addresses == 1 and before.waiting is None
                if before.addressed is not None and is_alone:
                    since = [each.since for each in taken.effects if isinstance(each, Listen)]
                    assert since == [before.addressed.at], "what is being said to the appliance is lost"
                if self._promised:
                    assert any(isinstance(each, Think) and each.text == self._promised for each in taken.effects)
                    self._world.seen["what was said after an address is answered"] += 1
            self._promised, self._addresses = None, 0

    def pulled(self, samples: Samples | None) -> None:
        """The card has got a block: of what was hushed there is nothing in it but a fade, and nothing in the card."""
        world = self._world
        if samples is not None and samples.any():
            self._must_be_wanted(samples)
        if world.lane.model.drops and len(world.silenced) > self._silenced:
            self._must_be_wanted(world.card.coming())
        self._silenced = len(world.silenced)

    def _must_be_wanted(self, samples: Samples) -> None:
        whole = samples[samples % STEP == 1]
        for number in whole[[0, -1]].tolist() if len(whole) else ():
            assert self._world.owner(number) not in self._world.silenced, "a sample of a reply that was hushed"

    def quiet(self) -> None:
        """Nothing is under way between the threads: lane, table and jobs agree, and somebody is at work."""
        world, turn = self._world, self._world.turn
        model = world.lane.model
        reply, generation = model.reply, turn.generation
        hearing = world.jobs.get(f"hear-{generation}")
        overhearing = [job for job in world.jobs.values() if job.stage == "overhear"]
        assert len(turn.remarks) == len(overhearing), "of what is said something is forgotten"
        assert sum(job.listening for job in world.jobs.values()) < 2, "two utterances at once"
        assert world.button_is_down or not any(job.held for job in world.jobs.values()), "nobody can let go of it"
        thinking, speaking = f"think-{generation}" in world.jobs, f"speak-{generation}" in world.jobs
        assert model.turn == generation
        assert all(job.generation == generation for job in world.jobs.values()), "work for a turn that is over goes on"
        match turn.phase:
            case Phase.IDLE:
                assert reply is None
                assert not model.active, "there is nothing to hush any more"
                assert not world.jobs, "work for nobody goes on"
            case Phase.LISTENING:
                assert hearing
                assert hearing.listening, "nobody listens"
                assert turn.attending
                assert not model.active
                assert not model.cancelled
            case Phase.THINKING:
                assert thinking or (hearing and not hearing.listening), "nobody thinks"
                assert turn.attending == (hearing is not None)
                assert model.active == thinking
                assert not model.cancelled
            case Phase.SPEAKING:
                assert reply
                assert speaking
                assert reply.generation == generation
                assert not reply.paused, "nobody lets the reply go on"
                if self._addresses < 2:
                    assert turn.attending == (hearing is not None)
            case Phase.PAUSED if turn.waiting is not None:
                assert reply is None
                assert [each for each in model.hushed if each.generation == generation]
                assert world.watchdogs, "nobody sees to it that the reply ends"
            case Phase.PAUSED:
                assert overhearing, "nobody finds out why the reply has paused"
                assert (reply is None) == turn.nothing_left
                assert reply is None or reply.paused, "the reply is not paused"

    def over(self) -> None:
        """All workers have answered, and the card has played: each reply has ended once, and nothing is left."""
        world = self._world
        assert world.turn.phase is Phase.IDLE, "stuck"
        assert not world.jobs
        assert not world.lane.lane._scope.discarding, "the window does not close"
        assert sorted(end.generation for end in world.ended) == world.opened, "one end for each reply"
        ends = sorted((end.generation, end.played, end.cut) for end in world.ended)
        assert sorted((each.generation, each.played, each.cut) for each in world.remembered) == ends
        assert sorted(world.started) == sorted(end.generation for end in world.ended if end.played)
        assert sorted(self._said) == sorted(self._reported), "what was said is forgotten"
        for end in world.ended:
            assert not end.cut or end.generation in self._may_be_cut, "a reply is cut, and nobody may do that"
            assert end.cut or end.played == world.made[end.generation], "a reply is not whole"
            world.seen["a reply that paused is heard to its end"] += not end.cut and world.paused[end.generation] > 0
        sounded, played = len(world.card.sounded()), sum(end.played for end in world.ended)
        fades = 0 if world.lane.model.drops else world.paused.total() * FADING
        lost = 0 if world.lane.model.drops else world.seen["the card dies"] * FADING
        assert played - lost <= sounded <= played + fades, "what was played is not what has sounded"


def is_late(taken: Taken) -> bool:
    """Whether the event belongs to a response that is over."""
    match taken.event:
        case SpeechStarted() | SpeechSustained() | SpeechEnded() | Announced() | Released():
            return False
        case WakeHeard() | Pressed() as trigger:
            return is_stale(taken.before, trigger)
        case event:
            return event.generation != taken.before.generation or taken.before.phase is Phase.IDLE


def row_of(taken: Taken) -> Row | None:
    """The row of the table that was taken."""
    if is_late(taken):
        return None
    before, event = taken.before, taken.event
    rows = ROWS.get((before.phase, type(event)), [])
    return next((row for row in rows if row.when is None or row.when(before, event)), None)
