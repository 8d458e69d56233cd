"""`appliance config show|get|check|history`: what is set, and where. What changes it is in config_change.py."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from appliance.config.generations import Generations
    from appliance.config.schema import Settings
    from appliance.config.states import Record

PLACE = "appliance config"


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    data_directory: Callable[[], Path],
    usable: Callable[["Settings"], object],
) -> None:
    """Register the commands. `usable` raises ApplianceError if what settings need is not here."""
    from appliance.service.config_change import add_parsers

    config = commands.add_parser("config", help="the configuration: see it, change it, go back")
    actions = config.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def generations() -> "Generations":
        from appliance.config.generations import Generations

        return Generations(data_directory() / "config")

    show = actions.add_parser("show", help="all settings, as they are in force by the files")
    show.add_argument("--origin", action="store_true", help="also the file and the line of each")
    _for_programs(show)
    show.set_defaults(handler=lambda options: _show(generations(), origin=options.origin, json=options.json))

    get = actions.add_parser("get", help="one setting, or the settings of a table")
    get.add_argument("key", metavar="KEY", help="for instance wake.threshold")
    _for_programs(get)
    get.set_defaults(handler=lambda options: _get(generations(), options.key, json=options.json))

    check = actions.add_parser("check", help="whether the files, or a file, are good; changes nothing")
    check.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a file that is not in its place yet")
    _for_programs(check)
    check.set_defaults(handler=lambda options: _check(generations(), options.file, json=options.json))

    history = actions.add_parser("history", help="the generations of the configuration, or the files of one")
    history.add_argument("number", nargs="?", type=int, metavar="N", help="print the files of this one")
    _for_programs(history)
    history.set_defaults(handler=lambda options: _history(generations(), options.number, json=options.json))

    add_parsers(actions, generations, data_directory, usable)


def print_json(content: Any) -> None:
    """As programs read it."""
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n")


def _for_programs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def _show(generations: "Generations", *, origin: bool, json: bool) -> int:
    import tomlkit

    from appliance.config.keys import dotted, values

    found = generations.check(generations.owner.read())
    set_to = values(found.settings)
    if json and origin:
        print_json({dotted(key): {"value": set_to[key], "origin": _origin(found.origins.get(key))} for key in set_to})
    elif json:
        print_json(found.settings)
    else:
        document = tomlkit.document()
        for key, value in set_to.items():
            table: Any = document
            for name in key[:-1]:
                table = table.setdefault(name, tomlkit.table())
            item = tomlkit.item(value)
            table.append(key[-1], item.comment(_origin(found.origins.get(key))) if origin else item)
        sys.stdout.write(tomlkit.dumps(document))
    return 0


def _origin(origin: object | None) -> str:
    return "built-in" if origin is None else str(origin)


def _get(generations: "Generations", text: str, *, json: bool) -> int:
    import msgspec
    import tomlkit

    from appliance.config.keys import dotted, parse, type_at
    from appliance.errors import ApplianceError

    place = f"{PLACE} get"
    key = parse(text, place)
    type_at(key, place)
    found: Any = msgspec.to_builtins(generations.check(generations.owner.read()).settings, builtin_types=())
    for name in key:
        if name not in found:
            raise ApplianceError(place, f"{dotted(key)} is not set", remedy="See: appliance config show")
        found = found[name]
    if json:
        print_json(found)
    elif isinstance(found, dict):
        sys.stdout.write(tomlkit.dumps(found))
    else:
        sys.stdout.write(f"{found if isinstance(found, str) else tomlkit.item(found).as_string()}\n")
    return 0


def _check(generations: "Generations", file: Path | None, *, json: bool) -> int:
    from appliance.config.layers import combine
    from appliance.config.store import read
    from appliance.errors import BadInputError, SeveralProblemsError

    try:
        if file is None:
            generations.check(generations.owner.read())
        else:
            combine([read(file)])
    except BadInputError as error:
        if not json:
            raise
        problems = error.problems if isinstance(error, SeveralProblemsError) else (str(error),)
        print_json({"good": False, "problems": problems})
        return error.status
    if json:
        print_json({"good": True, "problems": []})
    else:
        sys.stdout.write(f"{file or generations.owner.main.parent}: the configuration is good.\n")
    return 0


def _history(generations: "Generations", number: int | None, *, json: bool) -> int:
    if number is not None:
        files = {name: content.decode(errors="replace") for name, content in generations.files_of(number).items()}
        if json:
            print_json(files)
        else:
            sys.stdout.write("\n".join(f"# {name}\n{text}" for name, text in files.items()))
        return 0
    state = generations.history()
    if json:
        print_json({"confirmed": state.confirmed, "generations": state.records})
        return 0
    rows = [(*_row(record), "in force" if record.number == state.confirmed else "") for record in state.records]
    if not rows:
        sys.stdout.write("There is no generation yet: the first start makes one.\n")
        return 0
    rows.insert(0, ("N", "WHEN", "STATE", "BY", ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    return 0


def _row(record: "Record") -> tuple[str, str, str, str]:
    state = f"{record.outcome}{record.why and f': {record.why}'}"
    return str(record.number), record.at[:16].replace("T", " "), state, record.by
