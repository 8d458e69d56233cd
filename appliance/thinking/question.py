"""One question on its way through the servers.

Rules:
- As long as nothing was said another server may be asked. What a server says counts from its first clause on, since
  nothing of that is spoken before it is complete. Where no other server answers, or not in time, a whole sentence is
  better than none, whatever becomes of the rest.
- A server whose model cannot take the whole conversation is told less of it, down to the question alone. One that
  reaches the end of what its model can take in the middle of its answer is at the end of its answer.
- What has nothing in it that can be spoken is no answer.
- One that says nothing for OVERTAKE seconds may have too much to do, and let us wait without a word as llama.cpp does,
  or load its model. Another one is asked besides, and who speaks first answers. The one that was overtaken is left
  until it speaks, since loading would begin anew if it were asked again, and others come before it for a while. So is
  one that nobody waits for any more. One question at a time is left to a server: the first, whose loading has begun.
- One that was left, and says something, and then does not come to a clause, is broken.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol

from appliance.core.clauses import ClauseSplitter, is_spoken, is_whole
from appliance.thinking.choosing import Chooser
from appliance.thinking.prompt import Message
from appliance.thinking.search import NoServerError, Search
from appliance.thinking.server import Problem, Server, ServerError

_log = logging.getLogger(__name__)

TOKENS = 300
"""Of a reply at most: a minute and a half of speech. Small models never end by themselves."""

OVERTAKE = 2.0

LEFT_ALONE = 15.0
"""Seconds in which others come before one that was overtaken, unless it speaks."""

CLAUSE = 5.0
"""Seconds from its first word within which one that was left has to come to a clause."""


class Client(Protocol):
    """Who talks to servers."""

    def chat(
        self, server: Server, messages: Sequence[Message], options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[str, None]:
        """The reply, as it comes. Raises ServerError; closing it closes the connection."""


class Wait:
    """The servers are busy or warming up, and are asked again after a pause."""


class _Attempt:
    """A server that is asked. Made in the event loop."""

    def __init__(self, server: Server) -> None:
        self.server = server
        loop = asyncio.get_running_loop()
        self.begins: asyncio.Future[None] = loop.create_future()
        """There is a word."""
        self.counts: asyncio.Future[None] = loop.create_future()
        """Something can be spoken, or all is over."""
        self.words = ""
        """What was said before that counted."""
        self._splitter = ClauseSplitter()
        self._hear: Callable[[str], None] | None = None

    def take(self, piece: str) -> None:
        """It has said more."""
        if self._hear is not None:
            self._hear(piece)
            return
        self.words += piece
        if not self.begins.done():
            self.begins.set_result(None)
        if any(is_spoken(clause) for clause in self._splitter.feed(piece)):
            self.count()

    def count(self) -> None:
        """What it has said is taken as it is."""
        if not self.counts.done():
            self.counts.set_result(None)

    def hear(self, hear: Callable[[str], None]) -> None:
        """Give all that it has said, and will say, to `hear`."""
        hear(self.words)
        self._hear = hear


class Question:
    """Goes through the servers once, and again when `looking` is over if none was there.

    `leave` runs what goes on with the server of that URL when the question is over, unless that is so already.
    """

    def __init__(
        self,
        client: Client,
        chooser: Chooser,
        tellings: Sequence[Sequence[Message]],
        leave: Callable[[str, Callable[[], Coroutine[Any, Any, None]]], bool],
        looking: asyncio.Task[None],
    ) -> None:
        self._looking = looking
        self._client = client
        self._tellings = tellings
        self._leave = leave
        self._chooser = chooser
        self._search = self._new_search()
        self._attempts: dict[asyncio.Task[None], _Attempt] = {}
        self._sentence: tuple[_Attempt, ServerError] | None = None
        """A server that broke off after a whole one."""
        self._seeking: asyncio.Task[Server] | None = None
        self._was_asked = False
        """Some server was."""
        self.news: asyncio.Queue[str | Wait | NoServerError | ServerError | None] = asyncio.Queue()
        """Pieces of the reply, why there are no more, or None at its end."""
        self.by = ""
        """The server that answers; empty before its first word."""

    def settle(self) -> bool:
        """Nobody waits for longer: take a whole sentence that is there for the beginning. Whether there is one."""
        for attempt in self._attempts.values():
            if _is_sentence(attempt.words) and not attempt.counts.done():
                attempt.words += "\n"
                attempt.count()
        if any(attempt.counts.done() for attempt in self._attempts.values()):
            return True
        if self._sentence is None:
            return False
        attempt, error = self._sentence
        self._tell(attempt)
        self.news.put_nowait(error)
        return True

    def abandon(self) -> None:
        """Nobody waits for the reply any more: who is asked is left until it speaks. `run` is to be cancelled."""
        self._leave_all_but(None)

    async def run(self) -> None:
        """Until the reply is over. To cancel it closes all connections at once."""
        try:
            found = await self._first_word()
            nobody = isinstance(found, NoServerError) and found.problem in (None, Problem.BROKEN)
            if nobody and not self._was_asked:
                await asyncio.wait({self._looking})
                self._search = self._new_search()
                found = await self._first_word()
            if isinstance(found, asyncio.Task):
                await self._hear(found, self._attempts[found])
            elif self._sentence is not None:
                attempt, error = self._sentence
                self._tell(attempt)
                self.news.put_nowait(error)
            else:
                self.news.put_nowait(found)
        except Exception as fault:  # noqa: BLE001  whatever it is, who waits has to hear something
            _log.exception("asking the language model failed")
            self.news.put_nowait(ServerError(Problem.BROKEN, f"cannot be asked: {fault!r}"))
        finally:
            await _end(self._seeking, *self._attempts)

    async def _hear(self, task: "asyncio.Task[None]", attempt: _Attempt) -> None:
        self._search.answered(attempt.server)
        self._leave_all_but(task)
        self._tell(attempt)
        await asyncio.wait({task})
        error = _why_not(task)
        if error is not None:
            self._search.failed(error, attempt.server)
        self.news.put_nowait(error)

    def _tell(self, attempt: _Attempt) -> None:
        self.by = attempt.server.name
        attempt.hear(self.news.put_nowait)

    async def _first_word(self) -> "asyncio.Task[None] | NoServerError | ServerError":
        """The attempt that speaks first; or why there is none."""
        too_long: ServerError | None = None
        none: NoServerError | None = None
        self._seek()
        while self._seeking or self._attempts:
            counting = [attempt.counts for attempt in self._attempts.values()]
            at_work = {*self._attempts, *counting, *({self._seeking} if self._seeking else ())}
            patience = None if self._seeking or none else OVERTAKE
            done, _ = await asyncio.wait(at_work, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                self._seek()
            if self._seeking in done and self._seeking is not None:
                try:
                    self._begin(self._seeking.result())
                except NoServerError as error:
                    none = error
                self._seeking = None
            for task, attempt in list(self._attempts.items()):
                if attempt.counts.done():
                    return task
                if task.done() and (failure := _why_not(task)) is not None:
                    del self._attempts[task]
                    self._search.waiting_for.discard(attempt.server.url)
                    self._search.failed(failure, attempt.server)
                    too_long = failure if failure.problem is Problem.TOO_LONG else too_long
                    if _is_sentence(attempt.words):
                        self._sentence = attempt, failure
                    self._seek()
        return too_long or none or NoServerError(None, "nobody was asked")

    def _new_search(self) -> Search:
        return Search(self._chooser, lambda: self.news.put_nowait(Wait()))

    def _seek(self) -> None:
        if self._seeking is None:
            self._seeking = asyncio.create_task(self._search.find_instance())

    def _begin(self, server: Server) -> None:
        self._was_asked = True
        self._search.waiting_for.add(server.url)
        attempt = _Attempt(server)
        self._attempts[asyncio.create_task(self._ask(attempt))] = attempt

    def _leave_all_but(self, speaker: "asyncio.Task[None] | None") -> None:
        overtaken = ServerError(Problem.AT_CAPACITY, "says nothing for a while", LEFT_ALONE)
        for task in self._attempts.keys() - {speaker}:
            attempt = self._attempts.pop(task)
            self._search.failed(overtaken, attempt.server)
            if not self._leave(attempt.server.url, partial(self._until_it_speaks, task, attempt)):
                task.cancel()

    async def _until_it_speaks(self, task: "asyncio.Task[None]", attempt: _Attempt) -> None:
        try:
            await asyncio.wait({task, attempt.begins}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({task, attempt.counts}, timeout=CLAUSE, return_when=asyncio.FIRST_COMPLETED)
            error = _why_not(task) if task.done() else None
            if error is None and not attempt.counts.done():
                error = ServerError(Problem.BROKEN, f"comes to no clause in {CLAUSE:g} s")
            if error is None:
                self._search.answered(attempt.server)
            else:
                self._search.failed(error, attempt.server)
        finally:
            await _end(task)

    async def _ask(self, attempt: _Attempt) -> None:
        """Until all is said. Raises ServerError."""
        async with aclosing(self._chat(attempt.server)) as pieces:
            async for piece in pieces:
                attempt.take(piece)
        if not is_spoken(attempt.words):
            raise ServerError(Problem.BROKEN, "gives an empty answer")
        attempt.count()

    async def _chat(self, server: Server) -> AsyncGenerator[str, None]:
        """The reply to as much as the server can take. Raises ServerError."""
        for messages in self._tellings:
            said = False
            try:
                async with aclosing(self._client.chat(server, messages, {"max_tokens": TOKENS})) as pieces:
                    async for piece in pieces:
                        said = True
                        yield piece
            except ServerError as error:
                if error.problem is not Problem.TOO_LONG or (messages is self._tellings[-1] and not said):
                    raise
                if not said:
                    continue
            return


def _is_sentence(words: str) -> bool:
    return is_whole(words) and is_spoken(words)


def _why_not(task: "asyncio.Task[None]") -> ServerError | None:
    """Why a server did not say all; None if it did."""
    error = task.exception()
    if error is not None and not isinstance(error, ServerError):
        raise error
    return error


async def _end(*tasks: "asyncio.Task[Any] | None") -> None:
    for task in tasks:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, NoServerError | ServerError):
                _log.error("what nobody waits for failed", exc_info=error)
