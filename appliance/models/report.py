"""Progress for a person: bars on a terminal, plain lines everywhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

Progress = Callable[[int], object]
"""Is told how many bytes are done, all in all."""


class Report:
    """Writes to one stream, standard error as a rule."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, line: str) -> None:
        """A line, at once."""
        self._stream.write(f"{line}\n")
        self._stream.flush()

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Progress]:
        """Shows how far a job of `total` bytes is."""
        terminal = self._stream.isatty()
        if not terminal:
            self.say(f"{label} ({megabytes(total)})")
        with tqdm(total=total, desc=label, unit="B", unit_scale=True, file=self._stream, disable=not terminal) as bar:
            yield lambda done: bar.update(done - bar.n)


def megabytes(size: int) -> str:
    """A size for a person."""
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
