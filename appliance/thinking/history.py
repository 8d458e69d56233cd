"""The conversation as it was really heard: what was said after an interruption, nobody knows.

Rules:
- An exchange is one generation: what the user said, what was said to it, and how much of that was heard.
- A reply that nobody heard a word of cannot be repeated: "repeat that" means the one before it. "Go on" means the one
  that was interrupted last.
- What comes late counts in its own generation, and changes nothing in a later one. Unknown generations are ignored.
"""

from dataclasses import dataclass, replace

LENGTH = 50
"""Exchanges that are kept: more than anybody refers to."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said, and what came of it."""

    question: str = ""
    """Empty where the appliance spoke unasked."""
    reply: str = ""
    """All that it began to say; empty where silence was the answer."""
    heard: str = ""
    """What was heard of it so far; empty before it has ended."""
    interrupted: bool = False


class History:
    """The newest exchanges. Changed by one thread; any other may look at it meanwhile."""

    def __init__(self) -> None:
        self._exchanges: dict[int, Exchange] = {}
        self._heard_in = 0
        """The last generation of whose reply anything was heard."""
        self._last_reply = ""
        self._rest = ""

    def ask(self, generation: int, text: str) -> None:
        """The user has said `text`, which a reply is sought to."""
        if exchange := self._known(generation):
            self._exchanges[generation] = replace(exchange, question=text)

    def reply(self, generation: int, text: str) -> None:
        """`text` begins to be spoken."""
        if exchange := self._known(generation):
            self._exchanges[generation] = replace(exchange, reply=text)

    def replied(self, generation: int, heard: str, rest: str, *, interrupted: bool) -> None:
        """The reply has ended: `heard` of it was heard, and `rest` is what "go on" would have to say."""
        exchange = self._exchanges.get(generation)
        if exchange is None or not exchange.reply:
            return
        self._exchanges[generation] = replace(exchange, heard=heard, interrupted=interrupted)
        if interrupted and not heard and generation >= self._heard_in:
            self._rest = rest  # who has cut it off too soon may still want to hear it
        if heard and generation >= self._heard_in:
            self._heard_in, self._last_reply, self._rest = generation, exchange.reply, rest

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What is known of the conversation, the oldest exchange first."""
        return tuple(self._exchanges.values())

    @property
    def last_reply(self) -> str:
        """All of the last reply that anything was heard of; empty before the first."""
        return self._last_reply

    @property
    def rest(self) -> str:
        """What is left to say of the last reply that anything was heard of; empty if it was heard to its end."""
        return self._rest

    def _known(self, generation: int) -> Exchange | None:
        """The exchange of `generation`, a new one for a new generation; None for one that is not known."""
        if generation > max(self._exchanges, default=0):
            self._exchanges[generation] = Exchange()
            if len(self._exchanges) > LENGTH:
                del self._exchanges[next(iter(self._exchanges))]
        return self._exchanges.get(generation)
