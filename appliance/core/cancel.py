"""The generation counter, and the window in which what is left of a cancelled response is discarded.

Rules:
- The generation is the number of the newest response. A cancel moves it on, so that all that carries an older number is
  stale: equality decides, and no clock.
- What carries no number is judged by the window: it opens with a cancel, and closes with the end signal of the last
  response that was cancelled, or of any later one.
- A generation in which no response was asked for, or whose response has ended or was cancelled already, has nothing to
  cancel: nothing moves, and nothing opens.
- What carries the current number passes, whatever the window does.
"""


class CancelScope:
    """Not for several threads at once: who shares it holds a lock of its own."""

    def __init__(self) -> None:
        self._generation = 0
        self._asked = True
        """Whether a response was asked for in this generation."""
        self._running = False
        """Whether there is one that has neither ended nor was cancelled."""
        self._awaited: int | None = None
        """The last cancelled response whose end signal is still to come."""

    @property
    def generation(self) -> int:
        """The current generation."""
        return self._generation

    @property
    def discarding(self) -> bool:
        """Whether the window is open: a cancelled response has not ended yet."""
        return self._awaited is not None

    def cancel(self) -> None:
        """The current response, if there is one, is over for the user."""
        if not self._running:
            return
        self._awaited = self._generation
        self._generation += 1
        self._asked = self._running = False

    def new_response(self) -> int:
        """A response is asked for; its generation."""
        if self._asked:
            self._generation += 1
        self._asked = self._running = True
        return self._generation

    def response_done(self, generation: int) -> None:
        """The end signal of the response of `generation`: cancelled or complete, nothing more of it will come."""
        if generation == self._generation:
            self._running = False
        if self._awaited is not None and generation >= self._awaited:
            self._awaited = None

    def reset(self) -> None:
        """Close the window: nothing of any earlier response can come any more. The generation stays."""
        self._awaited = None

    def is_stale(self, generation: int) -> bool:
        """Whether what carries this number belongs to another response than the current one."""
        return generation != self._generation

    def is_running(self, generation: int) -> bool:
        """Whether there is something to cancel in the response of `generation`."""
        return self._running and generation == self._generation

    def is_discardable(self, generation: int | None) -> bool:
        """Whether an item must not pass; None: it carries no number."""
        return self.discarding if generation is None else self.is_stale(generation)
