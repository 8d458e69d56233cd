"""What a bench found, and how it is shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One number; `aim` is the most that it should be."""

    name: str
    value: float
    unit: str
    aim: float | None = None

    def line(self) -> str:
        """For people."""
        number = f"{self.value:.3g}" if self.value < 100 else f"{self.value:.0f}"
        line = f"  {self.name:<34} {number:>8} {self.unit}"
        if self.aim is not None:
            verdict = "met" if self.value <= self.aim else "MISSED"
            line += f"   aim: at most {self.aim:g}, {verdict}"
        return line


@dataclass(frozen=True, slots=True)
class Result:
    """What one bench found, and its method in a sentence or two."""

    bench: str
    method: str
    figures: tuple[Figure, ...]

    def lines(self) -> list[str]:
        """For people."""
        return [f"{self.bench}: {self.method}", *(figure.line() for figure in self.figures)]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` (0 … 1) of them do not exceed: the nearest-rank method."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
