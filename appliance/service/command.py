"""`appliance press|status`: what can be asked of a running appliance."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.service.condition import CardStatus, Condition, LastAnswer


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", data_directory: Callable[[], Path]
) -> None:
    """Register the command; `data_directory` says where the appliance is, once the command runs."""
    parser = commands.add_parser("press", help="press the button of the running appliance")
    parser.add_argument(
        "gesture", nargs="?", default="tap", metavar="GESTURE", help="tap, double or hold (default: tap)"
    )
    parser.set_defaults(handler=lambda options: _press(options.gesture, data_directory))

    status = commands.add_parser("status", help="how the running appliance is")
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(handler=lambda options: _status(data_directory(), json=options.json))


def is_said(text: str, directory: Path) -> bool:
    """Whether there is a running appliance, which says `text` now, or as soon as nothing else is said."""
    from appliance.service.client import NotRunningError, ask
    from appliance.service.request import Say

    try:
        ask(directory, Say(text))
    except NotRunningError:
        return False
    return True


def _press(gesture: str, data_directory: Callable[[], Path]) -> int:
    from appliance.service.client import ask
    from appliance.service.request import press

    request = press(gesture, "appliance press")
    ask(data_directory(), request)
    return 0


def _status(directory: Path, *, json: bool) -> int:
    import msgspec

    from appliance.service.client import ask
    from appliance.service.request import Status

    status = ask(directory, Status()).status
    if json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(status), indent=2).decode() + "\n")
    elif status is not None:
        sys.stdout.write("".join(f"{name + ':':<16}{value}\n" for name, value in _lines(status)))
    return 0


def _lines(status: "Condition") -> list[tuple[str, str]]:
    return [
        ("now", status.phase),
        ("running for", _span(status.running)),
        ("microphone", _card(status.microphone)),
        ("speaker", _card(status.speaker)),
        ("language", status.language),
        ("speech-to-text", status.recogniser),
        ("voice", status.voice),
        ("language model", status.language_model),
        ("last answer", _answer(status.last_answer)),
    ]


def _card(card: "CardStatus") -> str:
    return card.name if card.works else f"{card.name}: does not work, and is tried again until it does"


def _answer(answer: "LastAnswer | None") -> str:
    return "none yet" if answer is None else f"{answer.intent}, by {answer.by}, {_span(answer.ago)} ago"


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
