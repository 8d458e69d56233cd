"""Talks to a model's server over HTTP, in the dialect of OpenAI that all of them speak.

Rules:
- Each request has a connection of its own, which is closed as soon as nobody wants more of the answer: the server
  then stops generating. None is kept for later, so that a server which was restarted is never mistaken for broken.
- Time counts from word to word. Comments, reasoning and empty pieces keep a connection open, and prove nothing.
- A server may not send us elsewhere, and its answers are bounded in time and in length.
- A key goes into one header, and into no message.
"""

import asyncio
import math
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp

from appliance.errors import ApplianceError
from appliance.thinking.completion import CompletionDecoder, Finished
from appliance.thinking.faults import explained
from appliance.thinking.lookup import SystemLookup
from appliance.thinking.modellist import parse_models
from appliance.thinking.prompt import Message
from appliance.thinking.refusals import parse_retry_after, redirected, refused
from appliance.thinking.server import Problem, Server, ServerError
from appliance.thinking.sse import LONGEST

T = TypeVar("T")

_SHORT = 1 << 16
"""Bytes of an error that are looked at."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a server may take."""

    connect: float = 0.5
    models: float = 0.5
    """To say which models it has, once it is connected."""
    first_token: float = 300.0
    """From the request to the first word. Ollama gives the loading of a model as long, and begins anew when the client
    goes away: whoever cannot wait had better leave the request alone."""
    between_tokens: float = 10.0
    total: float = 600.0
    """From the request to the last word."""


class LlmClient:
    """Asks servers, while it is entered.

    `keys` gives the key to show to a server, empty for none; it may raise ServerError. `ca_file` holds certificates
    that are trusted besides the system's; ApplianceError on entering when it does not.
    """

    def __init__(
        self,
        timeouts: Timeouts = Timeouts(),
        keys: Callable[[Server], str] = lambda _: "",
        ca_file: Path | None = None,
    ) -> None:
        self._timeouts = timeouts
        self._keys = keys
        self._ca_file = ca_file
        self._first_models: dict[str, str] = {}
        self._session: aiohttp.ClientSession
        self._lookup: SystemLookup

    async def __aenter__(self) -> Self:
        trusted = _trusting(self._ca_file) if self._ca_file else True
        self._lookup = SystemLookup()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=trusted, resolver=self._lookup, use_dns_cache=False, force_close=True, limit=0
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "identity", "User-Agent": "voice-appliance"},
            timeout=aiohttp.ClientTimeout(total=None, connect=self._timeouts.connect),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._session.close()
        await self._lookup.close()

    async def models(self, server: Server) -> list[str]:
        """The models that `server` has, those that are ready to chat first. Raises ServerError."""
        patience = _Patience("does not say which models it has", self._timeouts.connect + self._timeouts.models)
        async with self._asking(patience, server, "/models") as response:
            body = bytearray()
            await patience.wait(_read(response, LONGEST, body))
            models = parse_models(bytes(body))
        self._first_models[server.url] = models[0] if models else ""
        return models

    async def chat(
        self, server: Server, messages: Sequence[Message], options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[str, None]:
        """The answer of `server`, piece by piece. ServerError: there is none, or no more of it.

        `options` are further fields of the request, such as max_tokens. To close the generator, or to cancel who waits
        for it, closes the connection at once.
        """
        model = server.model or self._first_models.get(server.url) or (await self.models(server) or [""])[0]
        if not model:
            raise ServerError(Problem.MISCONFIGURED, "has no model")
        request = {**(options or {}), "model": model, "messages": [asdict(each) for each in messages], "stream": True}
        patience = _Patience("says nothing", self._timeouts.first_token, self._timeouts.total)
        async with self._asking(patience, server, "/chat/completions", request) as response:
            decoder = CompletionDecoder()
            while data := await patience.wait(response.content.readany()):
                for part in decoder.feed(data):
                    if isinstance(part, Finished):
                        return
                    yield part.text
                    patience.renew("fell silent in the middle of its answer", self._timeouts.between_tokens)
            for part in decoder.finish():
                if isinstance(part, Finished):
                    return
                yield part.text

    @asynccontextmanager
    async def _asking(
        self, patience: "_Patience", server: Server, path: str, request: object = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer with the status 200; with a `request`, to that."""
        key = self._keys(server)
        with explained(key):
            response = await patience.wait(
                self._session.request(
                    "GET" if request is None else "POST",
                    server.url + path,
                    json=request,
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                    allow_redirects=False,
                )
            )
            try:
                if response.status != 200:
                    raise await self._refusal(response, key)
                yield response
            finally:
                response.close()

    async def _refusal(self, response: aiohttp.ClientResponse, key: str) -> ServerError:
        headers = response.headers
        if 300 <= response.status < 400:
            return redirected(response.status, headers.get("Location", ""))
        body = bytearray()
        with suppress(TimeoutError, aiohttp.ClientError):  # what has come by then is enough
            async with asyncio.timeout(self._timeouts.models):
                await _read(response, _SHORT, body)
        if key:
            body = body.replace(key.encode(), b"...")
        wait = parse_retry_after(headers.get("Retry-After", ""), headers.get("Date", ""))
        return refused(response.status, bytes(body), wait)


class _Patience:
    """How long a server may go on without doing what it has to; that, when it is over, is a ServerError."""

    def __init__(self, complaint: str, seconds: float, total: float = math.inf) -> None:
        self._total = total
        self._end = asyncio.get_running_loop().time() + total
        self.renew(complaint, seconds)

    def renew(self, complaint: str, seconds: float) -> None:
        """It has done so; `complaint` is what it does, if it does not again in `seconds`."""
        self._complaint = f"{complaint} for {seconds:g} s"
        self._until = asyncio.get_running_loop().time() + seconds

    async def wait(self, answer: Awaitable[T]) -> T:
        """What is waited for."""
        limit = asyncio.timeout_at(min(self._until, self._end))
        try:
            async with limit:
                return await answer
        except TimeoutError as error:
            if not limit.expired():  # but the connection, as the kernel sees it
                raise
            late = f"is not done after {self._total:g} s" if self._end < self._until else self._complaint
            raise ServerError(Problem.BROKEN, late) from error


async def _read(response: aiohttp.ClientResponse, limit: int, body: bytearray) -> None:
    """All of the answer, or what is more than `limit`."""
    while len(body) <= limit and (data := await response.content.readany()):
        body += data


def _trusting(ca_file: Path) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which home-made certificates rarely stand, from Python 3.13 on
    try:
        context.load_verify_locations(ca_file)
    except OSError as error:  # of which those of TLS are some
        raise ApplianceError(
            str(ca_file),
            f"no certificates can be read from it: {error.strerror or error}",
            allowed="a file of certificates in PEM format",
        ) from error
    return context
