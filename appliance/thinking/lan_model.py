"""An answer by a language model on the LAN, or an honest sentence instead.

Rules:
- Whatever happens, the first words come within the patience: of the model, or of what stands in its way.
- Somebody who has to wait for longer than a moment is told so.
- As long as nothing was said another server may be asked; a reply that breaks off later ends with a sentence that says
  so.
- A server whose model cannot take the whole conversation is told less of it, down to the question alone. One that
  reaches the end of what its model can take in the middle of its answer is at the end of its answer.
- A server that takes long to its first word may be loading its model. It is left to that, though nobody waits any more;
  loading would begin anew if it were asked again.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Protocol

from appliance.thinking.choosing import Chooser, Sight
from appliance.thinking.history import History
from appliance.thinking.phrases import Phrases
from appliance.thinking.prompt import Message
from appliance.thinking.search import NoServerError, Search
from appliance.thinking.server import Problem, Server, ServerError

MOMENT = 1.5
"""Seconds after which somebody who waits is told so."""

TOKENS = 300
"""Of a reply at most: a minute and a half of speech. Small models never end by themselves."""

VOICE = 0.4
"""Seconds that the voice takes for the first sound, which the patience includes."""


class Client(Protocol):
    """Who talks to servers."""

    def chat(
        self, server: Server, messages: Sequence[Message], options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[str, None]:
        """The reply, as it comes. Raises ServerError; closing it closes the connection."""


class _Asked:
    """One question on its way through the servers."""

    def __init__(self) -> None:
        self.news: asyncio.Queue[str | NoServerError | ServerError | None] = asyncio.Queue()
        """Pieces of the reply, why there are no more, or None at its end."""
        self.by = ""
        self.abandoned = False


class LanModel:
    """Belongs to the event loop. `tell` gives the messages that the model is told, and then those that it is told
    instead if they are too many; `patience` is in seconds."""

    def __init__(
        self,
        client: Client,
        chooser: Chooser,
        phrases: Phrases,
        tell: Callable[[History], Iterable[Sequence[Message]]],
        patience: float,
    ) -> None:
        self._client = client
        self._chooser = chooser
        self._phrases = phrases
        self._tell = tell
        self._patience = patience
        self._left: set[asyncio.Task[None]] = set()
        self.answered_by = ""
        """The server that worded the last reply; empty if none did."""

    async def words(self, history: History) -> AsyncGenerator[str, None]:
        """The reply to the last question, piece by piece. Closing it ends the question."""
        loop = asyncio.get_running_loop()
        self.answered_by = ""
        asked = _Asked()
        task = asyncio.create_task(self._ask(asked, list(self._tell(history))))
        limits = [loop.time() + MOMENT, loop.time() + self._patience - VOICE]
        said = False
        try:
            while True:
                try:
                    async with asyncio.timeout_at(limits[0] if limits and not said else None):
                        news = await asked.news.get()
                except TimeoutError:
                    limits.pop(0)
                    if limits:
                        yield self._phrases.ONE_MOMENT + "\n"
                        continue
                    self._abandon(asked, task)
                    yield self._phrases.MODEL_SLOW
                    return
                if news is None:
                    return
                if isinstance(news, str):
                    said = True
                    self.answered_by = asked.by
                    yield news
                    continue
                yield "\n" + self._phrases.BROKE_OFF if said else self._excuse(news.problem)
                return
        finally:
            if not asked.abandoned:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def sights(self) -> list[Sight]:
        """All servers that are known, and how they stand. From any thread."""
        return self._chooser.sights()

    async def close(self) -> None:
        """End what still waits for a server that nobody else waits for."""
        for task in self._left:
            task.cancel()
        await asyncio.gather(*self._left, return_exceptions=True)

    def _abandon(self, asked: _Asked, task: "asyncio.Task[None]") -> None:
        asked.abandoned = True
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def _ask(self, asked: _Asked, tellings: Sequence[Sequence[Message]]) -> None:
        search = Search(self._chooser, lambda: None)
        too_long: ServerError | None = None
        said = False
        while True:
            try:
                server = await search.find_instance()
            except NoServerError as error:
                asked.news.put_nowait(too_long or error)
                return
            try:
                async with aclosing(self._chat(server, tellings)) as pieces:
                    async for piece in pieces:
                        if asked.abandoned:
                            return
                        if not said:
                            said = True
                            asked.by = server.name
                            search.answered()
                        asked.news.put_nowait(piece)
                if not said:
                    raise ServerError(Problem.BROKEN, "it gave an empty answer")  # noqa: TRY301  as if it had
            except ServerError as error:
                search.failed(error)
                if said:
                    asked.news.put_nowait(error)
                    return
                if asked.abandoned:
                    return
                if error.problem is Problem.TOO_LONG:
                    too_long = error
                continue
            asked.news.put_nowait(None)
            return

    async def _chat(self, server: Server, tellings: Sequence[Sequence[Message]]) -> AsyncGenerator[str, None]:
        """The reply to the first of `tellings` that the server can take. Raises ServerError."""
        for messages in tellings:
            said = False
            try:
                async with aclosing(self._client.chat(server, messages, {"max_tokens": TOKENS})) as pieces:
                    async for piece in pieces:
                        said = True
                        yield piece
            except ServerError as error:
                if error.problem is not Problem.TOO_LONG or (messages is tellings[-1] and not said):
                    raise
                if not said:
                    continue
            return

    def _excuse(self, problem: Problem | None) -> str:
        match problem:
            case None:
                return self._phrases.UNKNOWN
            case Problem.WARMING:
                return self._phrases.MODEL_WARMING
            case Problem.AT_CAPACITY:
                return self._phrases.MODEL_BUSY
            case Problem.TOO_LONG:
                return self._phrases.MODEL_TOO_LONG
            case Problem.BROKEN | Problem.MISCONFIGURED:
                return self._phrases.NO_MODEL
