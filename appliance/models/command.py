"""`appliance models list|fetch|verify`."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.models.manifest import Manifest, Model


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part of the configuration that decides which models are needed."""

    language: str
    engine: str
    wake_words: Sequence[str]
    voice: str


Choose = Callable[[argparse.Namespace], Wanted]


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    wanted: Choose,
    parents: Sequence[argparse.ArgumentParser],
) -> None:
    """Register the commands; each sets `handler`, which takes the parsed options and gives the exit status.

    `wanted` reads the configuration, when a command needs it; `parents` have the options that it needs for that.
    """
    models = commands.add_parser("models", help="the model files: which there are, fetching them, verifying them")
    actions = models.add_subparsers(title="commands", required=True, metavar="COMMAND")

    listing = actions.add_parser("list", parents=parents, help="what is here, what is needed, and all licences")
    listing.add_argument("--json", action="store_true", help="for programs")
    listing.set_defaults(handler=lambda options: _list(options, wanted))

    fetching = actions.add_parser("fetch", parents=parents, help="fetch what is missing or damaged")
    fetching.add_argument("names", nargs="*", metavar="NAME", help="default: what the configuration needs")
    fetching.set_defaults(handler=lambda options: _fetch(options, wanted))

    verifying = actions.add_parser("verify", parents=parents, help="which file is damaged")
    verifying.add_argument("names", nargs="*", metavar="NAME", help="default: all that is needed or here")
    verifying.add_argument("--json", action="store_true", help="for programs")
    verifying.set_defaults(handler=lambda options: _verify(options, wanted))


def _list(options: argparse.Namespace, wanted: Choose) -> int:
    from appliance.models.directory import data_directory, models_in
    from appliance.models.licences import load_licences
    from appliance.models.manifest import load_manifest
    from appliance.models.report import megabytes

    manifest, licences, directory = load_manifest(), load_licences(), data_directory()
    needed = _needed(manifest, wanted(options))
    listed = [_listed(model, model in needed, directory) for model in manifest.models]
    if options.json:
        packages = [{"name": each.name, "licence": each.licence, "note": each.note} for each in licences.packages]
        _print_json({"directory": str(models_in(directory)), "models": list(map(asdict, listed)), "packages": packages})
        return 0
    _print(f"Models in {models_in(directory)}; * marks what the configuration needs\n")
    rows = [
        ("*" if row.needed else "", row.name, row.role, row.language, megabytes(row.size), row.state, row.licence)
        for row in listed
    ]
    _print_table([("", "MODEL", "ROLE", "LANGUAGE", "SIZE", "STATE", "LICENCE"), *rows])
    _print("")
    _print_table([("PACKAGE", "LICENCE", ""), *((each.name, each.licence, each.note) for each in licences.packages)])
    _print(f"\n{licences.summary.strip()}")
    return 0


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    role: str
    language: str
    licence: str
    source: str
    size: int
    needed: bool
    state: str


def _listed(model: "Model", needed: bool, directory: Path) -> _Listed:
    from appliance.models.directory import damages, is_here

    state = "here"
    if damages(model, directory, contents=False):
        state = "damaged" if is_here(model, directory) else "missing"
    return _Listed(model.name, model.role, model.language, model.licence, model.source, model.size_here, needed, state)


def _fetch(options: argparse.Namespace, wanted: Choose) -> int:
    from appliance.models.directory import data_directory, models_in
    from appliance.models.fetch import fetch
    from appliance.models.manifest import load_manifest, with_siblings
    from appliance.models.report import Report

    manifest, directory = load_manifest(), data_directory()
    models: Sequence[Model] = [manifest.find(name) for name in options.names]
    models = models or with_siblings(manifest, _needed(manifest, wanted(options)))
    fetch(models, directory, manifest, Report(sys.stderr))
    _print(f"All here and undamaged in {models_in(directory)}: {', '.join(model.name for model in models)}")
    return 0


def _verify(options: argparse.Namespace, wanted: Choose) -> int:
    from appliance.models.directory import damages, data_directory, is_here, models_in
    from appliance.models.manifest import load_manifest

    manifest, directory = load_manifest(), data_directory()
    needed = _needed(manifest, wanted(options))
    models: Sequence[Model] = [manifest.find(name) for name in options.names]
    models = models or [model for model in manifest.models if model in needed or is_here(model, directory)]
    found = {model: problems for model in models if (problems := damages(model, directory))}
    damaged = [damage for problems in found.values() for damage in problems]
    if options.json:
        names = [model.name for model in models]
        _print_json({"directory": str(models_in(directory)), "verified": names, "damaged": list(map(asdict, damaged))})
    elif damaged:
        for damage in damaged:
            _print(f"{models_in(directory) / damage.path}: {damage.problem}")
        others = [model.name for model in found if model not in needed]
        _print(" ".join(["Run: appliance models fetch", *([model.name for model in found] if others else [])]))
    else:
        _print(f"All undamaged in {models_in(directory)}: {', '.join(model.name for model in models)}")
    return 1 if damaged else 0


def _needed(manifest: "Manifest", wanted: Wanted) -> "tuple[Model, ...]":
    from appliance.models.manifest import needed

    return needed(manifest, wanted.language, wanted.engine, wanted.wake_words, wanted.voice)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _print_json(value: object) -> None:
    _print(json.dumps(value, indent=2, ensure_ascii=False))


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
