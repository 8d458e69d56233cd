"""An answer by a language model on the LAN, or an honest sentence instead.

Rules:
- Whatever happens, the first words come within the patience: of the model, or of what stands in its way.
- Somebody who has to wait for longer than a moment, or for a server that is busy or warming up, is told so.
- A reply that breaks off ends with a sentence that says so.
- A server that takes long to its first word may be loading its model. It is left to that, though nobody waits any more;
  loading would begin anew if it were asked again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any

from appliance.core.clauses import ClauseSplitter, is_whole
from appliance.thinking.choosing import Chooser, Sight
from appliance.thinking.history import History
from appliance.thinking.phrases import Phrases
from appliance.thinking.prompt import Message
from appliance.thinking.question import Client, Question, Wait
from appliance.thinking.server import Problem

_log = logging.getLogger(__name__)

MOMENT = 1.5
"""Seconds after which somebody who waits is told so."""

VOICE = 0.4
"""Seconds that the voice takes for the first sound, which the patience includes."""


class LanModel:
    """Belongs to the event loop. `tell` gives the messages that the model is told, and then those that it is told
    instead if they are too many; `patience` is in seconds; `refresh` has servers looked for again."""

    def __init__(
        self,
        client: Client,
        chooser: Chooser,
        phrases: Phrases,
        tell: Callable[[History], Iterable[Sequence[Message]]],
        patience: float,
        refresh: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._refresh = refresh
        self._client = client
        self._chooser = chooser
        self._phrases = phrases
        self._tell = tell
        self._patience = patience
        self._left: set[asyncio.Task[None]] = set()
        self._speaks_to: set[str] = set()
        """URLs of servers that are left until they speak."""
        self.answered_by = ""
        """The server that worded the last reply; empty if none did."""

    async def words(self, history: History) -> AsyncGenerator[str, None]:
        """The reply to the last question, piece by piece. Closing it ends the question."""
        loop = asyncio.get_running_loop()
        self.answered_by = ""
        looking = asyncio.create_task(self._look_again())
        self._keep_task(looking)
        asked = Question(self._client, self._chooser, list(self._tell(history)), self._leave, looking)
        task = asyncio.create_task(asked.run())
        moment, limit = loop.time() + MOMENT, loop.time() + self._patience - VOICE
        told = said = False
        try:
            while True:
                until = limit if told else min(moment, limit)
                try:
                    async with asyncio.timeout_at(None if said else until):
                        news = await asked.news.get()
                except TimeoutError:
                    if until == limit and asked.settle():
                        said = True
                        continue
                    if until == limit:
                        asked.abandon()
                        yield self._phrases.MODEL_SLOW
                        return
                    news = Wait()
                if news is None:
                    return
                if isinstance(news, Wait):
                    if not told and not said:
                        told = True
                        yield self._phrases.ONE_MOMENT + "\n"
                    continue
                if isinstance(news, str):
                    if told and not said:
                        news = _with_a_clause_of_its_own(news)
                    said = True
                    self.answered_by = asked.by
                    yield news
                    continue
                yield "\n" + self._phrases.BROKE_OFF if said else self._excuse(news.problem)
                return
        finally:
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

    async def _look_again(self) -> None:
        try:
            await self._refresh()
        except Exception:  # noqa: BLE001  what is known can be asked all the same
            _log.exception("servers could not be looked for again")

    def _leave(self, url: str, work: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Whether it is left to `work`, since no earlier question is left to that server."""
        if url in self._speaks_to:
            return False
        self._speaks_to.add(url)
        task = asyncio.create_task(work())
        task.add_done_callback(lambda _: self._speaks_to.discard(url))
        self._keep_task(task)
        return True

    def _keep_task(self, task: "asyncio.Task[None]") -> None:
        """It goes on when the question is over."""
        self._left.add(task)
        task.add_done_callback(self._left.discard)

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


def _with_a_clause_of_its_own(words: str) -> str:
    """The voice has begun with something else, and would not speak a first clause before its sentence is over."""
    first = next(iter(ClauseSplitter().feed(words)), None)
    if first is None or is_whole(first):
        return words
    return f"{first}\n{words.lstrip().removeprefix(first).lstrip()}"
