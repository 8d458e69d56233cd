"""`appliance bench`: the benches by name."""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.bench.figures import Result
from appliance.config import wording
from appliance.errors import ApplianceError, BadInputError

if TYPE_CHECKING:
    from appliance.config.schema import Settings

Setup = Callable[[argparse.Namespace], "tuple[Settings, Path]"]

BENCHES = {
    "answer": "end of your speech to first sample of the answer",
    "hearing": "wake words, the end of your speech, what is understood, and speech into replies",
    "idle": "processor share while nobody speaks",
    "interruption": "trigger to silence, and to the next sound",
    "llm": "first words of a language model to their sound, and back from an outage",
    "memory": "memory with all models loaded",
    "start": "start to ready",
}


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", common: argparse.ArgumentParser, setup: Setup
) -> None:
    """Register `bench`; `setup` gives the settings and the folder of the models."""
    names = "; ".join(f"{name}: {what}" for name, what in BENCHES.items())
    parser = commands.add_parser("bench", parents=[common], help="measure this machine", epilog=names)
    parser.add_argument("name", nargs="?", metavar="NAME", help="one of the benches below (default: all)")
    parser.add_argument("--json", action="store_true", help="for scripts")
    hearing = parser.add_argument_group("hearing")
    hearing.add_argument("--recordings", type=Path, metavar="FOLDER", help="with wake/, commands/, noise/ and read/")
    hearing.add_argument("--quick", action="store_true", help="a sample of everything, as when all are measured")
    hearing.add_argument("--part", metavar="PART", help="one part alone")
    parser.set_defaults(handler=lambda options: _bench(options, setup))


def _bench(options: argparse.Namespace, setup: Setup) -> int:
    if options.name is not None and options.name not in BENCHES:
        found = f"there is no bench {wording.quoted(options.name)}{wording.meant(options.name, BENCHES)}"
        raise BadInputError("appliance bench", found, allowed=", ".join(BENCHES))
    settings, models = setup(options)
    results: list[Result] = []
    status = 0
    for name in [options.name] if options.name else BENCHES:
        try:
            result = _measure(name, options, settings, models)
        except ApplianceError as error:
            print(error, file=sys.stderr)  # the others can be measured all the same
            status = max(status, error.status)
            continue
        results.append(result)
        if not options.json:
            print("\n".join(result.lines()[: 1 if name == "hearing" else None]), flush=True)
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
    return status


def _measure(name: str, options: argparse.Namespace, settings: "Settings", models: Path) -> Result:
    measure: Callable[..., Result] = importlib.import_module(f"appliance.bench.{name}").measure
    if name != "hearing":
        return measure(settings, models)
    shown = sys.stderr if options.json else sys.stdout
    return measure(
        settings,
        models,
        options.recordings,
        quick=options.quick or options.name is None,  # the others take a minute each
        part=options.part,
        tell=lambda figure: print(figure.line(), file=shown, flush=True),  # all of it can take an hour
    )
