"""Composition root: settings -> devices and engines -> quests; orderly start and stop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from appliance.audio.devices import Frame, Samples
from appliance.audio.frontend import FrontEnd
from appliance.audio.lane import Lane
from appliance.audio.volume import AsLoud, Volume
from appliance.conductor import Conductor, Inbox, Observer, Parts
from appliance.config.schema import Settings
from appliance.core.effects import Report
from appliance.core.endpoint import EndpointSettings
from appliance.core.events import (
    Announced,
    Event,
    ListeningEnd,
    ListeningEnded,
    Pressed,
    Released,
    ReplyEnded,
    ReplyStarted,
    SpeechSustained,
    WakeHeard,
)
from appliance.core.interruption import Gates
from appliance.core.turn import Phase, Turn
from appliance.devices import Devices
from appliance.engines import Engines
from appliance.hearing.ears import Ears
from appliance.hearing.second_look import SecondLook
from appliance.language_model import LanguageModel
from appliance.quests import Quest, QuestManager
from appliance.service.condition import ButtonStatus, CardStatus, Condition
from appliance.service.status import StatusObserver, button_problem, button_status, card_problem
from appliance.sound import Beats, Sound, close_device
from appliance.thinking.ending import Endings
from appliance.thinking.mind import Mind
from appliance.thinking.offline import Offline
from appliance.thinking.phrases import PHRASES
from appliance.thinking.skills.skill import CancelTimers, Deed, SetVolume, Situation, StartTimer
from appliance.thinking.wake_phrase import mentions, strip_wake
from appliance.timekeeping import Timekeeper
from appliance.waking import OwnWords, Waking, Whether

_log = logging.getLogger(__name__)

OPENING = 3.0
"""Seconds that the cards may take to open before the appliance is ready; one that hangs is as good as missing."""

OWN_WORDS = 0.75
"""How alike a wake word something may be in what is being said to be taken for it: "a lexicon" (0.8) can wake, too."""

UNCANCELLED = 0.7
"""The score that a wake word takes at least over the appliance's own voice, if nothing takes that out."""

STILL = 2.7
"""Seconds without sound after which a card is said not to work: one that fell silent is closed after 2 to 2.5."""


class Supervisor:
    """Runs one appliance on its devices. Made and used in the event loop."""

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        devices: Devices,
        observers: Sequence[Observer],
        directory: Path | None = None,
        status: StatusObserver | None = None,
        listener: Callable[[Samples, Mapping[str, float]], None] | None = None,
        volume: Volume | None = None,
    ) -> None:
        """`directory` keeps what is remembered; without one, no language model is looked for."""
        self._devices = devices
        self._status = status or StatusObserver()
        self._rest = _Rest()
        self._listener = listener
        self._scores = engines.wake.scores
        echo = settings.microphone.echo
        gain = settings.microphone.automatic_gain
        self._front_end = FrontEnd(devices.speaker.rate, echo, automatic_gain=gain)
        self._volume = volume or Volume(devices.now)
        loud = settings.speaker
        self._volume.configure(loud.volume, loud.quiet, loud.quiet_volume, follows=loud.follow)
        self._observers = [*observers, self._status, self._rest]
        self._sound: Sound | None = None
        self._inbox = Inbox()
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        listening = settings.listening
        may = settings.interruption
        self._gates = Gates(
            button=may.allowed and may.button,
            wake_word=may.allowed and may.wake_word,
            stop_word=may.allowed and may.stop_word,
            speech=may.allowed and may.speech and echo != "none",
        )
        self._settings = settings
        keeps = None if directory is None else directory / "timers.json"
        self._timers = Timekeeper(devices.clock, devices.now, self.say, PHRASES[settings.language], keeps)
        self._observers.append(self._timers)
        offline = Offline(settings.language, devices.now, self._situation)
        mind = Mind(offline)
        self.model = LanguageModel(settings, directory, devices.now, mind)
        self._parts = Parts(
            ears=Ears(
                engines.wake,
                engines.activity,
                EndpointSettings(pause=listening.pause, limit=listening.limit),
                self._sense,
                preroll=listening.preroll,
                sustained=may.minimum_speech,
                plays=self._front_end.plays,
                wake_while_playing=max(settings.wake.playback_threshold, UNCANCELLED if echo == "none" else 0.0),
            ),
            recogniser=engines.recogniser,
            mind=mind,
            do=self._do,
            completeness=Endings(settings.language, offline.understands, offline.lacks).completeness,
            strip_wake=partial(strip_wake, words=settings.wake.names),
            voice=engines.voice,
            lane=Lane(
                devices.speaker.rate,
                self._tell,
                devices.clock,
                self._inbox.post_progress,
                drops=devices.speaker.drops,
            ),
            clock=devices.clock,
        )
        self._own_words = OwnWords(self._parts.lane, devices.clock)
        self._waking: Waking | None = None

    def _situation(self) -> Situation:
        timers = self._timers
        return Situation(self._devices.clock(), timers.running, timers.rang, self._volume.level)

    def _do(self, deed: Deed) -> None:
        match deed:
            case StartTimer(name, seconds):
                self._timers.start(name, seconds)
            case CancelTimers(numbers):
                self._timers.cancel(numbers)
            case SetVolume(level):
                self._volume.level = level

    def press(self, at: float) -> None:
        """The button went down: silence at once, even if the event loop is busy. From any thread."""
        self._inbox.post(Pressed(at, self._seen(hushes=self._gates.button)))

    def release(self, at: float) -> None:
        """The button came up. From any thread."""
        self._inbox.post(Released(at))

    def _hear(self, frame: Frame) -> None:
        self._parts.ears.feed(self._front_end.process(frame))
        if self._listener is not None:
            self._listener(frame.samples, self._scores)

    def _sense(self, event: Event) -> None:
        if isinstance(event, WakeHeard):
            if self._waking is not None:
                self._waking.take(event)
            return
        if isinstance(event, SpeechSustained) and self._gates.speech:
            if not self._front_end.is_sure(event.since, event.at):
                return  # it may be the appliance itself
            self._parts.lane.pause()
        elif isinstance(event, ListeningEnded) and event.why is not ListeningEnd.NOTHING:
            self._follow(event.at)
        self._inbox.post(event)

    def _follow(self, at: float) -> None:
        """The user has spoken until then: the reply is to be as loud."""
        loudness = self._front_end.loudness(at)
        if loudness is not None and not self._parts.lane.speaks:
            self._volume.follow(loudness)

    def _wake(self, event: WakeHeard) -> None:
        """A wake word that counts."""
        self._inbox.post(replace(event, turn=self._seen(hushes=self._gates.wake_word)))

    def _tell(self, event: ReplyStarted | ReplyEnded) -> None:
        if isinstance(event, ReplyEnded):
            self._own_words.ended(event)
        self._inbox.post(event)

    def _seen(self, *, hushes: bool) -> int:
        """The turn that a trigger has come in, which is hushed first if the trigger may do that."""
        lane = self._parts.lane
        return lane.hush() if hushes else lane.turn

    def status(self) -> Condition:
        """How it is. From any thread."""
        parts, devices = self._parts, self._devices
        lacks = self.lacks if self._sound is not None else ("microphone", "speaker")
        microphone = CardStatus(devices.microphone.name, "microphone" not in lacks)
        speaker = CardStatus(devices.speaker.name, "speaker" not in lacks)
        button = self._button_status()
        model, server = self.model.status()
        cards = (card_problem("microphone", microphone), card_problem("speaker", speaker))
        problems = (*cards, button_problem(button), self.model.problem)
        return Condition(
            phase=self._status.doing.value,
            running=self._status.running,
            microphone=microphone,
            speaker=speaker,
            language=self._settings.language,
            recogniser=parts.recogniser.name,
            voice=parts.voice.name,
            language_model=model,
            language_model_server=server,
            last_answer=self._status.last_answer,
            turns=self._status.turns,
            last_interruption=self._status.last_interruption,
            button=button,
            problems=tuple(filter(None, problems)),
        )

    def _button_status(self) -> ButtonStatus:
        button = self._devices.button
        return button_status(works=button is not None and button.works, trouble=button.trouble if button else None)

    @property
    def lacks(self) -> frozenset[str]:
        """The cards that do not work, or move no sound: "microphone", "speaker". From any thread."""
        if self._sound is None:
            return frozenset()
        works, beats, now = self._sound.works, self._sound.beats, self._devices.clock()
        cards = zip(("microphone", "speaker"), works, (beats.microphone, beats.speaker), strict=True)
        return frozenset(role for role, well, beat in cards if not well or now - beat.moved_at > STILL)

    @property
    def beats(self) -> Beats | None:
        """What was last seen of both cards; None while there is no sound. From any thread."""
        return None if self._sound is None else self._sound.beats

    def say(self, text: str) -> None:
        """Have `text` said as soon as nothing else is going on. From any thread."""
        self._inbox.post(Announced(text, self._devices.clock()))

    async def at_rest(self) -> None:
        """Wait until nothing is being said, by anybody."""
        await self._rest.idle.wait()

    def end(self) -> None:
        """An orderly end of `run`."""
        self._finish(None)

    def stop(self) -> None:
        """Silence at once, then an orderly end of `run`. From any thread."""
        self._parts.lane.hush()
        self._loop.call_soon_threadsafe(self._finish, None)

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Until `stop`, or not at all after it; `on_ready` is called once it hears.

        A card that is missing, or gives up, does not end it. Raises what does: BadInputError when there are several
        cards of one name.
        """
        if self._over.done():
            return
        devices, parts = self._devices, self._parts
        with ExitStack() as afterwards:
            async with QuestManager() as quests:
                turn = Turn(self._settings.listening.patience, self._gates, self._settings.llm.follow_up)
                conductor = Conductor(self._inbox, parts, quests, self._observers, turn)
                afterwards.callback(conductor.close)  # while the quests live they may still want its workers
                quests.start(Quest.from_run_step("conductor", lambda: self._or_end(conductor.run())))
                recogniser = parts.recogniser
                self._waking = Waking(
                    Whether(
                        SecondLook(recogniser, mentions).confirms, parts.ears.sound, partial(mentions, alike=OWN_WORDS)
                    ),
                    self._own_words,
                    self._wake,
                    lambda: parts.lane.turn,
                    self._notify,
                    quests,
                    self._settings.wake.refractory,
                )
                afterwards.callback(self._waking.close)
                microphone, speaker = devices.microphone, devices.speaker
                sound = Sound(
                    microphone,
                    speaker,
                    parts.lane,
                    self._hear,
                    devices.clock,
                    devices.change,
                    self._notify,
                    self._finish,
                    lambda _: self.say(PHRASES[self._settings.language].SOUND_IS_BACK),
                    AsLoud(parts.lane, self._volume.gain),
                    self._front_end.played,
                )
                self._sound = sound
                quests.start(Quest.from_run_step("sound", lambda: self._or_end(sound.keep())))
                try:
                    await self._first(sound.tried.wait())
                    if not self._over.done():
                        await self._begin(quests)
                        conductor.announce()
                        on_ready()
                    await self._over
                finally:
                    parts.lane.hush()
                    await quests.remove("sound")
                    await asyncio.gather(sound.close(), self._close_button())
                    parts.lane.settle()

    async def _close_button(self) -> None:
        button = self._devices.button
        if button is not None:
            await close_device("button", button.stop, ThreadPoolExecutor(1, "close button"))

    async def _or_end(self, work: Awaitable[None]) -> None:
        """Without its conductor, or its sound, the appliance is deaf, and must not go on as if it heard."""
        try:
            await work
        except Exception as error:
            self._finish(error)
            raise

    async def _begin(self, quests: QuestManager) -> None:
        button = self._devices.button
        if button is not None:
            await asyncio.to_thread(button.start, self.press, self.release)
        quests.start(Quest.from_run_step("timers", self._timers.keep))
        self.model.start(quests)

    async def _first(self, opening: Coroutine[Any, Any, object]) -> None:
        """Wait for `opening`, within its limit, unless it is all over before."""
        task = asyncio.ensure_future(opening)
        waited: set[asyncio.Future[Any]] = {task, self._over}
        await asyncio.wait(waited, timeout=OPENING, return_when=asyncio.FIRST_COMPLETED)
        task.cancel()

    def _notify(self, text: str) -> None:
        """The owner has to know it."""
        _log.warning("%s", text)
        report = Report("notice", self._devices.clock(), self._parts.lane.turn, {"text": text})
        for observer in self._observers:
            try:
                observer.report(report)
            except Exception:  # noqa: BLE001  a full disk or a closed terminal must not end the healing
                _log.exception("%s fails", type(observer).__name__)

    def _finish(self, error: Exception | None) -> None:
        if self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)


class _Rest:
    """An observer that knows when the conversation is idle."""

    def __init__(self) -> None:
        self.idle = asyncio.Event()
        self.idle.set()

    def report(self, report: Report) -> None:
        """Nothing that matters here."""

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        self.idle.set() if phase is Phase.IDLE else self.idle.clear()
