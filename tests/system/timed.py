"""To be run in the machine: how fast interrupted replies fall silent, while the event loop does this or that.

Prints the `Cuts` as JSON.
"""

import json
import sys
from dataclasses import asdict

from appliance.bench.cuts import Loop, measure_cuts


def main(plays_on: str, hears_with: str, interruptions: int, loop: str) -> None:
    """Interrupt so many replies."""
    sys.stdout.write(json.dumps(asdict(measure_cuts(plays_on, hears_with, interruptions, Loop(loop)))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
