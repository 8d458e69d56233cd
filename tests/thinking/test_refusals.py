"""What the errors of real servers mean."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from appliance.thinking.refusals import LONGEST, one_line, parse_retry_after, redirected, refused, refused_midway
from appliance.thinking.server import Problem

CONTEXT = "request (2031 tokens) exceeds the available context size (512 tokens), try increasing it"
OVERLOADED = "The server is overloaded. Please try again later."


@pytest.mark.parametrize(
    ("status", "body", "problem", "detail"),
    [
        pytest.param(
            503,
            {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}},
            *(Problem.WARMING, "answers 503: Loading model"),
            id="llama.cpp loads",
        ),
        pytest.param(
            401,
            {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}},
            *(Problem.MISCONFIGURED, "answers 401: Invalid API Key"),
            id="llama.cpp, key",
        ),
        pytest.param(
            404,
            {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}},
            *(Problem.MISCONFIGURED, "answers 404: File Not Found"),
            id="llama.cpp, path",
        ),
        pytest.param(
            400,
            {"error": {"code": 400, "message": CONTEXT, "type": "exceed_context_size_error", "n_ctx": 512}},
            *(Problem.TOO_LONG, f"answers 400: {CONTEXT}"),
            id="llama.cpp, context",
        ),
        pytest.param(
            503,
            {"error": {"message": "server busy, please try again.  maximum pending requests exceeded", "code": None}},
            *(Problem.AT_CAPACITY, "answers 503: server busy, please try again. maximum pending requests exceeded"),
            id="Ollama is full",
        ),
        pytest.param(
            404,
            {"error": {"message": "model 'm' not found", "type": "not_found_error", "param": None, "code": None}},
            *(Problem.MISCONFIGURED, "answers 404: model 'm' not found"),
            id="Ollama, model",
        ),
        pytest.param(
            404, b"404 page not found", Problem.MISCONFIGURED, "answers 404: 404 page not found", id="Ollama, path"
        ),
        pytest.param(
            500,
            {"error": {"message": "model requires more system memory", "type": "api_error"}},
            *(Problem.BROKEN, "answers 500: model requires more system memory"),
            id="Ollama breaks",
        ),
        pytest.param(
            503,
            {"error": {"message": OVERLOADED, "type": "ServiceUnavailableError", "param": None, "code": 503}},
            *(Problem.AT_CAPACITY, f"answers 503: {OVERLOADED}"),
            id="vLLM is full",
        ),
        pytest.param(
            401, {"error": "Unauthorized"}, Problem.MISCONFIGURED, "answers 401: Unauthorized", id="vLLM, key"
        ),
        pytest.param(404, {"detail": "Not Found"}, Problem.MISCONFIGURED, "answers 404: Not Found", id="vLLM, path"),
        pytest.param(
            400,
            {"object": "error", "message": "maximum context length is 4096 tokens", "code": 400},
            *(Problem.TOO_LONG, "answers 400: maximum context length is 4096 tokens"),
            id="vLLM, context",
        ),
        pytest.param(
            422,
            {"detail": [{"msg": "Field required"}]},
            *(Problem.BROKEN, "answers 422: [{'msg': 'Field required'}]"),
            id="vLLM, request",
        ),
        pytest.param(
            404,
            {"error": {"message": "No models loaded.", "type": "invalid_request_error", "code": "model_not_found"}},
            *(Problem.MISCONFIGURED, "answers 404: No models loaded."),
            id="LM Studio, model",
        ),
        pytest.param(
            502,
            b"\r\n<html>\r\n<head><title>502 Bad\nGateway</title></head></html>",
            *(Problem.BROKEN, "answers 502: 502 Bad Gateway"),
            id="proxy",
        ),
        pytest.param(503, b"<p>no", Problem.AT_CAPACITY, "answers 503: a web page", id="proxy is full"),
        pytest.param(429, b"", Problem.AT_CAPACITY, "answers 429: Too Many Requests", id="429"),
        pytest.param(403, b"{}", Problem.MISCONFIGURED, "answers 403: Forbidden", id="403"),
        pytest.param(500, b"null", Problem.BROKEN, "answers 500: Internal Server Error", id="500"),
        pytest.param(599, b"", Problem.BROKEN, "answers 599: without a word", id="599"),
        pytest.param(408, b"", Problem.BROKEN, "answers 408: Request Timeout", id="408"),
        pytest.param(204, b"", Problem.BROKEN, "answers 204: No Content", id="204"),
        pytest.param(400, b"[" * 100_000, Problem.BROKEN, f"answers 400: {'[' * 286}…", id="garbage"),
    ],
)
def test_an_error_is_one_of_the_problems(status: int, body: object, problem: Problem, detail: str) -> None:
    error = refused(status, body if isinstance(body, bytes) else json.dumps(body).encode(), 3.0)
    assert (error.problem, error.detail, error.retry_after) == (problem, detail, 3.0)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": CONTEXT, "type": "exceed_context_size_error"}),
        (400, {"message": "zu lang", "type": "exceed_context_size_error"}),
        (400, {"message": "zu lang", "type": "invalid_request_error", "code": "context_length_exceeded"}),
        (500, {"message": "the request exceeds the available context size. try increasing the context size"}),
        (500, {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}),
        (400, {"message": "This model's maximum context length is 512 tokens. However, you requested 812 tokens"}),
        (400, {"message": "'max_tokens' is too large: 300. This model's maximum context length is 512 tokens"}),
        (400, {"message": "The decoder prompt (length 600) is longer than the maximum model length of 512."}),
        (400, {"message": "You passed 900 input tokens. However, the model's context length is only 512 tokens"}),
        (400, {"message": "the model is loaded with context length of only 512 tokens, which is not enough."}),
        (400, {"message": "Reached context length of 512 tokens with model (arch: gpt-oss)"}),
        (400, {"message": "tokens to keep from the initial prompt is greater than the context length"}),
        (400, {"message": "the input length exceeds the context length"}),
        (400, {"message": "prompt too long; exceeded max context length by 88 tokens"}),
        (500, {"message": "Requested tokens (2285) exceed context window of 2048"}),
    ],
)
def test_more_than_the_context_holds_is_nobodys_fault(status: int, error: dict[str, object]) -> None:
    """As llama.cpp, vLLM, LM Studio and Ollama say it, also in the middle of a stream."""
    assert refused(status, json.dumps({"error": error}).encode()).problem is Problem.TOO_LONG
    assert refused(status, json.dumps(error).encode()).problem is Problem.TOO_LONG
    assert refused_midway(error).problem is Problem.TOO_LONG
    assert refused_midway({"error": error}).problem is Problem.TOO_LONG


@pytest.mark.parametrize(
    ("status", "message", "problem"),
    [
        (400, "unknown field context", Problem.BROKEN),
        (500, "failed to create context: out of memory", Problem.BROKEN),
        (500, "model requires more system memory (9 GiB) than is available", Problem.BROKEN),
        (429, "you exceed the tokens per minute of your context", Problem.AT_CAPACITY),
        (401, "context length exceeded", Problem.MISCONFIGURED),
    ],
)
def test_other_words_of_a_context_are_no_excuse(status: int, message: str, problem: Problem) -> None:
    assert refused(status, json.dumps({"error": {"message": message}}).encode()).problem is problem


def test_a_redirection_is_the_owners_to_mend() -> None:
    error = redirected(302, "https://elsewhere.example/\x1b[31m")
    assert error.problem is Problem.MISCONFIGURED
    assert error.detail == "answers 302: it sends us to https://elsewhere.example/ [31m, where nobody is asked"


NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("0", "", 0.0),
        (" 120 ", "", 120.0),
        ("1.5", "", 1.5),
        (format_datetime(NOW, usegmt=True), format_datetime(NOW - timedelta(seconds=30), usegmt=True), 30.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), "", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", "Wed, 21 Oct 2015 07:27:00 GMT", 60.0),
        ("", "", None),
        ("-1", "", None),
        ("soon", "", None),
        ("nan", "", None),
        ("1e9", "", None),
        ("9" * 5000, "", None),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999", "", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 99999999999999999999 07:28:00 GMT", 0.0),
    ],
)
def test_when_to_come_again(value: str, date: str, seconds: float | None) -> None:
    assert parse_retry_after(value, date) == seconds


def test_when_to_come_again_by_our_own_clock() -> None:
    seconds = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), "")
    assert seconds is not None
    assert 3500 < seconds <= 3600


def test_a_line_is_one_line_and_not_long() -> None:
    assert one_line(" a\n\tb\x00c\x1b[31md\u202ee ") == "a b c [31md e"
    assert len(one_line("x" * 10_000_000)) == LONGEST
