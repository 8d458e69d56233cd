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


@dataclass(frozen=True, slots=True)
class Result:
    """What one bench found, and its method in a sentence or two."""

    bench: str
    method: str
    figures: tuple[Figure, ...]

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"{self.bench}: {self.method}"]
        for figure in self.figures:
            number = f"{figure.value:.3g}" if figure.value < 100 else f"{figure.value:.0f}"
            line = f"  {figure.name:<34} {number:>8} {figure.unit}"
            if figure.aim is not None:
                verdict = "met" if figure.value <= figure.aim else "MISSED"
                line += f"   aim: at most {figure.aim:g}, {verdict}"
            lines.append(line)
        return lines


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` (0 … 1) of them do not exceed: the nearest-rank method."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
