"""`appliance run`: the appliance on the sound card, in the foreground or as a service."""

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from appliance.audio.cards import PortAudio
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.audio.volume import Volume
from appliance.conductor import Observer
from appliance.config.generations import Start
from appliance.config.schema import Settings
from appliance.console import Console
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.devices import Devices
from appliance.engines import Engines, load_engines
from appliance.errors import ApplianceError
from appliance.panel.button import GpioButton
from appliance.renewal import Renewal, Store
from appliance.service import notify
from appliance.service.condition import Condition
from appliance.service.control import Controls, ControlServer
from appliance.service.ends import Ends
from appliance.service.journal import JournalObserver, is_journal
from appliance.service.request import ListedServer
from appliance.service.status import StatusObserver
from appliance.service.watchdog import Watchdog
from appliance.service.watching import Watchers
from appliance.supervisor import Supervisor
from appliance.thinking.phrases import PHRASES

_log = logging.getLogger(__name__)


async def run_on_card(
    start: Start, store: Store, models: Callable[[Settings], Path], directory: Path, ends: Ends
) -> None:
    """From loading the models until SIGTERM or SIGINT; controlled by way of a socket in `directory`, and by SIGHUP.

    A card that is missing, or gives up, is waited for. `models` gives the folder of all models, and raises
    ApplianceError if there are not those that settings need; so does this, then, and BadInputError when there are
    several cards of one name.
    """
    appliance = _Appliance(start, store, models, directory, ends)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, appliance.stop)
    reloads: set[asyncio.Task[None]] = set()  # which the loop would forget

    def reload() -> None:
        task = asyncio.create_task(appliance.reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    loop.add_signal_handler(signal.SIGHUP, reload)
    await appliance.run()
    await asyncio.gather(*reloads)


class _Appliance:
    """All that outlives a configuration: what remembers, what is asked, and what watches."""

    def __init__(
        self, start: Start, store: Store, models: Callable[[Settings], Path], directory: Path, ends: Ends
    ) -> None:
        self._start = start
        self._models = models
        self._directory = directory
        self._ends = ends
        self._settings = start.settings
        self._supervisor: Supervisor | None = None
        self._status = StatusObserver()
        self._watchers = Watchers()
        self._volume = Volume(_now, directory / "volume.json")
        self._people = _ForPeople(self._line)
        self._renewal = Renewal(store, self._load, self._build)
        self._watchdog = Watchdog(
            lambda: self._supervisor.beats if self._supervisor is not None else None, ends.starving
        )

    async def run(self) -> None:
        """Until `stop`."""
        controls = Controls(
            press=self._press,
            release=self._release,
            servers=self._servers,
            status=self._condition,
            say=self._say,
            apply=self._renewal.apply,
            watchers=self._watchers,
        )
        watching = asyncio.create_task(self._watchdog.keep())
        try:
            with ControlServer(self._directory, controls) as server:
                await self._renewal.run(self._start, self._on_ready)
                await server.finish()
        finally:
            watching.cancel()
            notify.stopping("Stopping")

    def stop(self) -> None:
        """Silence at once, and then an orderly end."""
        self._renewal.stop()

    async def reload(self) -> None:
        """Take over the configuration as it is now. What is wrong with it is logged."""
        notify.reloading()
        try:
            applied = await self._renewal.apply()
        except ApplianceError as error:
            _log.error("the configuration stays as it was: %s", error)
        except Exception:  # noqa: BLE001  the one that is in force goes on
            _log.exception("the configuration could not be taken over")
        else:
            for note in applied.notes:
                _log.warning("%s", note)
        notify.ready(self._line())

    async def _load(self, settings: Settings, before: tuple[Settings, Engines] | None) -> Engines:
        return await load_engines(settings, await asyncio.to_thread(self._models, settings), before)

    def _build(self, settings: Settings, engines: Engines) -> Supervisor:
        self._settings = settings
        devices = Devices(
            CardMicrophone(settings.microphone.card),
            CardSpeaker(settings.speaker.card),
            None if settings.button.pin == "none" else GpioButton(settings.button.pin),
            time.monotonic,
            _now,
            PortAudio.change,
        )
        observers: Sequence[Observer] = (*self._shown(), self._watchers, self._people)
        supervisor = Supervisor(
            settings,
            engines,
            devices,
            observers,
            self._directory,
            self._status,
            self._watchers.hear,
            self._volume,
        )
        self._supervisor = supervisor
        return supervisor

    def _shown(self) -> Sequence[Observer]:
        # What a service prints is kept, and words are not to be.
        return [JournalObserver() if is_journal() or notify.is_service() else Console(_wall_clock)]

    def _on_ready(self) -> None:
        notify.ready(self._line())
        for note in self._start.notes:
            _log.warning("%s", note)
        print(f"Ready. Say {self._words()}, and ask what it can do. Ctrl-C ends it.", flush=True)
        if self._ends.is_news and notify.is_service():
            self._say(PHRASES[self._settings.language].READY)
        self._ends.said_ready()

    def _words(self) -> str:
        return " or ".join(f'"{word.replace("_", " ")}"' for word in self._settings.wake.names)

    def _line(self) -> str:
        lacks = sorted(self._supervisor.lacks) if self._supervisor is not None else []
        return f"Without {' and '.join(lacks)}" if lacks else f"Listening for {self._words()}"

    def _running(self) -> Supervisor:
        if self._supervisor is None:
            raise ApplianceError("appliance", "it is still starting", remedy="Try again in some seconds")
        return self._supervisor

    def _press(self) -> None:
        self._running().press(time.monotonic())

    def _release(self) -> None:
        self._running().release(time.monotonic())

    def _say(self, text: str) -> None:
        self._running().say(text)

    def _servers(self) -> Sequence[ListedServer]:
        return self._running().model.servers()

    def _condition(self) -> Condition:
        condition = self._running().status()
        watchdog = (self._watchdog.wrong,) if self._watchdog.wrong else ()
        return msgspec.structs.replace(
            condition,
            configuration=self._renewal.configuration,
            last_end=self._ends.last,
            problems=(*condition.problems, *watchdog, *self._renewal.notes),
        )


class _ForPeople:
    """An observer that has `systemctl status` show how it is, in one line."""

    def __init__(self, line: Callable[[], str]) -> None:
        self._line = line
        self._shown = ""

    def report(self, report: Report) -> None:
        """A notice may be about a card."""
        if report.kind == "notice":
            self._show()

    def phase(self, phase: Phase, at: float) -> None:
        """Once a turn is enough."""
        if phase is Phase.IDLE:
            self._show()

    def _show(self) -> None:
        if (line := self._line()) != self._shown:
            self._shown = line
            notify.status(line)


def _now() -> datetime:
    return datetime.now().astimezone()


def _wall_clock(at: float) -> str:
    moment = datetime.now().astimezone().timestamp() + at - time.monotonic()
    return datetime.fromtimestamp(moment).astimezone().strftime("%H:%M:%S")
