"""The answer of a model, out of the bytes of a streamed chat completion. No input or output of its own.

llama.cpp, Ollama, vLLM and LM Studio all speak the dialect of OpenAI, each a little differently. Rules:
- Only what is to be spoken is text: no role, no reasoning, no tool call, no white space before the first word.
- The answer is over with its reason to finish, or with [DONE]; what comes after that (usage, mostly) is nothing. A
  stream that ends before broke off: Ollama says no more than that when its model dies.
- An error after the status 200 is one, whether it comes as an object, as text, or as an event of that name; what was
  said before it is not lost.
- A server that does not stream answers with one JSON object, and that is as good.
- An answer without a word is none, and one without an end is not waited for.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.thinking.reasoning import ReasoningFilter
from appliance.thinking.refusals import one_line, refused_midway
from appliance.thinking.server import Problem, ServerError
from appliance.thinking.sse import BOM, LONGEST, SseDecoder, SseEvent, TooLongError

LONGEST_ANSWER = 100_000
"""Characters: two hours of speech."""

_UNFINISHED = ("abort", "error")
"""Reasons of vLLM's and others' to stop before the answer is complete."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer. Never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. `reason` is mostly "stop", or "length" when it became too long; empty if untold."""

    reason: str


class _Said(msgspec.Struct):
    content: Any = None
    reasoning: Any = None
    reasoning_content: Any = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    error: Any = None
    object: Any = None


class CompletionDecoder:
    """One answer. Each piece of it goes to `feed`, whose parts have to be taken before the next one; then `finish`.

    Both raise ServerError when no answer, or no more of it, is to be had.
    """

    def __init__(self) -> None:
        self._head = b""
        self._events: SseDecoder | None = None
        self._object: bytearray | None = None
        self._reasoning = ReasoningFilter()
        self._half = ""
        self._begun = False
        self._length = 0
        self._finished = False

    def feed(self, data: bytes) -> Iterator[Text | Finished]:
        """The parts that `data` completes."""
        if self._finished:
            return
        if self._events is None and self._object is None:
            data = self._begin(data)
        if self._object is not None:
            self._object += data
            if len(self._object) > LONGEST:
                raise _GarbageError(f"an answer of more than {LONGEST:,} bytes")
        elif self._events is not None:
            yield from self._take(self._events.feed(data))

    def finish(self) -> Iterator[Text | Finished]:
        """The parts that the end of the stream completes."""
        if self._finished:
            return
        if self._object is not None:
            yield from self._take_chunk(_parse(self._object.decode(errors="replace")))
            if not self._finished:
                yield from self._end("")
        elif self._events is not None:
            with suppress(_GarbageError):  # an event that was cut
                yield from self._take(self._events.finish())
        if not self._finished:
            raise ServerError(
                Problem.BROKEN, "breaks off in the middle of its answer" if self._begun else "sends no answer at all"
            )

    def _begin(self, data: bytes) -> bytes:
        """Look what kind of answer this is; what is to be decoded of it so far."""
        head = (self._head + data).lstrip().removeprefix(BOM).lstrip()
        if BOM.startswith(head):  # or there is nothing yet
            self._head = head
            return b""
        if head.startswith(b"<"):
            raise _GarbageError("a web page")
        if head.startswith(b"{"):
            self._object = bytearray()
        else:
            self._events = SseDecoder()
        return head

    def _take(self, events: Iterator[SseEvent]) -> Iterator[Text | Finished]:
        try:
            for event in events:
                self._begun = True
                yield from self._take_event(event)
                if self._finished:
                    return
        except TooLongError as error:
            raise _GarbageError(str(error)) from error

    def _take_event(self, event: SseEvent) -> Iterator[Text | Finished]:
        data = event.data.strip()
        if event.name == "error":
            raise refused_midway(_error_in(data))
        if not data or event.name not in ("", "message"):
            return
        if data == "[DONE]":
            yield from self._end("")
        else:
            yield from self._take_chunk(_parse(data))

    def _take_chunk(self, chunk: _Chunk) -> Iterator[Text | Finished]:
        if chunk.error:
            raise refused_midway(chunk.error)
        for choice in chunk.choices or ():
            said = choice.delta or choice.message
            if choice.index == 0 and said is not None:
                self._reasoning.reasoned |= bool(said.reasoning or said.reasoning_content)
                if isinstance(said.content, str):
                    yield from self._say(self._reasoning.feed(self._whole(said.content)))
            if choice.index == 0 and choice.finish_reason:
                yield from self._end(choice.finish_reason)
                return

    def _whole(self, text: str) -> str:
        """`text` without the first half of a character outside the basic plane, which some send in two pieces."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text[: len(text) - len(self._half)].encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _say(self, text: str) -> Iterator[Text]:
        if not self._length:
            text = text.lstrip()
        self._length += len(text)
        if self._length > LONGEST_ANSWER:
            raise _GarbageError(f"an answer of more than {LONGEST_ANSWER:,} characters")
        if text:
            yield Text(text)

    def _end(self, reason: str) -> Iterator[Text | Finished]:
        if reason in _UNFINISHED:
            raise ServerError(Problem.BROKEN, f"breaks off in the middle of its answer ({reason})")
        yield from self._say(self._reasoning.finish())
        if not self._length:
            how = "reasoned and said nothing" if self._reasoning.reasoned else "answers nothing"
            raise ServerError(Problem.BROKEN, one_line(f"{how} ({reason or 'without a reason'})"))
        self._finished = True
        yield Finished(reason)


def _parse(data: str) -> _Chunk:
    try:
        found = json.loads(data)  # msgspec's own does not take half a character
        chunk = msgspec.convert(found, _Chunk)
    except (ValueError, RecursionError) as error:
        raise _GarbageError(data) from error
    if chunk.object == "error":  # of an older vLLM
        chunk.error = found
    return chunk


def _error_in(data: str) -> object:
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return found


class _GarbageError(ServerError):
    def __init__(self, what: str) -> None:
        super().__init__(Problem.BROKEN, one_line(f"sends what is no answer: {what}"))
