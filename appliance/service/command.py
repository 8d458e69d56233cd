"""`appliance press`: what can be asked of a running appliance."""

import argparse
from collections.abc import Callable
from pathlib import Path


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", data_directory: Callable[[], Path]
) -> None:
    """Register the command; `data_directory` says where the appliance is, once the command runs."""
    parser = commands.add_parser("press", help="press the button of the running appliance")
    parser.add_argument(
        "gesture", nargs="?", default="tap", metavar="GESTURE", help="tap, double or hold (default: tap)"
    )
    parser.set_defaults(handler=lambda options: _press(options.gesture, data_directory))


def _press(gesture: str, data_directory: Callable[[], Path]) -> int:
    from appliance.service.client import ask
    from appliance.service.request import press

    request = press(gesture, "appliance press")
    ask(data_directory(), request)
    return 0
