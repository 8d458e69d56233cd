"""The client against a server that does exactly what it is told."""

import asyncio
import gzip
import json
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import ApplianceError
from appliance.thinking.llm import LlmClient, Timeouts
from appliance.thinking.prompt import Message
from appliance.thinking.server import Problem, Server, ServerError, Source
from tests.thinking.scripted import Connection, Script, Scripted, in_real_time

PATIENT = Timeouts(connect=20.0, models=20.0, first_token=20.0, between_tokens=20.0, total=20.0)
"""So much that only a busy machine could take it."""

SHORT = 0.2
"""What is given to what never comes."""

QUESTION = [Message("user", "Good morning?")]
TLS = Path(__file__).parent / "tls"


async def collect(client: LlmClient, server: Server, said: list[str], **options: Any) -> None:
    async with aclosing(client.chat(server, QUESTION, options)) as answer:
        async for piece in answer:
            said += [piece]


async def ask(server: Server, timeouts: Timeouts = PATIENT, **options: Any) -> str:
    said: list[str] = []
    async with LlmClient(timeouts) as client:
        await collect(client, server, said, **options)
    return "".join(said)


async def refusal(script: Script, timeouts: Timeouts = PATIENT) -> tuple[str, ServerError]:
    """What is said before the server fails, and how it fails."""
    said: list[str] = []
    async with Scripted(script) as server, LlmClient(timeouts) as client:
        with pytest.raises(ServerError) as caught:
            await collect(client, server.server(), said)
        for connection in server.connections:
            await connection.gone.wait()
    return "".join(said), caught.value


def answering(status: int, body: bytes = b"", *headers: str) -> Script:
    return lambda connection: connection.answer(status, body, *headers)


@in_real_time
async def test_an_answer_comes_piece_by_piece() -> None:
    go_on = asyncio.Event()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.say("Good")
        await go_on.wait()
        await connection.say(" morning.")
        await connection.finish()

    async with Scripted(script) as server, LlmClient(PATIENT) as client:
        answer = client.chat(server.server(), QUESTION)
        assert await anext(answer) == "Good"
        go_on.set()
        assert [piece async for piece in answer] == [" morning."]


@in_real_time
async def test_what_is_asked_is_what_every_server_understands() -> None:
    messages = [Message("system", "Be brief."), Message("user", "Grüß Gott?")]
    async with Scripted() as server, LlmClient(PATIENT) as client:
        answer = client.chat(server.server("that one"), messages, {"max_tokens": 100, "stream": False})
        assert "".join([piece async for piece in answer]) == "Good morning."
        (connection,) = server.connections
    assert connection.path == "POST /v1/chat/completions"
    assert json.loads(connection.body) == {
        "model": "that one",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüß Gott?"}],
        "max_tokens": 100,
        "stream": True,
    }
    assert connection.headers["content-type"] == "application/json"
    assert connection.headers["accept-encoding"] == "identity"
    assert "authorization" not in connection.headers


@in_real_time
async def test_a_server_without_a_named_model_is_asked_for_its_first() -> None:
    async with Scripted() as server, LlmClient(PATIENT) as client:
        for _ in range(2):
            assert [piece async for piece in client.chat(server.server(model=""), QUESTION)] == ["Good", " morning."]
        asked = [connection.path for connection in server.connections]
        assert json.loads(server.connections[-1].body)["model"] == "a model"
    assert asked == ["GET /v1/models", "POST /v1/chat/completions", "POST /v1/chat/completions"]


@in_real_time
async def test_a_server_without_any_model_is_the_owners_to_mend() -> None:
    async with Scripted(answering(200, b'{"object": "list", "data": null}')) as server:
        with pytest.raises(ServerError, match="has no model") as caught:
            await ask(server.server(model=""))
    assert caught.value.problem is Problem.MISCONFIGURED


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (401, b'{"error": {"message": "Invalid API Key"}}', Problem.MISCONFIGURED),
        (403, b"", Problem.MISCONFIGURED),
        (404, b'{"error": {"message": "model \'a model\' not found"}}', Problem.MISCONFIGURED),
        (404, b"404 page not found", Problem.MISCONFIGURED),
        (400, b'{"error": {"message": "exceeds the available context size"}}', Problem.TOO_LONG),
        (429, b"", Problem.AT_CAPACITY),
        (500, b"<html>", Problem.BROKEN),
        (503, b'{"error": {"message": "server busy, please try again."}}', Problem.AT_CAPACITY),
        (503, b'{"error": {"message": "The server is overloaded."}}', Problem.AT_CAPACITY),
        (503, b'{"error": {"message": "Loading model", "code": 503}}', Problem.WARMING),
        (204, b"", Problem.BROKEN),
    ],
)
@in_real_time
async def test_another_status_than_200_is_a_problem(status: int, body: bytes, problem: Problem) -> None:
    said, error = await refusal(answering(status, body))
    assert (said, error.problem, error.retry_after) == ("", problem, None)
    assert error.detail.startswith(f"answers {status}: ")
    async with Scripted(answering(status, body)) as server, LlmClient(PATIENT) as client:
        with pytest.raises(ServerError) as caught:
            await client.models(server.server())
    assert caught.value.problem is problem


@in_real_time
async def test_a_busy_server_says_when_to_come_again() -> None:
    _, error = await refusal(answering(429, b"", "Retry-After: 7"))
    assert error.retry_after == 7.0
    date = "Wed, 21 Oct 2015 07:28:"
    _, error = await refusal(answering(503, b"", f"Date: {date}00 GMT", f"Retry-After: {date}30 GMT"))
    assert error.retry_after == 30.0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@in_real_time
async def test_nobody_sends_us_elsewhere(status: int) -> None:
    async with Scripted() as elsewhere:
        target = elsewhere.server().url
        for path in ("/chat/completions", "/models"):
            script = answering(status, b"", f"Location: {target}{path}")
            async with Scripted(script) as server, LlmClient(PATIENT) as client:
                models = path == "/models"
                asking = client.models(server.server()) if models else collect(client, server.server(), [])
                with pytest.raises(ServerError, match=f"answers {status}: it sends us to {target}") as caught:
                    await asking
                assert caught.value.problem is Problem.MISCONFIGURED
        assert elsewhere.connections == []


def in_turn(*steps: Script) -> Script:
    async def script(connection: Connection) -> None:
        for step in steps:
            await step(connection)

    return script


async def begin(connection: Connection) -> None:
    await connection.begin()


async def say_good(connection: Connection) -> None:
    await connection.say("Good")


async def hang(connection: Connection) -> None:
    await connection.hang()


async def half_a_header(connection: Connection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/ev")
    await connection.hang()


async def half_a_token(connection: Connection) -> None:
    await connection.chunk(b'data: {"choices": [{"delta": {"content": "Go')
    await connection.hang()


async def trickle(connection: Connection) -> None:
    for byte in b'data: {"choices": [{"delta": {"content": "Good' + b"d" * 1_000_000:
        await connection.chunk(bytes([byte]))
        await asyncio.sleep(0.005)


def repeat(send: Callable[[Connection], Awaitable[None]]) -> Script:
    async def script(connection: Connection) -> None:
        while True:
            await send(connection)
            await asyncio.sleep(0.005)

    return script


def repeat_event(**content: object) -> Script:
    choice = {"index": 0, "delta": content, "finish_reason": None}
    return repeat(lambda connection: connection.event({"choices": [choice]}))


WORDLESS = {
    "silence": hang,
    "half a token": half_a_token,
    "a trickle": trickle,
    "comments": repeat(lambda connection: connection.chunk(b": ping\n\n")),
    "empty lines": repeat(lambda connection: connection.chunk(b"\n\n")),
    "roles": repeat_event(role="assistant", content=None),
    "empty pieces": repeat_event(content=""),
    "reasoning": repeat_event(reasoning_content="Hm"),
    "tags": repeat_event(content="<think>Hm"),
    "tool calls": repeat_event(tool_calls=[{"index": 0}]),
    "usage": repeat(lambda connection: connection.event({"choices": [], "usage": {"total_tokens": 1}})),
}
"""What a server may do instead of going on."""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(hang, id="no header"),
        pytest.param(half_a_header, id="half a header"),
        *(pytest.param(in_turn(begin, script), id=name) for name, script in WORDLESS.items()),
        pytest.param(in_turn(begin, repeat_event(content=" \n")), id="white space"),
    ],
)
@in_real_time
async def test_only_a_word_is_a_first_token(script: Script) -> None:
    said, error = await refusal(script, Timeouts(20.0, 20.0, first_token=SHORT, between_tokens=20.0, total=20.0))
    assert (said, error.problem, error.detail) == ("", Problem.BROKEN, f"says nothing for {SHORT:g} s")


@pytest.mark.parametrize("script", [pytest.param(script, id=name) for name, script in WORDLESS.items()])
@in_real_time
async def test_a_server_that_falls_silent_is_left(script: Script) -> None:
    timeouts = Timeouts(20.0, 20.0, 20.0, between_tokens=SHORT, total=20.0)
    said, error = await refusal(in_turn(begin, say_good, script), timeouts)
    assert (said, error.problem) == ("Good", Problem.BROKEN)
    assert error.detail == f"fell silent in the middle of its answer for {SHORT:g} s"


@in_real_time
async def test_an_answer_without_end_is_left() -> None:
    script = in_turn(begin, repeat(lambda connection: connection.say("and ")))
    said, error = await refusal(script, Timeouts(20.0, 20.0, 20.0, 20.0, total=SHORT))
    assert said.startswith("and ")
    assert (error.problem, error.detail) == (Problem.BROKEN, f"is not done after {SHORT:g} s")


@in_real_time
async def test_the_time_that_we_take_is_not_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.say("Good")
        await go_on.wait()
        await connection.say(" morning.")
        await connection.finish()

    loop = asyncio.get_running_loop()
    time = loop.time
    async with Scripted(script) as server, LlmClient(Timeouts(20.0, 20.0, 20.0, 5.0, 20.0)) as client:
        answer = client.chat(server.server(), QUESTION)
        assert await anext(answer) == "Good"
        monkeypatch.setattr(loop, "time", lambda: time() + 6.0)
        go_on.set()
        assert [piece async for piece in answer] == [" morning."]


@in_real_time
async def test_an_error_whose_text_never_comes_is_an_error() -> None:
    async def script(connection: Connection) -> None:
        await connection.send(b"HTTP/1.1 503 No\r\nContent-Length: 1000\r\n\r\nLoading model")
        await connection.hang()

    _, error = await refusal(script, Timeouts(20.0, SHORT, 20.0, 20.0, 20.0))
    assert (error.problem, error.detail) == (Problem.WARMING, "answers 503: Loading model")


@pytest.mark.parametrize("script", [hang, half_a_header, in_turn(begin, hang)])
@in_real_time
async def test_a_list_that_never_comes_is_not_waited_for(script: Script) -> None:
    async with Scripted(script) as server, LlmClient(Timeouts(connect=10.0, models=SHORT - 10.0)) as client:
        with pytest.raises(ServerError, match=f"does not say which models it has for {SHORT:g} s") as caught:
            await client.models(server.server())
    assert caught.value.problem is Problem.BROKEN


async def is_reset(connection: Connection) -> None:
    connection.reset()


async def closes(_: Connection) -> None:
    """The connection is closed after this."""


async def half_a_chunk(connection: Connection) -> None:
    await connection.send(b"ff\r\ndata: {")


async def last_chunk(connection: Connection) -> None:
    await connection.send(b"0\r\n\r\n")


async def error_event(connection: Connection) -> None:
    await connection.event({"error": {"message": "out of memory", "code": 500}})
    await connection.hang()


GOOD = b'data: {"choices": [{"delta": {"content": "Good"}}]}\n\n'


def sends(data: bytes) -> Script:
    return lambda connection: connection.send(data)


MIDDLE = "breaks off in the middle of its answer"


@pytest.mark.parametrize(
    ("script", "said", "detail"),
    [
        (is_reset, "", "breaks the connection: Connection reset by peer"),
        (closes, "", "closes the connection without an answer"),
        (in_turn(begin, say_good, closes), "Good", MIDDLE),
        (in_turn(begin, say_good, half_a_chunk), "Good", MIDDLE),
        (in_turn(begin, say_good, last_chunk), "Good", MIDDLE),
        (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + GOOD), "Good", MIDDLE),
        (sends(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD), "Good", MIDDLE),
        (in_turn(begin, say_good, error_event), "Good", "breaks off: out of memory"),
        (in_turn(sends(b"220 mail.example ESMTP\r\n"), hang), "", "does not speak HTTP"),
        (
            in_turn(sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"), hang),
            "",
            "does not speak HTTP",
        ),
        (in_turn(sends(b"HTTP/1.1 200 OK\r\nX: "), repeat(sends(b"x" * 10_000))), "", "does not speak HTTP"),
        (
            in_turn(begin, say_good, repeat(lambda connection: connection.chunk(b"x" * 100_000))),
            "Good",
            "sends what is no answer: a line is longer than 1,048,576 bytes",
        ),
        (answering(200, b"<!doctype html><title>Log in"), "", "sends what is no answer: a web page"),
        (answering(200, b"Hello"), "", "sends no answer at all"),
        (answering(200, b""), "", "sends no answer at all"),
        (answering(200, b"Good morning.", "Content-Encoding: gzip"), "", MIDDLE),
    ],
)
@in_real_time
async def test_what_breaks_is_broken_and_what_was_said_is_not_lost(script: Script, said: str, detail: str) -> None:
    found, error = await refusal(script)
    assert (found, error.problem, error.detail) == (said, Problem.BROKEN, detail)


@in_real_time
async def test_a_reset_in_the_middle_is_broken() -> None:
    reset = asyncio.Event()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.say("Good")
        await reset.wait()
        connection.reset()

    async with Scripted(script) as server, LlmClient(PATIENT) as client:
        answer = client.chat(server.server(), QUESTION)
        assert await anext(answer) == "Good"
        reset.set()
        with pytest.raises(ServerError, match=f"breaks the connection|{MIDDLE}") as caught:
            await anext(answer)
    assert caught.value.problem is Problem.BROKEN


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": [{"message": {"content": "Good morning."}, "finish_reason": "stop"}]}',
        b'\xef\xbb\xbf\n{"choices": [{"message": {"content": "Good morning."}}]}\n',
        b'data: {"choices": [{"delta": {"content": "Good morning."}, "finish_reason": "stop"}]}',
        b'data: {"choices": [{"delta": {"content": "Good morning."}}]}\r\n\r\ndata: [DONE]',
    ],
)
@in_real_time
async def test_a_server_may_answer_at_once(body: bytes) -> None:
    packed = gzip.compress(body)
    for script in (answering(200, body), answering(200, packed, "Content-Encoding: gzip")):
        async with Scripted(script) as server:
            assert await ask(server.server()) == "Good morning."


@in_real_time
async def test_nobody_there() -> None:
    async with Scripted() as server:
        gone = server.server()
    with pytest.raises(ServerError, match=r"cannot be reached: .*Connect") as caught:
        await ask(gone)
    assert caught.value.problem is Problem.BROKEN


@in_real_time
async def test_nobody_who_takes_a_connection() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):  # after which the kernel answers no more
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        server = Server("full", f"http://127.0.0.1:{full.getsockname()[1]}/v1", Source.CONFIGURED, model="m")
        with pytest.raises(ServerError, match="cannot be reached in time") as caught:
            await ask(server, Timeouts(connect=SHORT))
    assert caught.value.problem is Problem.BROKEN


@pytest.mark.parametrize(
    ("url", "problem", "detail"),
    [
        ("http://no-such-name.invalid/v1", Problem.BROKEN, "cannot be reached: .*"),
        (f"http://{'x' * 70}.invalid/v1", Problem.BROKEN, "cannot be reached: it is no name"),
        ("http://127.0.0.1:99999/v1", Problem.MISCONFIGURED, "has an address that cannot be used: .*"),
        ("ftp://127.0.0.1/v1", Problem.MISCONFIGURED, "has an address that cannot be used: .*"),
        ("nonsense", Problem.MISCONFIGURED, "has an address that cannot be used: .*"),
        ("http://127.1:80/v1", Problem.MISCONFIGURED, "has an address that cannot be used: .*"),
        ("http://", Problem.MISCONFIGURED, "has an address that cannot be used: .*"),
    ],
)
@in_real_time
async def test_an_address_that_leads_nowhere(url: str, problem: Problem, detail: str) -> None:
    with pytest.raises(ServerError, match=detail) as caught:
        await ask(Server("nowhere", url, Source.CONFIGURED, model="m"))
    assert caught.value.problem is problem


@in_real_time
async def test_a_server_may_go_by_a_name() -> None:
    async with Scripted() as server:
        named = Server("named", f"http://localhost:{server.port}/v1", Source.CONFIGURED)
        assert await ask(named) == "Good morning."
        assert server.connections[0].headers["host"] == f"localhost:{server.port}"


@pytest.mark.parametrize("script", [hang, half_a_header, in_turn(begin, hang), in_turn(begin, say_good, hang)])
@in_real_time
async def test_who_waits_and_is_cancelled_closes_the_connection_at_once(script: Script) -> None:
    async with Scripted(script) as server, LlmClient(PATIENT) as client:
        said: list[str] = []
        asking = asyncio.create_task(collect(client, server.server(), said))
        connection = await server.connection()
        await asyncio.sleep(0.02)  # now in one place, now in another
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await connection.gone.wait()


@in_real_time
async def test_who_wants_no_more_closes_the_connection_at_once() -> None:
    async with Scripted(in_turn(begin, repeat(say_good))) as server, LlmClient(PATIENT) as client:
        async with aclosing(client.chat(server.server(), QUESTION)) as answer:
            assert await anext(answer) == "Good"
        await server.connections[0].gone.wait()


@in_real_time
async def test_an_answer_that_is_over_is_not_waited_for() -> None:
    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.event({"choices": [{"delta": {"content": "Good"}, "finish_reason": "stop"}]})
        await connection.hang()

    async with Scripted(script) as server:
        assert await ask(server.server()) == "Good"
        await server.connections[0].gone.wait()


@in_real_time
async def test_an_answer_that_is_begun_ends_with_the_client() -> None:
    async with Scripted(in_turn(begin, say_good, hang)) as server:
        async with LlmClient(PATIENT) as client:
            answer = client.chat(server.server(), QUESTION)
            assert await anext(answer) == "Good"
        await server.connections[0].gone.wait()
        await answer.aclose()


@in_real_time
async def test_trials_that_are_given_up_leave_nothing_behind() -> None:
    async with Scripted(hang) as server, LlmClient(PATIENT) as client:
        for _ in range(30):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.005):
                    await client.models(server.server())
        for connection in server.connections:
            await connection.gone.wait()


@in_real_time
async def test_several_may_be_asked_at_once() -> None:
    async with Scripted() as server, LlmClient(PATIENT) as client:
        answers: list[list[str]] = [[] for _ in range(20)]
        await asyncio.gather(*(collect(client, server.server(), said) for said in answers))
        assert answers == [["Good", " morning."]] * 20


@pytest.mark.parametrize(
    ("body", "models"),
    [
        (b'{"data": [{"id": "b"}, {"id": "a", "object": "model", "meta": {"n_ctx": 512}}]}', ["b", "a"]),
        (b'{"data": [{"id": "text-embedding-nomic"}, {"id": "qwen"}]}', ["qwen", "text-embedding-nomic"]),
        (
            b'{"data": [{"id": "a", "status": {"value": "unloaded"}}, {"id": "b", "status": {"value": "loaded"}}]}',
            ["b", "a"],
        ),
        (b'{"data": [{"id": "a", "status": "ok"}]}', ["a"]),
        (b'{"object": "list", "data": null}', []),
        (b'{"object": "list", "data": []}', []),
    ],
)
@in_real_time
async def test_the_models_of_a_server(body: bytes, models: list[str]) -> None:
    async with Scripted(answering(200, body)) as server, LlmClient(PATIENT) as client:
        assert await client.models(server.server()) == models
        assert server.connections[0].path == "GET /v1/models"


@pytest.mark.parametrize(
    ("body", "problem", "detail"),
    [
        (b"<html>", Problem.BROKEN, "sends what is no list of models: <html>"),
        (b"", Problem.BROKEN, "sends what is no list of models:"),
        (b'{"data": [{"name": "a"}]}', Problem.BROKEN, 'sends what is no list of models: {"data": [{"name": "a"}]}'),
        (b"[" * 1000, Problem.BROKEN, "sends what is no list of models: " + "[" * 266 + "…"),
        (b" " * 2_000_000, Problem.BROKEN, "sends what is no list of models: more than 1,048,576 bytes"),
        (
            b'{"error": "Unexpected endpoint or method. (GET /models). Returning 200 anyway"}',
            Problem.MISCONFIGURED,
            "breaks off: Unexpected endpoint or method. (GET /models). Returning 200 anyway",
        ),
    ],
)
@in_real_time
async def test_what_is_no_list_of_models(body: bytes, problem: Problem, detail: str) -> None:
    async with Scripted(answering(200, body)) as server, LlmClient(PATIENT) as client:
        with pytest.raises(ServerError) as caught:
            await client.models(server.server())
    assert (caught.value.problem, caught.value.detail) == (problem, detail)


@in_real_time
async def test_a_list_without_end_is_left() -> None:
    script = in_turn(begin, repeat(lambda connection: connection.chunk(b" " * 100_000)))
    async with Scripted(script) as server, LlmClient(PATIENT) as client:
        with pytest.raises(ServerError, match="more than 1,048,576 bytes") as caught:
            await client.models(server.server())
        await server.connections[0].gone.wait()
    assert caught.value.problem is Problem.BROKEN


KEY = "sk-0123456789abcdef"


@in_real_time
async def test_a_key_is_shown_to_its_server_and_to_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []

    async def tells(connection: Connection) -> None:
        if connection.path.endswith("/models"):
            await connection.answer(401, f"{'x' * 270} {connection.headers['authorization']}".encode())
        else:
            await connection.begin()
            await connection.event({"error": f"who is {connection.headers['authorization']}"})

    async with Scripted() as other, Scripted(tells) as server:
        own = server.server()
        async with LlmClient(PATIENT, keys=lambda asked: KEY if asked.url == own.url else "") as client:
            await client.models(other.server())
            assert "authorization" not in other.connections[0].headers
            for asking in (client.models(own), collect(client, own, [])):
                with pytest.raises(ServerError) as caught:
                    await asking
                told += [caught.value.detail, str(caught.value), repr(client.__dict__)]
        assert [each.headers["authorization"] for each in server.connections] == [f"Bearer {KEY}"] * 2
    assert "sk-0" not in "".join(told) + caplog.text
    assert "who is Bearer …" in told[3]


@in_real_time
async def test_a_key_that_cannot_be_read_is_the_owners_to_mend() -> None:
    def keys(_: Server) -> str:
        raise ServerError(Problem.MISCONFIGURED, "its key file is empty")

    async with Scripted() as server, LlmClient(PATIENT, keys) as client:
        for asking in (client.models(server.server()), collect(client, server.server(), [])):
            with pytest.raises(ServerError, match="its key file is empty"):
                await asking
        assert server.connections == []


def encrypted(certificate: str, host: str = "127.0.0.1") -> Scripted:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / f"{certificate}.pem")
    return Scripted(host=host, tls=context)


@in_real_time
async def test_a_certificate_of_the_owners_is_as_good_as_any() -> None:
    async with encrypted("valid") as server, LlmClient(PATIENT, ca_file=TLS / "ca.pem") as client:
        for host in ("127.0.0.1", "localhost"):
            named = Server("named", f"https://{host}:{server.port}/v1", Source.CONFIGURED)
            assert [piece async for piece in client.chat(named, QUESTION)] == ["Good", " morning."]


@pytest.mark.parametrize(
    ("certificate", "ca_file", "problem", "detail"),
    [
        ("valid", None, Problem.MISCONFIGURED, "has a certificate that is not trusted: .*issuer"),
        ("expired", TLS / "ca.pem", Problem.MISCONFIGURED, "has a certificate that is not trusted: .*expired"),
        ("future", TLS / "ca.pem", Problem.BROKEN, "has a certificate that is not trusted: .*not yet valid"),
    ],
)
@in_real_time
async def test_a_certificate_that_is_not_trusted(
    certificate: str, ca_file: Path | None, problem: Problem, detail: str
) -> None:
    async with encrypted(certificate) as server, LlmClient(PATIENT, ca_file=ca_file) as client:
        with pytest.raises(ServerError, match=detail) as caught:
            await client.models(server.server())
    assert caught.value.problem is problem


@in_real_time
async def test_a_certificate_for_another_name_is_not_trusted() -> None:
    async with encrypted("valid", "127.0.0.2") as server, LlmClient(PATIENT, ca_file=TLS / "ca.pem") as client:
        with pytest.raises(ServerError, match=r"not trusted: .*mismatch") as caught:
            await client.models(server.server())
    assert caught.value.problem is Problem.MISCONFIGURED


@in_real_time
async def test_a_server_without_tls_is_not_taken_for_one_with() -> None:
    async with Scripted(reads=False, script=sends(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as server:
        with pytest.raises(ServerError, match="cannot be talked to over TLS: ") as caught:
            await ask(Server("plain", f"https://127.0.0.1:{server.port}/v1", Source.CONFIGURED, model="m"))
    assert caught.value.problem is Problem.BROKEN


@pytest.mark.parametrize("name", ["missing", "nonsense", "empty"])
@in_real_time
async def test_a_file_without_certificates_is_told_of_at_the_start(name: str, tmp_path: Path) -> None:
    (tmp_path / "nonsense").write_text("-----BEGIN CERTIFICATE-----\nx\n")
    (tmp_path / "empty").touch()
    with pytest.raises(ApplianceError, match=f"{name}: no certificates can be read from it"):
        await LlmClient(ca_file=tmp_path / name).__aenter__()
