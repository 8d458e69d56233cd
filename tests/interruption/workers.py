"""The workers of speech-to-text, thinking and voice: what comes of a job, soon, late or never."""

from appliance.core.events import Answered, Event, Failed, Heard, ListeningEnd, Overheard, Worded
from appliance.core.interruption import Meaning
from tests.interruption.tape import Tape
from tests.interruption.world import SECOND, Job, World

MEANINGS = (
    Meaning.WORDS,
    Meaning.ORDER,
    Meaning.NOTHING,
    Meaning.STOP,
    Meaning.BACK_CHANNEL,
    Meaning.ECHO,
    Meaning.STOP,
)
PIECES = (100, 150, 7, 1, 0)
"""Samples in a piece of synthesised speech."""


def work(world: World, job: Job, tape: Tape) -> None:
    """One step of a job."""
    if job.put:
        if not world.lane.lane.is_open(job.generation):
            world.end(job)
    elif tape.one_in(16):
        fail(world, job)
    elif job.listening:
        world.clock.move(tape.pick((SECOND // 3, 0)))
        ends = (ListeningEnd.SILENCE, ListeningEnd.NOTHING, ListeningEnd.LIMIT)
        world.end_utterance(job, ListeningEnd.LIMIT if job.held else tape.pick(ends))
    elif job.stage == "speak":
        _synthesise(world, job, tape)
    elif job.stage == "think" and not job.wording and tape.one_in(3):
        job.wording = True
        world.inbox.append(Answered(job.generation, "answer", None, world.clock()))
    else:
        _finish(world, job, tape)


def fail(world: World, job: Job) -> None:
    """The job breaks. Of what nobody has asked for it is only not known what it was."""
    generation, now = job.generation, world.clock()
    if job.stage == "overhear":
        make_out(world, job, Meaning.NOTHING)
    else:
        world.seen[f"{job.stage} fails"] += 1
        if job.wording:
            world.inbox.append(Worded(generation, "So far", now))
        _end(world, job, Failed(generation, "broken", "Sorry.", now))


def make_out(world: World, job: Job, meaning: Meaning) -> None:
    """It becomes known what was overheard."""
    text = "" if meaning is Meaning.NOTHING else f"remark {world.number()}"
    _end(world, job, Overheard(job.generation, text, meaning, world.clock()))


def _synthesise(world: World, job: Job, tape: Tape) -> None:
    if job.pieces:
        job.pieces -= 1
        world.lane.clause(job.generation, f"clause {job.pieces}")
        world.put(job.generation, tape.pick(PIECES))
    else:
        job.put = True
        world.lane.finish(job.generation)


def _finish(world: World, job: Job, tape: Tape) -> None:
    generation, now = job.generation, world.clock()
    match job.stage:
        case "listen":
            _end(world, job, Heard(generation, tape.pick((f"question {world.number()}", "")), now))
        case "think" if job.wording:
            _end(world, job, Worded(generation, "So far, and no further.", now))
        case "think":
            _end(world, job, Answered(generation, "answer", tape.pick(("An answer.", "")), now))
        case _:
            make_out(world, job, tape.pick(MEANINGS))


def _end(world: World, job: Job, event: Event) -> None:
    world.end(job)
    world.inbox.append(event)
