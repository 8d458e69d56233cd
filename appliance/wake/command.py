"""The commands: `test` shows scores as they come, `tune` finds the thresholds for recordings of one's own."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.errors import BadInputError

if TYPE_CHECKING:
    from appliance.config.schema import Settings

Understood = Callable[[argparse.Namespace], "tuple[Settings, Path]"]
"""The settings, and the folder of the models, for a command's options."""

Set = Callable[[list[str]], int]
"""Change the configuration as `appliance config set` does."""


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    parents: list[argparse.ArgumentParser],
    data_directory: Callable[[], Path],
    understood: Understood,
    set_values: Set,
) -> None:
    """Register the commands."""
    wake = commands.add_parser("wake", help="the wake words: their scores, live, and the thresholds that fit you")
    actions = wake.add_subparsers(title="commands", required=True, metavar="COMMAND")

    test = actions.add_parser("test", parents=parents, help="scores as they come, until Ctrl-C")
    test.add_argument("--json", action="store_true", help="for programs: one line for each")
    test.set_defaults(handler=lambda options: _test(options, data_directory, understood))

    tune = actions.add_parser(
        "tune",
        parents=parents,
        help="the thresholds that fit recordings of yours",
        epilog="FOLDER has a folder for each wake word, named as the word is, and one named room; if there is one wake "
        "word, its recordings may lie in FOLDER itself. What is recorded goes there, and nowhere else.",
    )
    tune.add_argument("folder", type=Path, metavar="FOLDER", help="where the recordings are")
    tune.add_argument("--say", type=int, metavar="N", help="first record each wake word N times, from the microphone")
    tune.add_argument(
        "--record", type=float, metavar="MINUTES", help="first record the room, in which nobody says a wake word"
    )
    tune.add_argument("--apply", action="store_true", help="set the thresholds, as `appliance config set` does")
    tune.add_argument("--json", action="store_true", help="for programs")
    tune.set_defaults(handler=lambda options: _tune(options, understood, set_values))


def _test(options: argparse.Namespace, data_directory: Callable[[], Path], understood: Understood) -> int:
    from appliance.wake import live

    return live.test(data_directory(), lambda: understood(options), json=options.json)


def _tune(options: argparse.Namespace, understood: Understood, set_values: Set) -> int:
    for name, value, least in (("--say", options.say, 1), ("--record", options.record, 0.1)):
        if value is not None and not least <= value <= _MOST:
            raise BadInputError(
                f"appliance wake tune {name}", f"{value:g} is out of range", allowed=f"{least} to {_MOST}"
            )
    from appliance.wake import taking
    from appliance.wake.report import lines, print_json
    from appliance.wake.tuning import tune

    settings, models = understood(options)
    names = settings.wake.names
    if options.say:
        taking.words(settings.microphone.card, options.folder, names, options.say)
    if options.record:
        taking.room(settings.microphone.card, options.folder, options.record)
    tuned = tune(settings, models, options.folder)
    if options.json:
        print_json(tuned)
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines(tuned)))
    changes = [
        f"wake.thresholds.{each.word}={each.suggested:g}" for each in tuned.words if each.suggested != each.threshold
    ]
    if not changes:
        return 0
    if options.apply:
        return set_values(changes)
    if not options.json:
        sys.stdout.write(f"\nappliance config set {' '.join(changes)}\n")
    return 0


_MOST = 1000
"""Of words, and of minutes: 17 hours."""
