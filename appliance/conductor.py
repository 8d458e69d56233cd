"""The only loop: event -> core step -> effects carried out."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar, TypeVarTuple

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
from appliance.core.effects import Drop, Effect, FinishListening, Hush, Listen, Report, Speak, Think
from appliance.core.events import Answered, Event, Failed, Heard
from appliance.core.turn import IllegalEventError, Phase, Turn, step
from appliance.errors import ApplianceError
from appliance.hearing.ears import Ears
from appliance.hearing.stt import Recogniser
from appliance.quests import Quest, QuestManager
from appliance.speaking.reply import speak
from appliance.speaking.voice import Voice
from appliance.thinking.history import History
from appliance.thinking.offline import Answer

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


class Mind(Protocol):
    """What finds the answer."""

    def answer(self, heard: str, conversation: History) -> Answer:
        """The answer to what was heard. Blocking, quick."""

    def apology(self) -> str:
        """What to say when something of ours broke."""


class Observer(Protocol):
    """Who wants to know how the conversation goes: the console, the log, the timeline. Called in the event loop."""

    def report(self, report: Report) -> None:
        """A line of the timeline."""

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase since `at`."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the conductor plays on."""

    ears: Ears
    recogniser: Recogniser
    strip_wake: Callable[[str], str]
    """What was said without the wake word in front of it."""
    mind: Mind
    voice: Voice
    lane: Lane
    clock: Callable[[], float]
    """Seconds on the clock of the microphone's frames."""


class Inbox:
    """The one queue that every thread reports through."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._progress = asyncio.Event()

    def post(self, event: Event) -> None:
        """Something happened. From any thread, in order, never blocking."""
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def get(self) -> Event:
        """The next event."""
        return await self._events.get()

    def post_progress(self) -> None:
        """The lane has used up some of its samples. From any thread."""
        self._loop.call_soon_threadsafe(self._progress.set)

    async def progress(self) -> None:
        """Wait until more of the lane has been used up."""
        self._progress.clear()
        await self._progress.wait()


class Conductor:
    """Turns what the edges report into effects. Belongs to the event loop."""

    def __init__(
        self, inbox: Inbox, parts: Parts, quests: QuestManager, observers: Sequence[Observer], patience: float
    ) -> None:
        self._inbox = inbox
        self._parts = parts
        self._quests = quests
        self._observers = list(observers)
        self._turn = Turn(patience)
        self._conversation = History()
        self._loop = asyncio.get_running_loop()
        self._finished = 0
        """The generation that the user was last done with by the button."""
        self._hearing_worker = ThreadPoolExecutor(1, "speech-to-text")
        self._voice_worker = ThreadPoolExecutor(1, "voice")

    async def run(self) -> None:
        """Conduct until cancelled."""
        while True:
            self._take(await self._inbox.get())

    def close(self) -> None:
        """Let go of the workers; a job that is under way ends by itself and is heard by nobody."""
        self._hearing_worker.shutdown(wait=False, cancel_futures=True)
        self._voice_worker.shutdown(wait=False, cancel_futures=True)

    def _take(self, event: Event) -> None:
        before = self._turn.phase
        try:
            self._turn, effects = step(self._turn, event)
        except IllegalEventError:
            # One edge's defect must not take the conversation of the others down.
            _log.exception("an event that cannot be")
            return
        for effect in effects:
            self._carry_out(effect)
        if self._turn.phase is not before:
            self.announce()

    def announce(self) -> None:
        """Tell the observers in which phase the conversation is."""
        self._tell(lambda observer: observer.phase(self._turn.phase, self._parts.clock()))

    def _tell(self, tell: Callable[[Observer], None]) -> None:
        for observer in list(self._observers):
            try:
                tell(observer)
            except Exception:  # noqa: BLE001  a full disk or a closed terminal must not end the conversation
                _log.exception("%s fails, and is told nothing more", type(observer).__name__)
                self._observers.remove(observer)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Hush(generation):
                self._parts.lane.hush(generation)
            case Report():
                self._tell(lambda observer: observer.report(effect))
            case Listen(generation):
                self._quests.start(self._work("hear", generation, lambda: self._hear(effect)))
            case FinishListening(generation):
                self._finished = generation
                self._parts.ears.finish(generation)
            case Think(generation, text):
                self._conversation.ask(generation, text)
                self._quests.start(self._work("think", generation, lambda: self._think(generation, text)))
            case Speak(generation, text):
                self._conversation.reply(generation, text)
                self._conversation.replied(generation, text, "", interrupted=False)
                self._parts.lane.open(generation)
                self._quests.start(self._work("speak", generation, lambda: self._speak(generation, text)))
            case Drop(generation):
                for stage in ("hear", "think", "speak"):
                    self._quests.discard(f"{stage}-{generation}")

    def _work(self, stage: str, generation: int, run: Callable[[], Awaitable[None]]) -> Quest[None]:
        return Quest.from_run_step(f"{stage}-{generation}", lambda: self._guarded(stage, generation, run()))

    async def _guarded(self, stage: str, generation: int, work: Awaitable[None]) -> None:
        """Whatever breaks in a stage, the user is told, and the next turn works."""
        try:
            await work
        except Exception as error:  # noqa: BLE001  # the boundary behind which nothing may take the speaker down
            expected = isinstance(error, ApplianceError)
            _log.error("%s of turn %d failed: %s", stage, generation, error, exc_info=not expected)
            message = str(error) if expected else f"{stage} failed: {error!r}"
            self._inbox.post(Failed(generation, message, self._parts.mind.apology(), self._parts.clock()))

    async def _hear(self, effect: Listen) -> None:
        ears, generation = self._parts.ears, effect.generation
        audio: asyncio.Queue[Samples | None] = asyncio.Queue()

        def sink(samples: Samples | None) -> None:
            self._loop.call_soon_threadsafe(audio.put_nowait, samples)

        ears.listen(generation, effect.since, effect.patience_until, sink)
        try:
            if self._finished == generation:  # the user was done before this quest had begun
                ears.finish(generation)
            recognition = await self._in(self._hearing_worker, self._parts.recogniser.begin)
            while (samples := await audio.get()) is not None:
                await self._in(self._hearing_worker, recognition.feed, samples)
            transcript = await self._in(self._hearing_worker, recognition.finish)
        finally:
            ears.dismiss(generation)
        self._inbox.post(Heard(generation, self._parts.strip_wake(transcript.text), self._parts.clock()))

    async def _think(self, generation: int, text: str) -> None:
        answer = await self._in(None, self._parts.mind.answer, text, self._conversation)
        self._inbox.post(Answered(generation, answer.intent, answer.text, self._parts.clock()))

    async def _speak(self, generation: int, text: str) -> None:
        parts = self._parts
        await speak(text, generation, parts.voice, parts.lane, self._voice_worker, self._inbox.progress)

    async def _in(self, worker: Executor | None, call: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        return await self._loop.run_in_executor(worker, call, *arguments)
