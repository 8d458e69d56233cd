"""The commands. Imports nothing heavy until a command needs it."""

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from appliance.errors import ApplianceError

if TYPE_CHECKING:
    from appliance.config.schema import Settings
    from appliance.models.command import Wanted
    from appliance.simulation.scenario import Scenario

Handler = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0 done, 1 failed, 2 wrong usage or bad input."""
    options = make_parser().parse_args(arguments)
    _log_what_happens(logging.INFO if options.verbose else logging.WARNING)
    handler: Handler = options.handler
    try:
        return handler(options)
    except ApplianceError as error:
        print(error, file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` does; Python must not try again to write it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _log_what_happens(level: int) -> None:
    if "JOURNAL_STREAM" in os.environ:
        from appliance.service.journal import is_journal, log_to_journal

        if is_journal():
            log_to_journal(level)
            return
    logging.basicConfig(level=level, format="%(levelname)s %(message)s")


def command() -> NoReturn:
    """Run one command as a process of its own, and end the process."""
    status = main()
    # A clause that is still being synthesised would hold up the interpreter's orderly end, for seconds on a small
    # board, and nobody will hear it.
    logging.shutdown()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    os._exit(status)


def make_parser() -> argparse.ArgumentParser:
    """What reads the command line."""
    from appliance.bench.command import add_parser as add_bench
    from appliance.doctor.command import add_parser as add_doctor
    from appliance.models.command import add_parser as add_models
    from appliance.service.command import add_parser as add_service
    from appliance.service.config_command import add_parser as add_config
    from appliance.service.llm_command import add_parser as add_llm
    from appliance.wake.command import add_parser as add_wake
    from appliance.watch import add_parser as add_watch

    parser = argparse.ArgumentParser(prog="appliance", description="A self-hosted smart speaker.")
    parser.add_argument(
        "--verbose", action="store_true", help="also log what is only of interest when something is wrong"
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration (default: /etc/appliance/appliance.toml, if there is one)",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", parents=[common], help="listen and answer, until it is stopped")
    run.add_argument(
        "--demo",
        choices=("auto", "always", "never"),
        default="never",
        help="a demonstration in the simulated room: instead of the sound card (always), or where there is none (auto)",
    )
    run.add_argument(
        "--out", type=Path, default=Path("demonstration"), metavar="DIR", help="where the demonstration goes"
    )
    run.set_defaults(handler=_run)

    say = commands.add_parser("say", parents=[common], help="say a text, by the running appliance if there is one")
    say.add_argument("text", metavar="TEXT")
    say.set_defaults(handler=_say)

    simulate = commands.add_parser("simulate", parents=[common], help="play a scenario in the simulated room")
    simulate.add_argument("scenario", type=Path, metavar="SCENARIO.toml")
    simulate.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="for timeline.json, room.wav, timeline.svg"
    )
    simulate.add_argument("--fast", action="store_true", help="as fast as the engines can; no latencies from this")
    simulate.set_defaults(handler=_simulate)

    add_service(commands, _data)

    add_watch(commands, _data)

    add_doctor(commands, _data, [common])

    add_llm(commands, _data)

    add_config(commands, _data, _usable)

    add_models(commands, _wanted, [common])

    add_wake(commands, [common], _data, _understood, _set_values)

    add_bench(commands, common, _understood)
    return parser


def _data() -> Path:
    from appliance.models.directory import data_directory

    return data_directory()


def _models(settings: "Settings") -> Path:
    """The folder of all models, in which those that the configuration needs are there."""
    from appliance.models.directory import data_directory, models_in, require
    from appliance.models.manifest import load_manifest, needed

    directory, words, voice = data_directory(), settings.wake.installed, settings.voice_name
    require(needed(load_manifest(), settings.language, settings.engine, words, voice), directory)
    return models_in(directory)


def _understood(options: argparse.Namespace) -> "tuple[Settings, Path]":
    """The configuration of a conversation, and its models."""
    from appliance.config.store import load

    settings = load(options.config)
    return settings, _checked(settings)


def _usable(settings: "Settings") -> None:
    """What a configuration names is there, and can be meant; else ApplianceError."""
    from appliance.thinking.discovery.places import parse_place

    _checked(settings)
    for place in settings.llm.servers:
        parse_place(place)


def _checked(settings: "Settings") -> Path:
    """The folder of the models for a conversation; the language is checked before any of them is missed."""
    from appliance.thinking.intents import IntentMatcher

    IntentMatcher(settings.language)
    if settings.wake.files:
        from appliance.hearing.wake import load_word

        for path in settings.wake.files:
            load_word(Path(path))
    return _models(settings)


def _set_values(pairs: list[str]) -> int:
    from appliance.config.generations import Generations
    from appliance.service.config_change import Changer

    return Changer(Generations(_data() / "config"), _data(), _usable, json=False).set(pairs)


def _wanted(options: argparse.Namespace) -> "Wanted":
    from appliance.config.store import load
    from appliance.models.command import Wanted

    settings = load(options.config)
    return Wanted(settings.language, settings.engine, settings.wake.installed, settings.voice_name)


def _run(options: argparse.Namespace) -> int:
    import asyncio

    from appliance.config.generations import Generations
    from appliance.renewal import OneFile
    from appliance.service.ends import Ends
    from appliance.service.single import only_one

    directory = _data()
    with only_one(directory):
        if options.demo != "never":
            from appliance.audio.cards import any_card

            if options.demo == "always" or not any_card():
                if options.demo == "auto":
                    print("There is no sound card here that can hear and speak.")
                return _demonstrate(*_understood(options), options.out)
        from appliance.run import run_on_card  # which takes its time: a signal is to find no trial of a configuration

        store = OneFile(options.config) if options.config else Generations(directory / "config")
        with Ends(directory) as ends:
            asyncio.run(run_on_card(store.at_start(), store, _checked, directory, ends))
    return 0


def _demonstrate(settings: "Settings", models: Path, out: Path) -> int:
    import appliance.simulation
    from appliance.simulation.scenario import read

    print("A demonstration in a simulated room:\n", flush=True)
    scenario = Path(appliance.simulation.__file__).parent / f"demonstrations/{settings.language}.toml"
    return _play(read(scenario), settings, models, out, fast=False)


def _simulate(options: argparse.Namespace) -> int:
    from appliance.simulation.scenario import read

    scenario = read(options.scenario)
    settings, models = _understood(options)
    return _play(scenario, settings, models, options.out, fast=options.fast)


def _play(scenario: "Scenario", settings: "Settings", models: Path, out: Path, *, fast: bool) -> int:
    from appliance.console import Console
    from appliance.simulation.run import simulate

    console = Console(lambda at: f"{at:8.2f} s")
    outcome = simulate(scenario, settings, models, out, fast=fast, observers=(console,))
    for path in outcome.files:
        print(f"wrote {path}")
    for problem in outcome.problems:
        print(problem, file=sys.stderr)
    return 1 if outcome.problems else 0


def _say(options: argparse.Namespace) -> int:
    from appliance.service.command import is_said

    if is_said(options.text, _data()):
        return 0
    import asyncio

    from appliance.config.store import load
    from appliance.say import say

    settings = load(options.config)
    asyncio.run(say(options.text, settings, _models(settings)))
    return 0
