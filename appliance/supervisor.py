"""Composition root: settings -> devices and engines -> quests; orderly start and stop."""

import asyncio
import contextlib
import ctypes
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from appliance.audio.devices import Microphone, Speaker
from appliance.audio.lane import Lane
from appliance.conductor import Conductor, Inbox, Observer, Parts
from appliance.config.schema import Settings
from appliance.core.endpoint import EndpointSettings
from appliance.core.events import Event, Pressed, WakeHeard
from appliance.errors import ApplianceError
from appliance.hearing.ears import Ears
from appliance.hearing.recognisers import load_recogniser
from appliance.hearing.stt import Recogniser
from appliance.hearing.vad import VoiceActivity
from appliance.hearing.wake import WakeWords
from appliance.quests import Quest, QuestManager
from appliance.speaking.piper import load_voice
from appliance.speaking.voice import Voice
from appliance.thinking.offline import Offline
from appliance.thinking.wake_phrase import strip_wake

_log = logging.getLogger(__name__)

CLOSE_TIMEOUT = 2.0
"""Seconds that a device may take to close, so that the whole appliance is gone in three."""


@dataclass(frozen=True, slots=True)
class Devices:
    """A sound card, or a room that stands in for one."""

    microphone: Microphone
    speaker: Speaker
    clock: Callable[[], float]
    """Seconds on the clock of the microphone's frames."""
    now: Callable[[], datetime]
    """The local wall-clock time."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The loaded models."""

    wake: WakeWords
    activity: VoiceActivity
    recogniser: Recogniser
    voice: Voice


async def load_engines(settings: Settings, models: Path) -> Engines:
    """Load all models side by side: they wait for the disk and release the interpreter while they parse."""
    wake, activity, recogniser, voice = await asyncio.gather(
        asyncio.to_thread(WakeWords, models, settings.wake.words, settings.wake.refractory),
        asyncio.to_thread(VoiceActivity, models),
        asyncio.to_thread(load_recogniser, settings.engine, settings.language, models),
        asyncio.to_thread(load_voice, models, settings.voice.name),
    )
    _give_back_memory()
    return Engines(wake, activity, recogniser, voice)


def _give_back_memory() -> None:
    """Loading leaves tens of megabytes of freed memory with the C library; only glibc can be asked to give it back."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


class Supervisor:
    """Runs one appliance on its devices. Made and used in the event loop."""

    def __init__(self, settings: Settings, engines: Engines, devices: Devices, observers: Sequence[Observer]) -> None:
        self._devices = devices
        self._observers = observers
        self._inbox = Inbox()
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        listening = settings.listening
        self._patience = listening.patience
        self._parts = Parts(
            ears=Ears(
                engines.wake,
                engines.activity,
                EndpointSettings(pause=listening.pause, limit=listening.limit),
                self._sense,
                preroll=listening.preroll,
            ),
            recogniser=engines.recogniser,
            mind=Offline(settings.language, devices.now),
            strip_wake=partial(strip_wake, words=settings.wake_words),
            voice=engines.voice,
            lane=Lane(devices.speaker.rate, self._inbox.post, self._inbox.post_progress),
            clock=devices.clock,
        )

    def press(self, at: float) -> None:
        """The button went down: silence at once, even if the event loop is busy. From any thread."""
        self._trigger(Pressed(at))

    def _sense(self, event: Event) -> None:
        if isinstance(event, WakeHeard):
            self._trigger(event)
        else:
            self._inbox.post(event)

    def _trigger(self, event: WakeHeard | Pressed) -> None:
        self._parts.lane.hush()
        self._inbox.post(event)

    def stop(self) -> None:
        """Silence at once, then an orderly end of `run`. From any thread."""
        self._parts.lane.hush()
        self._loop.call_soon_threadsafe(self._finish, None)

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Until `stop`, or not at all after it; `on_ready` is called once it hears.

        Raises what made it end otherwise: ApplianceError when a device gave up.
        """
        if self._over.done():
            return
        devices, parts = self._devices, self._parts
        async with QuestManager() as quests:
            conductor = Conductor(self._inbox, parts, quests, self._observers, self._patience)
            quests.start(Quest.from_run_step("conductor", lambda: self._conduct(conductor)))
            try:
                devices.speaker.start(parts.lane, _ignore_reference, self._fault("speaker", devices.speaker))
                devices.microphone.start(parts.ears.feed, self._fault("microphone", devices.microphone))
                conductor.announce()
                on_ready()
                await self._over
            finally:
                parts.lane.hush()
                conductor.close()
                await asyncio.gather(
                    self._close(devices.speaker.stop, "speaker"), self._close(devices.microphone.stop, "microphone")
                )

    async def _conduct(self, conductor: Conductor) -> None:
        """Without its conductor the appliance is deaf, and must not go on as if it heard."""
        try:
            await conductor.run()
        except Exception as error:
            self._finish(error)
            raise

    async def _close(self, stop: Callable[[], None], name: str) -> None:
        """Stop a device; one that fails or hangs is reported, and holds up neither the others nor the end."""
        worker = ThreadPoolExecutor(1, f"close {name}")  # not the loop's own, whose end the end of the loop waits for
        try:
            await asyncio.wait_for(self._loop.run_in_executor(worker, stop), CLOSE_TIMEOUT)
        except TimeoutError:
            _log.error("the %s hangs, and is left as it is", name)
        except Exception:  # noqa: BLE001  whatever it is, the other device has to be closed
            _log.exception("the %s could not be closed", name)
        finally:
            worker.shutdown(wait=False)

    def _fault(self, role: str, device: Microphone | Speaker) -> Callable[[str], None]:
        def report(reason: str) -> None:
            error = ApplianceError(f'{role} "{device.name}"', reason)
            self._loop.call_soon_threadsafe(self._finish, error)

        return report

    def _finish(self, error: Exception | None) -> None:
        if self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)


def _ignore_reference(_: object) -> None:
    """There is no echo canceller to hand the reference to."""
