"""`appliance llm list|trust|forget`: which servers of a language model may hear the family."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.service.request import Answer, ListedServer, Request
    from appliance.thinking.trust import Remembered
    from appliance.thinking.truststore import TrustStore

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
    from appliance.service.request import Servers

    store, answer = _store(directory), _asked(directory, Servers())
    found = None if answer is None else answer.servers
    known = (store.known() or ()) if answer is None else answer.remembered
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
    from appliance.service.request import Trust, server_name
    from appliance.service.trusting import trust_unseen

    server_name(name, "appliance llm trust")
    answer = _asked(directory, Trust(name))
    if answer is not None:
        _print(answer.said)
    else:
        said = trust_unseen(name, _store(directory))
        _print(said if said.endswith("already.") else f"{said} {_NOT_RUNNING}, so see that the name is right.")
    return 0


def _forget(name: str, directory: Path) -> int:
    from appliance.service.request import Forget, server_name
    from appliance.service.trusting import forget

    server_name(name, "appliance llm forget")
    answer = _asked(directory, Forget(name))
    _print(forget(name, _store(directory)) if answer is None else answer.said)
    return 0


def _store(directory: Path) -> "TrustStore":
    from datetime import datetime

    from appliance.thinking.truststore import TrustStore

    return TrustStore(directory, lambda: datetime.now().astimezone())


def _asked(directory: Path, request: "Request") -> "Answer | None":
    """What the running appliance answers; None if there is none."""
    from appliance.service.client import NotRunningError, ask

    try:
        return ask(directory, request)
    except NotRunningError:
        return None


def _print(line: str) -> None:
    """What servers say of themselves is for people, and not for their terminal."""
    sys.stdout.write("".join(character if character.isprintable() else "?" for character in line) + "\n")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
