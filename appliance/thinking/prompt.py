"""What a language model is told: how to answer, and the conversation as it was really heard.

Rules:
- The newest exchanges are told, as many as fit into a number of characters; the newest question always is.
- A reply is told as far as it was heard, and with a dash where it was cut. One that nobody heard is not told.
- Where that is more than a model can take, half as much is told, down to the question alone.
- User and model take turns, and the user begins: some models refuse anything else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Literal

from appliance.thinking.history import Exchange

CUT = " —"
"""Stands at the end of a reply that was cut."""

PLACES = ("date", "language", "room", "time")
"""What may stand in braces in the instructions."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message, in the words of the chat interface that all servers share."""

    role: Literal["system", "user", "assistant"]
    content: str


def fill_in(instructions: str, now: datetime, room: str, language: str) -> str:
    """The instructions with their places filled in. ValueError, naming it, for a place that is not one of `PLACES`."""
    check(instructions)
    return instructions.format(
        date=f"{now:%A} {now.date().isoformat()}", language=language, room=room or "home", time=f"{now:%H:%M}"
    )


def check(instructions: str) -> None:
    """ValueError, naming it, for a place that is not one of `PLACES`, or a brace that is alone."""
    for _, place, form, conversion in Formatter().parse(instructions):
        if place is not None and (place not in PLACES or form or conversion):
            raise ValueError(f"{{{place}}} is none of {', '.join(f'{{{each}}}' for each in PLACES)}")


def messages(instructions: str, exchanges: Sequence[Exchange], limit: int) -> list[Message]:
    """`instructions`, and what of the exchanges fits into `limit` characters; the last one holds the question."""
    told: list[Message] = []
    left = limit
    for exchange in reversed(exchanges):
        left -= len(exchange.question) + len(exchange.heard)
        if told and left < 0:
            break
        told[:0] = _told(exchange)
    while told and told[0].role == "assistant":
        told.pop(0)
    return [Message("system", instructions), *_taking_turns(told)]


def shorter_and_shorter(instructions: str, exchanges: Sequence[Exchange], limit: int) -> Iterator[list[Message]]:
    """`messages`, and then each time with half the characters, as long as that makes a difference."""
    limit = min(limit, sum(len(exchange.question) + len(exchange.heard) for exchange in exchanges))
    before = None
    while True:
        told = messages(instructions, exchanges, limit)
        if told != before:
            yield told
        if not limit:
            return
        before, limit = told, limit // 2


def _told(exchange: Exchange) -> list[Message]:
    parts: list[Message] = []
    if exchange.question:
        parts.append(Message("user", exchange.question))
    if exchange.heard:
        parts.append(Message("assistant", exchange.heard + (CUT if exchange.interrupted else "")))
    return parts


def _taking_turns(told: Sequence[Message]) -> list[Message]:
    turns: list[Message] = []
    for message in told:
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, f"{turns[-1].content}\n{message.content}")
        else:
            turns.append(message)
    return turns
