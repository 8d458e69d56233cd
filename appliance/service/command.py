"""`appliance press|say|status`: what can be asked of a running appliance."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.service.condition import (
        ButtonStatus,
        CardStatus,
        Condition,
        ConfigurationStatus,
        InterruptionStatus,
        LastAnswer,
        TurnStatus,
    )
    from appliance.service.ends import End
    from appliance.service.unit import Unit


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", data_directory: Callable[[], Path]
) -> None:
    """Register the command; `data_directory` says where the appliance is, once the command runs."""
    parser = commands.add_parser("press", help="press the button of the running appliance")
    parser.add_argument(
        "gesture", nargs="?", default="tap", metavar="GESTURE", help="tap, double or hold (default: tap)"
    )
    parser.add_argument("--seconds", type=float, help="how long a hold lasts (default: 2)")
    parser.set_defaults(handler=lambda options: _press(options.gesture, options.seconds, data_directory))

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


def _press(gesture: str, seconds: float | None, data_directory: Callable[[], Path]) -> int:
    from appliance.service.client import TIMEOUT, ask
    from appliance.service.request import press

    request = press(gesture, "appliance press", seconds)
    ask(data_directory(), request, TIMEOUT + (seconds or 0.0))
    return 0


def _status(directory: Path, *, json: bool) -> int:
    import msgspec

    from appliance.service.address import SERVICE, place_of
    from appliance.service.client import NotRunningError, ask
    from appliance.service.request import Status
    from appliance.service.unit import unit

    try:
        status = ask(directory, Status()).status
    except NotRunningError as error:
        service = unit()
        if service is None:
            raise
        raise NotRunningError(error.place, f"{error.found}: the service is {service.state}", remedy=_WHY) from None
    service = unit() if place_of(directory) == SERVICE else None
    if json:
        content = {**msgspec.to_builtins(status), "service": msgspec.to_builtins(service)}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n")
    elif status is not None:
        sys.stdout.write("".join(f"{name and name + ':':<19}{value}\n" for name, value in _lines(status, service)))
    return 0


_WHY = "See: journalctl --unit appliance --lines 30"


def _lines(status: "Condition", service: "Unit | None") -> list[tuple[str, str]]:
    lines = [
        ("now", status.phase),
        ("running for", _span(status.running)),
        ("microphone", _card(status.microphone)),
        ("speaker", _card(status.speaker)),
        ("button", _button(status.button)),
        ("language", status.language),
        ("speech-to-text", status.recogniser),
        ("voice", status.voice),
        ("language model", ", ".join(filter(None, (status.language_model, status.language_model_server)))),
        ("last answer", _answer(status.last_answer)),
        *_list("last turns", map(_turn, status.turns)),
        ("last interruption", _interruption(status.last_interruption)),
    ]
    if status.configuration is not None:
        lines.append(("configuration", _configuration(status.configuration)))
    if service is not None:
        lines.append(("service", f"{service.state}, restarted by itself {service.restarts} times since it was started"))
    if status.last_end is not None:
        lines.append(("ended before", _end(status.last_end)))
    return [*lines, *_list("wrong now", status.problems or ("nothing",))]


def _list(name: str, items: Iterable[str]) -> list[tuple[str, str]]:
    """One line for each, the first with the name."""
    return [("" if number else name, item) for number, item in enumerate(items)]


def _card(card: "CardStatus") -> str:
    return card.name if card.works else f"{card.name}: does not work, and is tried again until it does"


def _button(button: "ButtonStatus") -> str:
    return f"does not work: {button.why}" if button.state == "broken" else button.state


def _answer(answer: "LastAnswer | None") -> str:
    return "none yet" if answer is None else f"{answer.intent}, by {answer.by}, {_span(answer.ago)} ago"


def _turn(turn: "TurnStatus") -> str:
    what = f"{turn.intent}, by {turn.by or 'nobody yet'}" if turn.intent else "nothing was wanted"
    sound = "" if turn.first_sound is None else f", first sound after {turn.first_sound:.2f} s"
    cut = f", interrupted by {_by(turn.interrupted_by)}" if turn.interrupted_by else ""
    return f"{_span(turn.ago)} ago, by {_by(turn.woken_by)}: {what}{sound}{cut}"


def _by(trigger: str) -> str:
    return {"word": "the wake word", "button": "the button"}.get(trigger, trigger)


def _interruption(last: "InterruptionStatus | None") -> str:
    if last is None:
        return "none yet"
    silent = "" if last.silent_after is None else f", silent after {last.silent_after * 1000:.0f} ms"
    return f"by {_by(last.by)}, {_span(last.ago)} ago{silent}"


def _configuration(configuration: "ConfigurationStatus") -> str:
    number = configuration.generation
    which = "not recorded" if number is None else f"generation {number}{', on trial' if configuration.on_trial else ''}"
    return f"{which}; taken back: {configuration.taken_back}" if configuration.taken_back else which


def _end(end: "End") -> str:
    from datetime import datetime

    when = datetime.fromtimestamp(end.at).astimezone().strftime("%Y-%m-%d %H:%M")
    began = "it had begun " if end.how in ("crashed", "power cut") else ""
    return f"{end.how} ({began}{when}){end.why and ': '}{end.why}"


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
