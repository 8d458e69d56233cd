"""`appliance llm list|trust|forget`: which servers of a language model may hear the family."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.service.request import ListedServer
    from appliance.thinking.trust import Remembered
    from appliance.thinking.truststore import TrustStore

_LONGEST = 128
"""Characters of a name."""

_NOT_RUNNING = "No appliance is running here that could tell what it finds"


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", data_directory: Callable[[], Path]
) -> None:
    """Register the commands; `data_directory` says where the appliance is, once a command runs."""
    llm = commands.add_parser("llm", help="the servers of a language model: which there are, and which may be asked")
    actions = llm.add_subparsers(title="commands", required=True, metavar="COMMAND")

    listing = actions.add_parser("list", help="what is known, what is found, and how it stands")
    listing.add_argument("--json", action="store_true", help="for programs")
    listing.set_defaults(handler=lambda options: _list(data_directory(), json=options.json))

    trusting = actions.add_parser("trust", help="let a server be asked that was found in the network")
    trusting.add_argument("name", nargs="+", metavar="NAME", help="its name, or its address if several have the name")
    trusting.set_defaults(handler=lambda options: _trust(" ".join(options.name), data_directory()))

    forgetting = actions.add_parser("forget", help="trust a server no longer")
    forgetting.add_argument("name", nargs="+", metavar="NAME", help="its name")
    forgetting.set_defaults(handler=lambda options: _forget(" ".join(options.name), data_directory()))


def _list(directory: Path, *, json: bool) -> int:
    store, found = _store(directory), _found(directory)
    known = store.known() or ()
    if json:
        from json import dumps

        import msgspec

        content = {"file": str(store.path), "running": found is not None, "servers": found or (), "remembered": known}
        sys.stdout.write(dumps(msgspec.to_builtins(content), indent=2) + "\n")
        return 0
    rows = _rows(known, found)
    if found is None:
        _print(_NOT_RUNNING + (". This is what it remembers:" if rows else ", and it remembers nothing."))
    elif not rows:
        _print("No server is known. One that is advertised in your network is found by itself.")
    if rows:
        _print_table([("NAME", "FROM", "ADDRESS", "TRUSTED", "STATE"), *rows])
    if any(not server.trusted for server in found or ()):
        _print("To have one asked that is not trusted: appliance llm trust NAME")
    return 0


def _rows(known: "Sequence[Remembered]", found: "Sequence[ListedServer] | None") -> list[tuple[str, ...]]:
    from appliance.thinking.trust import same_name

    rows = [(server.name, server.source, server.url, _trusted(server, known), _state(server)) for server in found or ()]
    there = [server.name for server in found or () if server.trusted]
    gone = [each for each in known if not any(same_name(each.name, name) for name in there)]
    state = "not there" if found is not None else ""
    return [*rows, *((each.name, "", "", f"{each.by}, {each.since}", state) for each in gone)]


def _trusted(server: "ListedServer", known: "Sequence[Remembered]") -> str:
    from appliance.thinking.trust import find

    if not server.trusted:
        return "no"
    remembered = find(server.name, tuple(known)) if server.source in ("mdns", "dns") else None
    return f"{remembered.by}, {remembered.since}" if remembered else "as configured"


def _state(server: "ListedServer") -> str:
    later = "" if server.next_try is None else f", next try in {server.next_try:.0f} s"
    return f"{server.state}{later}{server.why and ': '}{server.why}"


def _trust(name: str, directory: Path) -> int:
    from appliance.thinking.trust import find

    store, found = _store(directory), _found(directory)
    remembered = find(name, store.known())
    if found is None:
        if remembered is None:
            store.trust(_usable(name), None)
            _print(f"{name} is trusted from now on. {_NOT_RUNNING}, so see that the name is right.")
        else:
            _print(f"{name} is trusted already.")
        return 0
    server = _meant(name, found)
    if server is None and remembered is not None:
        _print(f"{name} is trusted already, and not there.")
        return 0
    if server is None:
        raise _unknown("trust", name, [each.name for each in found])
    if server.trusted:
        _print(f"{server.name} ({server.url}) is trusted already.")
        return 0
    store.trust(server.name, server.properties)
    _print(f"{server.name} ({server.url}) is trusted from now on.")
    return 0


def _meant(name: str, found: "Sequence[ListedServer]") -> "ListedServer | None":
    from appliance.config.wording import quoted
    from appliance.errors import BadInputError
    from appliance.thinking.trust import same_name

    for server in found:
        if server.url == name:
            return server
    meant = [server for server in found if same_name(server.name, name)]
    if any(server.properties != meant[0].properties for server in meant):
        found_there = f"there are several of the name {quoted(name)}, and they are not the same"
        addresses = " or ".join(server.url for server in meant)
        raise BadInputError("appliance llm trust", found_there, allowed=addresses, remedy="Name the address")
    return meant[0] if meant else None


def _forget(name: str, directory: Path) -> int:
    store = _store(directory)
    if not store.forget(name):
        raise _unknown("forget", name, [each.name for each in store.known() or ()])
    _print(f"{name} is forgotten. No other takes its place by itself: see appliance llm list.")
    return 0


def _unknown(command: str, name: str, names: Sequence[str]) -> Exception:
    from appliance.config.wording import any_of, meant, shown
    from appliance.errors import BadInputError

    found = f"there is no server {shown(name)}{meant(name, names)}"
    return BadInputError(
        f"appliance llm {command}", found, allowed=any_of(dict.fromkeys(names)), remedy="See: appliance llm list"
    )


def _usable(name: str) -> str:
    from appliance.config.wording import shown
    from appliance.errors import BadInputError

    if name.isprintable() and 0 < len(name) <= _LONGEST and name == name.strip():
        return name
    raise BadInputError("appliance llm trust", f"{shown(name)} is no name", allowed=f"up to {_LONGEST} letters")


def _store(directory: Path) -> "TrustStore":
    from datetime import datetime

    from appliance.thinking.truststore import TrustStore

    return TrustStore(directory, lambda: datetime.now().astimezone())


def _found(directory: Path) -> "Sequence[ListedServer] | None":
    """What the running appliance knows; None if there is none."""
    from appliance.service.client import NotRunningError, ask
    from appliance.service.request import Servers

    try:
        return ask(directory, Servers()).servers
    except NotRunningError:
        return None


def _print(line: str) -> None:
    """What servers say of themselves is for people, and not for their terminal."""
    sys.stdout.write("".join(character if character.isprintable() else "?" for character in line) + "\n")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
