"""Where the choices of a history come from."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Tape:
    """A byte for each choice. When it is over, the first option is chosen, which is the simplest."""

    def __init__(self, choices: bytes) -> None:
        self._choices = choices
        self._read = 0

    @property
    def over(self) -> bool:
        """Whether all was read."""
        return self._read >= len(self._choices)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, at most 256."""
        if self.over:
            return options[0]
        self._read += 1
        return options[self._choices[self._read - 1] % len(options)]

    def one_in(self, count: int) -> bool:
        """Whether it happens, which it seldom does."""
        if self.over:
            return False
        self._read += 1
        return self._choices[self._read - 1] % count == count - 1
