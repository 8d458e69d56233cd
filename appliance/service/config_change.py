"""`appliance config set|unset|apply|rollback`: a change is checked whole, written, and tried by the running appliance.

With `--json` the answer has "changed" in any case, as automation wants it: false if everything was so already, or is
again because the change was taken back.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.errors import ApplianceError, BadInputError

if TYPE_CHECKING:
    from appliance.config.generations import Generations
    from appliance.config.keys import Key
    from appliance.config.owner import Files
    from appliance.config.schema import Settings
    from appliance.service.request import Applied

PLACE = "appliance config"

_MARGIN = 180.0
"""Seconds that the appliance may need to become ready, with what is tried now, with what was tried just before, and
once more if it is taken back; the windows of the trials come on top of that."""

RESTARTING = 60.0
"""Seconds that an appliance which has ended in a trial may take to start again."""

LOOK = 0.2
"""Seconds between two looks what it has made of the trial then."""

_AT_START = "Nothing is running: this is tried at the next start."


def add_parsers(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
    generations: "Callable[[], Generations]",
    data_directory: Callable[[], Path],
    usable: Callable[["Settings"], object],
) -> None:
    """Register the commands."""

    def changer(options: argparse.Namespace) -> "Changer":
        return Changer(generations(), data_directory(), usable, json=getattr(options, "json", False))

    setting = actions.add_parser("set", help="change settings, all given ones as one change")
    setting.add_argument("pairs", nargs="+", metavar="KEY VALUE", help="or KEY=VALUE; over ssh quote a VALUE twice")
    setting.set_defaults(handler=lambda options: changer(options).set(options.pairs))

    unsetting = actions.add_parser("unset", help="take settings out of the files, so that they have their defaults")
    unsetting.add_argument("keys", nargs="+", metavar="KEY")
    unsetting.set_defaults(handler=lambda options: changer(options).unset(options.keys))

    applying = actions.add_parser("apply", help="take over files that were copied or edited by hand")
    applying.set_defaults(handler=lambda options: changer(options).apply())

    rolling = actions.add_parser("rollback", help="go back to the generation before, or to another one")
    rolling.add_argument("number", nargs="?", type=int, metavar="N", help="see: appliance config history")
    rolling.set_defaults(handler=lambda options: changer(options).roll_back(options.number))

    for parser in (setting, unsetting, applying, rolling):
        parser.add_argument("--json", action="store_true", help="for programs")

    editing = actions.add_parser("edit", help="change the main file in an editor: $VISUAL, $EDITOR, nano or vi")
    editing.set_defaults(handler=lambda options: _edit(changer(options)))


def _edit(changer: "Changer") -> int:
    from appliance.service.config_edit import edit

    return edit(changer)


class Changer:
    """Makes one change of the owner's files, and says what has come of it. The methods return exit statuses."""

    def __init__(
        self, generations: "Generations", directory: Path, usable: Callable[["Settings"], object], *, json: bool
    ) -> None:
        self.generations = generations
        self._directory = directory
        self._usable = usable
        self._json = json

    def set(self, arguments: Sequence[str]) -> int:
        """Each KEY has its VALUE."""
        from appliance.config.editing import with_values
        from appliance.config.keys import dotted
        from appliance.config.typed import read

        place = f"{PLACE} set"
        wanted = [(key, read(text, key, place)) for key, text in _pairs(arguments, place)]
        with self.generations.alone():
            files = self.generations.owner.read()
            now = self._values(files)
            pairs = [(key, value) for key, value in wanted if key not in now or now[key] != value]
            if not pairs:
                return self._nothing(" and ".join(f"{dotted(key)} = {_shown(value)}" for key, value in wanted))
            after = with_values(files, pairs, self.generations.owner)
            self.record(files, after, f"set {', '.join(dotted(key) for key, _ in pairs)}")
        return self.tried(files, after)

    def unset(self, texts: Sequence[str]) -> int:
        """None of these keys stands in any file."""
        from appliance.config.editing import without
        from appliance.config.keys import parse, type_at

        place = f"{PLACE} unset"
        keys = [parse(text, place) for text in texts]
        for key in keys:
            type_at(key, place)
        with self.generations.alone():
            files = self.generations.owner.read()
            after = without(files, keys, self.generations.owner)
            if after == files:
                return self._nothing(f"{', '.join(texts)} not in the files")
            self.record(files, after, f"unset {', '.join(texts)}")
        return self.tried(files, after)

    def apply(self) -> int:
        """The files are in force as they are."""
        from appliance.config.states import digest_of

        generations = self.generations
        files = generations.owner.read()
        generations.check(files)
        if (applied := self._ask(files)) is None:
            with generations.alone():
                state = generations.history()
                known = state.latest(digest_of(files))
                if known is not None and known.number == state.confirmed:
                    return self._nothing("these files were in force when the appliance ended")
                if known is None or known.outcome != "waiting":
                    generations.record(files, by("apply"))
        return self._say(files, files, applied)

    def roll_back(self, number: int | None) -> int:
        """The files are those of an earlier generation; what was never recorded can be had again too."""
        from appliance.config.states import digest_of

        generations = self.generations
        with generations.alone():
            files = generations.owner.read()
            number = number if number is not None else self._previous(digest_of(files))
            after = generations.files_of(number)
            if dict(after) == files:
                return self._nothing(f"the files are those of generation {number}")
            if generations.history().latest(digest_of(files)) is None:
                generations.record(files, by("what was there before a rollback"))
            self.record(files, after, f"rollback to {number}")
        return self.tried(files, after)

    def record(self, files: "Files", after: "Files", what: str) -> None:
        """Check the change whole, and write it. To be called `alone`."""
        from appliance.config.schema import Settings

        new = self.generations.check(after).settings
        try:
            old = self.generations.check(files).settings
        except ApplianceError:
            old = Settings()
        if _needs(new) != _needs(old):
            self._usable(new)
        self.generations.record(after, by(what))

    def tried(self, files: "Files", after: "Files") -> int:
        """What has come of a change that is recorded."""
        try:
            applied = self._ask(after)
        except ApplianceError as error:
            raise ApplianceError(
                PLACE,
                f"the change is written, and whether it came into force is not known. {error}",
                remedy="See: appliance config history. To try it again: appliance config apply",
            ) from error
        if applied is not None and not applied.taken_back and self._is_gone(files, after):
            applied = self._gone_with_others(applied)
        return self._say(files, after, applied)

    def _is_gone(self, files: "Files", after: "Files") -> bool:
        """Whether nothing is left of the change, since others were made at the same time, and all were taken back."""
        before, wanted = self._values(files), self._values(after)
        now = self._values(self.generations.owner.read())
        keys = [key for key in wanted if before.get(key) != wanted[key]]
        return bool(keys) and all(now.get(key) != wanted[key] for key in keys)

    def _gone_with_others(self, applied: "Applied") -> "Applied":
        from msgspec.structs import replace

        rejected = [each for each in self.generations.history().records if each.outcome == "rejected"]
        why = rejected[-1].why if rejected else "something else was written in its place"
        return replace(applied, taken_back=f"with others that were made at the same time, {why}")

    def _ask(self, files: "Files") -> "Applied | None":
        """What the running appliance makes of the files; None: nothing is running."""
        from appliance.service.client import NotRunningError, ask
        from appliance.service.request import Apply

        window = self.generations.check(files).settings.service.confirm
        try:
            return ask(self._directory, Apply(), 2 * window + _MARGIN).applied
        except NotRunningError:
            return None
        except ApplianceError:
            if (applied := self._outcome(files, window)) is None:
                raise
            return applied

    def _outcome(self, files: "Files", window: float) -> "Applied | None":
        """What became of a trial in which the appliance has ended, which the next start decides; None: nothing yet."""
        from appliance.config.states import digest_of
        from appliance.service.request import Applied

        until = time.monotonic() + window + RESTARTING
        while True:
            state = self.generations.history()
            record = state.latest(digest_of(files))
            match record.outcome if record is not None else "":
                case "confirmed":
                    return Applied(record.number if record else None)
                case "rejected":
                    return Applied(state.confirmed, taken_back=record.why if record else "")
                case "trial" if time.monotonic() < until:
                    time.sleep(LOOK)
                case _:
                    return None

    def _say(self, files: "Files", after: "Files", applied: "Applied | None") -> int:
        names = [name for name in {**files, **after} if files.get(name) != after.get(name)]
        written = [str(self.generations.owner.path(name)) for name in names]
        youngest = self.generations.history().records[-1:]
        generation = applied.generation if applied else youngest[0].number if youngest else None
        taken_back = applied.taken_back if applied else ""
        notes = (*self.generations.notes(), *(applied.notes if applied else ()))
        is_in_force = applied is not None and not (applied.postponed or applied.file)
        if self._json:
            from appliance.service.config_command import print_json

            print_json(
                {
                    "changed": not taken_back and bool(written or applied is None or applied.changed),
                    "applied": is_in_force and not taken_back,
                    "generation": generation,
                    "keys": applied.changed if applied else (),
                    "files": written,
                    "taken_back": taken_back,
                    "notes": notes,
                }
            )
            return 1 if taken_back else 0
        for note in notes:
            sys.stderr.write(f"{note}\n")
        if taken_back:
            raise ApplianceError(
                PLACE,
                f"the change was taken back: {taken_back}. Generation {generation} is in force again",
                remedy="What was tried is kept: appliance config history",
            )
        if written:
            sys.stdout.write(f"Written: {', '.join(written)}\n")
        sys.stdout.write(f"{_in_force(applied) if applied else _AT_START}\n")
        return 0

    def _nothing(self, why: str) -> int:
        if self._json:
            from appliance.service.config_command import print_json

            print_json({"changed": False, "applied": False, "keys": (), "files": (), "taken_back": "", "notes": ()})
        else:
            sys.stdout.write(f"Nothing to change: {why}.\n")
        return 0

    def _values(self, files: "Files") -> "dict[Key, Any]":
        """What is set now; nothing if that is bad, and perhaps to be mended by this change."""
        from appliance.config.keys import values

        try:
            return values(self.generations.check(files).settings)
        except ApplianceError:
            return {}

    def _previous(self, digest: str) -> int:
        """What was confirmed last and is not what the files are now."""
        state = self.generations.history()
        for record in (state.record(state.confirmed), *reversed(state.records)):
            if record is not None and record.outcome == "confirmed" and record.digest != digest:
                return record.number
        raise ApplianceError(
            f"{PLACE} rollback", "nothing else was ever confirmed", remedy="See: appliance config history"
        )


def by(what: str) -> str:
    """Who has done it, for the history."""
    import pwd

    user = os.environ.get("SUDO_USER")
    if not user:
        try:
            user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            user = str(os.getuid())
    return f"{user}: {what}"


def _pairs(arguments: Sequence[str], place: str) -> "list[tuple[Key, str]]":
    from appliance.config.keys import parse

    found, rest = [], list(arguments)
    while rest:
        key, equals, value = rest.pop(0).partition("=")
        if not equals:
            if not rest:
                raise BadInputError(
                    place,
                    f"there is no value for {key}",
                    allowed="KEY VALUE or KEY=VALUE",
                    remedy="A value with blanks needs quotation marks, and over ssh two pairs of them: '\"USB Audio\"'",
                )
            value = rest.pop(0)
        found.append((parse(key.strip(), place), value))
    return found


def _shown(value: Any) -> str:
    from appliance.config import wording

    return wording.shown(value)


def _needs(settings: "Settings") -> tuple[object, ...]:
    """What has to be installed for it."""
    return settings.language, settings.engine, settings.wake.words, settings.voice_name, settings.llm.servers


def _in_force(applied: "Applied") -> str:
    if applied.postponed:
        return "The appliance was stopped meanwhile: this is tried when it starts again."
    if applied.file:
        return f"The running appliance was started with --config {applied.file}, and only that file counts for it."
    what = f"generation {applied.generation}" if applied.generation is not None else "this"
    return f"In force: {what}{', with ' if applied.changed else ''}{', '.join(applied.changed)}."
