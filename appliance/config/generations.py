"""The generations of the configuration: each state of the owner's files that was tried, and which one to go back to.

What may become of each stands in states.py, how they lie on disk in shelf.py. Rules:
- The owner's files are never touched because they are bad, only to take a trial back, and then only if they are still
  those of the trial. What was taken back stays in the history.
- A trial has begun, on disk, before anything runs with it. One that had begun and never ended is taken back at the next
  start, so that a configuration that brings the machine down does so once.
- Files that were rejected are not tried again at a start, only when somebody asks for it.
- Where nothing was ever confirmed there is nothing to go back to, and what the owner says is tried again.
- What means the same as what is in force is confirmed without a trial.
- Nothing that lies in the folder of the owner, or of the generations, keeps the appliance from starting.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from appliance.config import store
from appliance.config.disk import Disk
from appliance.config.keys import changed
from appliance.config.layers import Configuration, combine
from appliance.config.owner import Files, OwnerFiles
from appliance.config.schema import Settings
from appliance.config.shelf import Shelf
from appliance.config.states import Record, State, digest_of
from appliance.errors import ApplianceError, BadInputError

_CUT_SHORT = "the appliance ended before this was confirmed"


@dataclass(frozen=True, slots=True)
class Start:
    """What to run with, and what the owner has to know."""

    settings: Settings
    generation: int | None
    """None: the built-in defaults, or files that could not be recorded."""
    on_trial: bool = False
    """It is to be confirmed or rejected."""
    changed: tuple[str, ...] = ()
    """In which keys it is not what was confirmed last; none, if nothing was."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """What to try, and in which keys it is not what was in force."""

    settings: Settings
    generation: int
    on_trial: bool
    """False: it means what was in force already, and is confirmed."""
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = ""
    """The only one that counts; empty: those of the owner."""


class Generations:
    """The generations in `directory` of the owner's files around `main`. From any thread and process."""

    def __init__(
        self,
        directory: Path,
        main: Path | None = None,
        disk: Disk | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        disk = disk or Disk()
        self.owner = OwnerFiles(main or store.SYSTEM_FILE, disk)
        self._shelf = Shelf(directory, self.owner, disk)
        self._now = now

    # For the running appliance.

    def at_start(self) -> Start:
        """What to start with. If it is on trial, the trial has begun. Never raises."""
        try:
            with self.alone():
                return self._start()
        except ApplianceError as error:
            return self._start_unrecorded(f"A change of the configuration is not taken back by itself. {error}")

    def begin_trial(self) -> Trial:
        """The owner's files as they are now; if they mean something new, their trial has begun.

        BadInputError: they are bad. ApplianceError: they cannot be recorded. Either changes nothing.
        """
        with self.alone():
            state, files = self._shelf.load(), self.owner.read()
            settings = self.check(files).settings
            good = self._good(state)
            keys = changed(good.settings, settings)
            if good.generation is not None and state.latest(digest_of(files)) == state.record(good.generation):
                self._shelf.save(state.settled("waiting", "trial"))
                return Trial(settings, good.generation, False, keys, tuple(self._shelf.notes()))
            state, number = self._recorded(state, files)
            on_trial = good.generation is None or bool(keys)
            self._shelf.save(state.begun(number) if on_trial else state.was_confirmed(number))
            return Trial(settings, number, on_trial, keys, tuple(self._shelf.notes()))

    def confirm(self, generation: int) -> tuple[str, ...]:
        """It works. What the owner has to know; never raises."""
        try:
            with self.alone():
                self._shelf.save(self._shelf.load().was_confirmed(generation))
                return tuple(self._shelf.notes())
        except ApplianceError as error:
            return (f"The configuration works, but its trial could not be ended, and it may be taken back. {error}",)

    def reject(self, generation: int, why: str) -> Start:
        """It does not work. What to run with: the last good one, whose files are the owner's again. Never raises."""
        try:
            with self.alone():
                state, notes = self._take_back(self._shelf.load(), generation, why)
        except ApplianceError as error:
            state, notes = self._shelf.peek(), [str(error)]
        good = self._good(state)
        if good.generation is None:
            with suppress(ApplianceError):
                good = Start(self._settings_of(generation), generation)
        return replace(good, notes=(*self._shelf.notes(), *notes))

    def postpone(self, generation: int) -> None:
        """It is not known whether it works; it waits for the next start. Never raises."""
        with suppress(ApplianceError), self.alone():  # else it is taken back at the next start
            state = self._shelf.load()
            if state.on_trial is not None and state.on_trial.number == generation:
                self._shelf.save(state.waits(generation))

    # For the commands.

    def alone(self) -> AbstractContextManager[None]:
        """Nobody else changes anything meanwhile. ApplianceError, also for an OSError in the block."""
        return self._shelf.alone()

    def record(self, files: Files, by: str) -> int:
        """With these as the owner's files from now on: their generation, which waits to be tried. OSError.

        To be called `alone`, with files that were checked.
        """
        state = self._shelf.load()
        record = self._new(state, files, by)
        state = self._shelf.store(state, record, files)
        try:
            self._shelf.put(state, record.number)
        except OSError:
            with suppress(OSError):
                self._shelf.save(state.settled("waiting"))
            raise
        return record.number

    def notes(self) -> list[str]:
        """What has come up meanwhile that the owner has to know, and was not told before."""
        return self._shelf.notes()

    def history(self) -> State:
        """All that is known of the generations."""
        return self._shelf.peek()

    def files_of(self, number: int) -> Files:
        """The files of a generation. BadInputError: there is no such generation, or it is damaged."""
        record = self.history().record(number)
        if record is not None:
            files = self._shelf.stored(number).read()
            if digest_of(files) == record.digest:
                return files
        found = f"there is no generation {number}" if record is None else f"generation {number} is damaged"
        raise BadInputError("appliance config", found, remedy="See: appliance config history")

    def check(self, files: Files) -> Configuration:
        """What these mean as the owner's files. SeveralProblemsError: what is wrong with them."""
        return combine(self.owner.sources(files))

    # The rules.

    def _start(self) -> Start:
        state = self._shelf.load()
        notes = self._shelf.notes()
        trial = state.on_trial
        if trial is not None and self._good(state).generation is not None:
            state, more = self._take_back(state, trial.number, _CUT_SHORT)
            notes += [f"Generation {trial.number} of the configuration was taken back: {_CUT_SHORT}.", *more]
        good = replace(self._good(state), notes=tuple(notes))
        try:
            files = self.owner.read()
            settings = self.check(files).settings
        except ApplianceError as error:
            return self._despite(error, state, good)
        known = state.latest(digest_of(files))
        if good.generation is not None and known is not None:
            if known.number == good.generation:
                return good
            if known.outcome == "rejected":
                what = f"The configuration is still that of generation {known.number}, taken back because {known.why}."
                return _staying(good, f"{what} To try it again: appliance config apply.")
        state, number = self._recorded(state, files)
        keys = () if good.generation is None else changed(good.settings, settings)
        on_trial = good.generation is None or bool(keys)
        self._shelf.save(state.begun(number) if on_trial else state.was_confirmed(number))
        return Start(settings, number, on_trial, keys, tuple(notes))

    def _start_unrecorded(self, why: str) -> Start:
        state = self._shelf.peek()
        good = replace(self._good(state), notes=(why,))
        try:
            files = self.owner.read()
            settings = self.check(files).settings
        except ApplianceError as error:
            return self._despite(error, state, good)
        known = state.latest(digest_of(files))
        if good.generation is not None and known is not None:
            if known.number == good.generation:
                return good
            if known.outcome in ("rejected", "trial"):
                return _staying(good, f"Generation {known.number} was not confirmed.")
        return Start(settings, None, notes=(why,))

    def _take_back(self, state: State, number: int, why: str) -> tuple[State, list[str]]:
        record = state.record(number)
        state = state.was_rejected(number, why)
        good = self._good(state).generation
        if good is None or record is None or not self._are_still(record):
            return self._shelf.save(state), []
        try:
            return self._shelf.put(state, good), []
        except OSError as error:
            return state, [f"{self.owner.main.parent} still holds what was taken back: {error.strerror}."]

    def _are_still(self, record: Record) -> bool:
        try:
            return digest_of(self.owner.read()) == record.digest
        except ApplianceError:
            return False

    def _recorded(self, state: State, files: Files) -> tuple[State, int]:
        """The generation of the owner's files, which may have come without a command."""
        youngest = state.records[-1] if state.records else None
        if youngest is not None and youngest.digest == digest_of(files) and youngest.outcome != "confirmed":
            return state, youngest.number
        record = self._new(state, files, "files changed by hand")
        return self._shelf.store(state, record, files), record.number

    def _new(self, state: State, files: Files, by: str) -> Record:
        at = self._now().isoformat(timespec="seconds")
        return Record(self._shelf.next_number(state), digest_of(files), at, by, "waiting")

    def _good(self, state: State) -> Start:
        """What to go back to: what was confirmed last, of what is here as a whole; else the defaults."""
        confirmed = [each for each in reversed(state.records) if each.outcome == "confirmed"]
        return self._first([state.record(state.confirmed), *confirmed])

    def _despite(self, error: ApplianceError, state: State, good: Start) -> Start:
        """What to start with although the owner's files are bad."""
        if good.generation is None:
            unknown = [each for each in reversed(state.records) if each.outcome == "unknown"]
            good = replace(self._first(unknown), notes=good.notes)
        return _staying(good, f"The configuration is bad.\n{error}\n")

    def _first(self, records: Sequence[Record | None]) -> Start:
        for record in records:
            if record is not None:
                with suppress(ApplianceError):
                    return Start(self._settings_of(record.number, record.digest), record.number)
        return Start(Settings(), None)

    def _settings_of(self, number: int, digest: str = "") -> Settings:
        stored = self._shelf.stored(number)
        files = stored.read()
        if digest and digest_of(files) != digest:
            raise BadInputError(str(stored.main.parent), "it is damaged")
        return combine(stored.sources(files)).settings


def _staying(good: Start, why: str) -> Start:
    what = "the built-in defaults are" if good.generation is None else f"generation {good.generation} stays"
    return replace(good, notes=(*good.notes, f"{why} So {what} in force."))
