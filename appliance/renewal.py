"""Runs one supervisor after the other: a new one for each configuration that is tried, in the same process.

Rules:
- A change is tried for as long as `service.confirm` says. It is confirmed if the appliance has become ready with it and
  runs, and each card works that worked before, or that was chosen anew if it is tried at a start; otherwise the
  configuration before it is in force again.
- The models of what is to be tried are loaded beforehand, so that one without a model disturbs nothing.
- No turn is cut: what is to be tried waits for the end of the conversation.
- A change in which the machine or the process goes down is taken back at the next start, by `config`.
- An orderly stop ends a trial without a verdict: it begins anew at the next start.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from appliance.config.generations import Start, Trial
from appliance.config.keys import changed
from appliance.config.schema import Settings
from appliance.config.store import load
from appliance.errors import ApplianceError
from appliance.service.condition import ConfigurationStatus
from appliance.service.request import Applied

_log = logging.getLogger(__name__)

CARDS = ("microphone", "speaker")

STARTING = 60.0
"""Seconds in which what is tried has to become ready."""


class Supervised(Protocol):
    """An appliance with one configuration."""

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Until `stop` or `end`. Raises what makes it impossible."""

    async def at_rest(self) -> None:
        """Wait until nothing is being said, by anybody."""

    def end(self) -> None:
        """An orderly end of `run`."""

    def stop(self) -> None:
        """The same, from any thread, and silence at once."""

    @property
    def lacks(self) -> frozenset[str]:
        """The cards that do not work, or move no sound: "microphone", "speaker"."""


class Store(Protocol):
    """Where configurations come from, and what becomes of them is noted. Its methods may wait for a disk."""

    def begin_trial(self) -> Trial:
        """What the owner wants now. Raises ApplianceError."""

    def confirm(self, generation: int) -> tuple[str, ...]:
        """It works. What the owner has to know."""

    def reject(self, generation: int, why: str) -> Start:
        """It does not work. What to run with."""

    def postpone(self, generation: int) -> None:
        """It is not known whether it works: it is tried again at the next start."""


class OneFile:
    """A store that is one file, of which nothing is recorded: what was in force before is known as long as it runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = 0
        self._confirmed = self._tried = Settings()

    def at_start(self) -> Start:
        """What to start with. BadInputError: the file is bad."""
        self._confirmed = self._tried = load(self._path)
        return Start(self._confirmed, None)

    def begin_trial(self) -> Trial:
        """The file as it is now. BadInputError: it is bad."""
        self._tried = load(self._path)
        self._number += 1
        keys = changed(self._confirmed, self._tried)
        return Trial(self._tried, self._number, bool(keys), keys, file=str(self._path))

    def confirm(self, generation: int) -> tuple[str, ...]:
        """It works."""
        self._confirmed = self._tried
        return ()

    def reject(self, generation: int, why: str) -> Start:
        """It does not work; the file stays as it is."""
        return Start(self._confirmed, None, notes=(f"{self._path} is not in force.",))

    def postpone(self, generation: int) -> None:
        """The next start begins with the file in any case."""


Models = TypeVar("Models")


class Renewal(Generic[Models]):
    """Belongs to the event loop. `load` gets the models for settings, and may use those of the one before."""

    def __init__(
        self,
        store: Store,
        load: Callable[[Settings, tuple[Settings, Models] | None], Awaitable[Models]],
        build: Callable[[Settings, Models], Supervised],
    ) -> None:
        self._store = store
        self._load = load
        self._build = build
        self._changing = asyncio.Lock()
        self._stopped = asyncio.Event()
        self._loaded: tuple[Settings, Models] | None = None
        self._task: asyncio.Task[None] | None = None
        self.current: Supervised | None = None
        """The one that runs now."""
        self.configuration = ConfigurationStatus(None)
        """Which one is in force; to be read from any thread."""
        self.notes: tuple[str, ...] = ()
        """What the owner has to know of it, until another one is confirmed."""

    async def run(self, start: Start, on_ready: Callable[[], None]) -> None:
        """Until `stop`; `on_ready` is called once, when it hears. Raises what makes it impossible."""
        async with self._changing:
            self._note(start.generation, on_trial=start.on_trial)
            self.notes = start.notes
            try:
                await self._switch(start.settings, STARTING if start.on_trial else None)
            except _StoppedError:
                if start.on_trial and start.generation is not None:
                    await asyncio.to_thread(self._store.postpone, start.generation)
                return
            except Exception as error:
                if not start.on_trial or start.generation is None:
                    raise
                start = await self._go_back(start.generation, _reason(error))
        if not self._stopped.is_set():
            on_ready()
        if start.on_trial and start.generation is not None:
            async with self._changing:
                kept = frozenset(card for card in CARDS if f"{card}.card" not in start.changed)
                await self._end_trial(Trial(start.settings, start.generation, on_trial=True), kept)
        while not self._stopped.is_set():
            task = self._task
            assert task is not None  # noqa: S101  it has begun
            await asyncio.wait({task})
            async with self._changing:  # who has ended it begins another one
                if task is self._task:
                    break
        async with self._changing:
            assert self._task is not None  # noqa: S101  it has begun
            await self._task

    def stop(self) -> None:
        """An orderly end of `run`, and silence at once. In the event loop."""
        self._stopped.set()
        if self.current is not None:
            self.current.stop()

    async def apply(self) -> Applied:
        """Try what the owner wants now, and say what has come of it. ApplianceError: nothing was changed."""
        async with self._changing:
            if self.current is None or self._stopped.is_set():
                raise ApplianceError("configuration", "the appliance is ending", remedy="Try again when it has started")
            trial = await asyncio.to_thread(self._store.begin_trial)
            if not trial.on_trial:
                self._note(trial.generation)
                self.notes = trial.notes
                return Applied(trial.generation, trial.changed, notes=trial.notes, file=trial.file)
            self._note(trial.generation, on_trial=True)
            lacked = self.current.lacks
            try:
                await self._switch(trial.settings, STARTING)
            except _StoppedError:
                return await self._postpone(trial)
            except Exception as error:  # noqa: BLE001  whatever it is, the one before works
                return await self._take_back(trial, _reason(error))
            return await self._end_trial(trial, lacked)

    async def _end_trial(self, trial: Trial, lacked: frozenset[str]) -> Applied:
        """`lacked`: the cards that need not work."""
        assert self._task is not None  # noqa: S101  it has begun
        assert self.current is not None  # noqa: S101
        await asyncio.wait({self._task}, timeout=trial.settings.service.confirm)
        if self._task.done() and (error := self._task.exception()) is not None:
            return await self._take_back(trial, _reason(error))
        if self._stopped.is_set():
            return await self._postpone(trial)
        if lost := self.current.lacks - lacked:
            return await self._take_back(trial, f"the {' and the '.join(sorted(lost))} did not work with it")
        notes = await asyncio.to_thread(self._store.confirm, trial.generation)
        self._note(trial.generation)
        self.notes = notes
        for note in notes:
            _log.warning("%s", note)
        return Applied(trial.generation, trial.changed, notes=(*trial.notes, *notes), file=trial.file)

    async def _postpone(self, trial: Trial) -> Applied:
        await asyncio.to_thread(self._store.postpone, trial.generation)
        return Applied(None, trial.changed, notes=trial.notes, postponed=True)

    async def _take_back(self, trial: Trial, why: str) -> Applied:
        start = await self._go_back(trial.generation, why)
        notes = (*trial.notes, *start.notes)
        return Applied(start.generation, trial.changed, taken_back=why, notes=notes, file=trial.file)

    async def _go_back(self, generation: int, why: str) -> Start:
        _log.error("generation %d of the configuration is taken back: %s", generation, why)
        start = await asyncio.to_thread(self._store.reject, generation, why)
        for note in start.notes:
            _log.warning("%s", note)
        self.configuration = ConfigurationStatus(start.generation, taken_back=f"generation {generation}: {why}")
        with suppress(_StoppedError):
            await self._switch(start.settings, None)
        return start

    async def _switch(self, settings: Settings, limit: float | None) -> None:
        """Let one with these settings take the place of the present one, and become ready within `limit` seconds.

        Raises what makes it impossible.
        """
        loaded = settings, await self._load(settings, self._loaded)
        if self.current is not None and self._task is not None:
            rest = asyncio.ensure_future(self.current.at_rest())
            await asyncio.wait({rest, self._task}, return_when=asyncio.FIRST_COMPLETED)
            rest.cancel()
            self.current.end()
            await asyncio.wait({self._task})
        if self._stopped.is_set():
            raise _StoppedError("appliance", "it was stopped before that")
        self._loaded = loaded
        ready = asyncio.Event()
        self.current = self._build(*loaded)
        self._task = asyncio.create_task(self.current.run(ready.set))
        await self._until_ready(self._task, ready, limit)

    async def _until_ready(self, task: "asyncio.Task[None]", ready: asyncio.Event, limit: float | None) -> None:
        waiting = asyncio.ensure_future(ready.wait())
        try:
            await asyncio.wait({waiting, task}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if task.done():
            await task
            if not ready.is_set():
                raise _StoppedError("appliance", "it was stopped before it was ready")
        elif not ready.is_set():
            raise ApplianceError("appliance", f"it has not become ready within {limit:g} s")

    def _note(self, generation: int | None, *, on_trial: bool = False) -> None:
        before = self.configuration
        self.configuration = ConfigurationStatus(generation, on_trial, before.taken_back if on_trial else "")


class _StoppedError(ApplianceError):
    pass


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, ApplianceError) else repr(error)
