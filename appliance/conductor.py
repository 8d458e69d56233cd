"""The only loop: event -> core step -> effects carried out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, TypeVarTuple

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
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
from appliance.core.events import Answered, Event, Failed, Heard, Overheard, Worded
from appliance.core.interruption import Meaning, heard_text, judge
from appliance.core.moves import LEAD
from appliance.core.turn import IllegalEventError, Phase, Turn, step
from appliance.errors import ApplianceError
from appliance.hearing.ears import Ears, Utterance
from appliance.hearing.guard import speech
from appliance.hearing.stt import Recogniser, Recognition, Transcript
from appliance.quests import Quest, QuestManager
from appliance.speaking.reply import all_at_once, more_progress, speak
from appliance.speaking.voice import Voice
from appliance.thinking.answer import Answer, Wording
from appliance.thinking.ending import Completeness
from appliance.thinking.history import History
from appliance.thinking.skills.skill import Deed

_log = logging.getLogger(__name__)

MISSING_END = 0.5
"""Seconds after a hush in which the card has to drop what it holds; then the reply is over without it."""

COMPLETE_PAUSE = 0.25
"""Seconds of silence that end a turn after a command that wants nothing more. Within 52 spoken orders of 8 s, the
longest pause is over 0.25 s in 3, and over 0.45 s in none."""

OPEN_PAUSE = 1.5
"""Seconds in which the next word is waited for after one that ends no sentence."""

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")


class Mind(Protocol):
    """What finds the answer."""

    async def answer(self, heard: str, history: History) -> Answer | Wording:
        """The answer to what was heard."""

    def apology(self) -> str:
        """What to say when something of ours broke."""

    def means_stop(self, heard: str) -> bool:
        """Whether all that the user wants is silence."""

    def understands(self, heard: str) -> bool:
        """Whether there is an answer of its own to `heard`."""

    @property
    def back_channels(self) -> Collection[str]:
        """What listeners say only to show that they listen."""


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
    completeness: Callable[[str], Completeness]
    """What a pause means after what was said. Takes milliseconds."""
    mind: Mind
    do: Callable[[Deed], None]
    """Does what an answer says is to be done."""
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
        self, inbox: Inbox, parts: Parts, quests: QuestManager, observers: Sequence[Observer], turn: Turn
    ) -> None:
        """`turn`: how the conversation begins."""
        self._inbox = inbox
        self._parts = parts
        self._quests = quests
        self._observers = list(observers)
        self._turn = turn
        self._history = History()
        self._replies: dict[int, str] = {}
        """What was begun to be said and is not over."""
        self._said = (0, "")
        """What was said of the last reply that is over, and its generation."""
        self._words: dict[int, asyncio.Queue[str | None]] = {}
        """What is said as it is worded, and None at its end."""
        self._loop = asyncio.get_running_loop()
        self._finished = 0
        """The generation whose utterance the user was done with before it was listened to; 0 if there is none."""
        self._held = 0
        """The generation whose utterance was begun with the button that is down; 0 if there is none."""
        self._overheard = 0
        """How often something was overheard, so that each has a quest of its own."""
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
        parts = self._parts
        match effect:
            case Hush(generation):
                parts.lane.hush(generation)
                self._loop.call_later(MISSING_END, parts.lane.settle, generation)
            case Pause(generation):
                parts.lane.pause(generation)
            case Resume(generation, pausable):
                parts.lane.resume(generation, pausable=pausable)
            case Report():
                self._tell(lambda observer: observer.report(effect))
            case Begin(generation):
                parts.lane.begin_turn(generation)
            case Listen(generation):
                self._finished, self._held = 0, generation if effect.held else 0
                self._start("hear", generation, lambda: self._hear(effect))
            case Overhear(generation):
                self._overheard += 1
                self._start(f"overhear-{self._overheard}", generation, lambda: self._overhear(effect))
            case LetGo(generation):
                self._held = 0
                parts.ears.let_go(generation)
            case FinishListening(generation):
                self._finished = generation
                parts.ears.finish(generation)
            case Think(generation, text):
                parts.lane.expect(generation)
                self._history.ask(generation, text)
                self._start("think", generation, lambda: self._think(generation, text))
            case Speak(generation, reply, pausable):
                if parts.lane.open(generation, pausable=pausable):
                    words = self._as_worded(generation) if reply is None else all_at_once(reply)
                    self._say(generation, reply or "")
                    self._start("speak", generation, lambda: self._speak(generation, words))
            case Remember(generation):
                self._remember(effect, self._replies.pop(generation, ""))
            case Drop(generation):
                parts.lane.done(generation)
                self._words.pop(generation, None)
                for name in list(self._quests.quests):
                    if name.endswith(f"-{generation}"):
                        self._quests.discard(name)

    def _say(self, generation: int, text: str) -> None:
        """More of the reply is going to be said, if it is not over."""
        if not self._parts.lane.is_open(generation):
            return
        self._replies[generation] = self._replies.get(generation, "") + text
        self._history.reply(generation, self._replies[generation])

    def _remember(self, effect: Remember, reply: str) -> None:
        heard, rest, self._said = reply, "", (effect.generation, reply)
        if effect.cut:
            text = heard_text(effect.clauses, effect.played, reply)
            heard, rest, self._said = text.heard, text.rest, (effect.generation, text.said)
        self._history.replied(effect.generation, heard, rest, interrupted=effect.cut)

    def _start(self, stage: str, generation: int, run: Callable[[], Awaitable[None]]) -> None:
        work = Quest.from_run_step(f"{stage}-{generation}", lambda: self._guarded(stage, generation, run()))
        self._quests.start(work)

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
        said = await self._transcribe(effect, effect.preroll)
        self._inbox.post(Heard(effect.generation, said.text, self._parts.clock(), _rounded(said.confidence)))

    async def _overhear(self, effect: Overhear) -> None:
        generation = effect.generation
        try:
            said = await self._transcribe(effect, LEAD)
            meaning = await self._in(None, self._judge, said.text, generation)
        except Exception:  # noqa: BLE001  nobody has asked for it: the reply must not end, nor wait for ever
            _log.exception("what was said during the reply of turn %d is lost", generation)
            said, meaning = Transcript(""), Meaning.NOTHING
        self._inbox.post(Overheard(generation, said.text, meaning, self._parts.clock(), _rounded(said.confidence)))

    def _judge(self, text: str, generation: int) -> Meaning:
        clauses, played = self._parts.lane.spoken(generation)
        said = heard_text(clauses, played, self._replies.get(generation, "")).said
        over, whole = self._said
        mind = self._parts.mind
        return judge(
            text,
            recently_said=said or (whole if over in {generation, generation - 1} else ""),
            back_channels=mind.back_channels,
            is_stop=mind.means_stop(text),
            is_order=mind.understands(text),
        )

    async def _transcribe(self, effect: Listen | Overhear, preroll: float | None) -> Transcript:
        ears, generation = self._parts.ears, effect.generation
        audio: asyncio.Queue[Samples | float | None] = asyncio.Queue()
        """The sound, and when a pause in it began, as soon as that is a pause."""

        def sink(samples: Samples | float | None) -> None:
            self._loop.call_soon_threadsafe(audio.put_nowait, samples)

        utterance = ears.listen(
            generation,
            effect.since,
            effect.patience_until,
            sink,
            preroll,
            # The button may be up again before this quest has begun.
            held=self._held == generation and isinstance(effect, Listen),
            on_lull=sink,
        )
        try:
            # The user may have been done before this quest had begun.
            if isinstance(effect, Listen) and self._finished == generation:
                ears.finish(generation)
            recognition = await self._in(self._hearing_worker, self._parts.recogniser.begin)
            while (samples := await audio.get()) is not None:
                if not isinstance(samples, float):
                    await self._in(self._hearing_worker, recognition.feed, samples)
                    continue
                pause = await self._pause_wanted(utterance, recognition, samples)
                # What is only overheard, and may be an echo that broke off, does not hold up the reply.
                if pause == COMPLETE_PAUSE or (pause is not None and isinstance(effect, Listen)):
                    ears.expect(utterance, samples, pause)
            transcript = await self._in(self._hearing_worker, recognition.finish)
        finally:
            ears.dismiss(utterance)
        said = speech(transcript, utterance.voiced)
        if transcript.text and said.no_speech:
            _log.info("what turn %d heard counts as nothing: %s", generation, said.no_speech)
        return replace(said, text=self._parts.strip_wake(said.text))

    async def _pause_wanted(self, utterance: Utterance, recognition: Recognition, lull: float) -> float | None:
        """How long the pause has to be that began at `lull`, judging by what was said so far; None: as ever."""
        if not self._parts.ears.is_lull(utterance, lull):
            return None  # the recogniser is late, or somebody speaks on
        guess = await self._in(self._hearing_worker, recognition.guess)
        if guess is None:
            return None
        text = self._parts.strip_wake(guess.text)
        match await self._in(None, self._parts.completeness, text):
            case Completeness.COMPLETE:
                return COMPLETE_PAUSE
            case Completeness.OPEN:
                return OPEN_PAUSE
            case Completeness.UNKNOWN:
                return None

    async def _think(self, generation: int, text: str) -> None:
        clock = self._parts.clock
        answer = await self._parts.mind.answer(text, self._history)
        if isinstance(answer, Answer):
            for deed in answer.deeds:
                self._parts.do(deed)
            self._inbox.post(Answered(generation, answer.intent, answer.text, clock(), answer.asks))
            return
        words: asyncio.Queue[str | None] = asyncio.Queue()
        said = ""
        try:
            async with aclosing(answer.words) as pieces:  # so that whoever writes them stops at once
                async for piece in pieces:
                    if not said:
                        self._words[generation] = words
                        self._inbox.post(Answered(generation, answer.intent, None, clock()))
                    said += piece
                    words.put_nowait(piece)
        finally:
            if said:
                words.put_nowait(None)
                self._inbox.post(Worded(generation, said.strip(), clock(), answer.by()))
        if not said:
            self._inbox.post(Answered(generation, answer.intent, "", clock()))

    async def _as_worded(self, generation: int) -> AsyncIterator[str]:
        words = self._words[generation]
        while (piece := await words.get()) is not None:
            self._say(generation, piece)
            yield piece

    async def _speak(self, generation: int, words: AsyncIterator[str]) -> None:
        lane, progress = self._parts.lane, self._inbox.progress
        await speak(words, generation, self._parts.voice, lane, self._voice_worker, progress)
        while lane.is_open(generation):
            await more_progress(generation, lane, progress)

    async def _in(self, worker: Executor | None, call: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        return await self._loop.run_in_executor(worker, call, *arguments)


def _rounded(confidence: float | None) -> float | None:
    return None if confidence is None else round(confidence, 2)
