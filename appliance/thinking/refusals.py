"""What the errors of llama.cpp, Ollama, vLLM, LM Studio and of proxies mean: one of the problems, and one line."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from appliance.thinking.server import Problem, ServerError

LONGEST = 300
"""Characters of an owner's line that a server may fill."""

_LOADING = re.compile(r"\b(loading|warming|starting|not ready)\b", re.IGNORECASE)
"""A 503 of this kind passes by itself ("Loading model" of llama.cpp); any other one means that too much is asked."""

_TOO_LONG = re.compile(
    r"\bexceed(s|ed|ing)?\b.{0,40}\bcontext\b|\bcontext (size|length|window)\b.{0,20}\b(exceeded|only)\b"
    r"|\b(maximum|reached|than the) context (size|length|window)\b|\bmaximum model length\b|\bprompt (is )?too long\b",
    re.IGNORECASE,
)
"""So llama.cpp, vLLM, LM Studio and Ollama say that a question is more than the model's context holds."""

_TOO_LONG_KINDS = ("exceed_context_size_error", "context_length_exceeded", "context_exceeded")
"""The same for programs: the type of llama.cpp, and the code of OpenAI."""

_OF_THE_SETTINGS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
"""What only the owner can mend. Whatever else a server does not like may be only this question."""

_OF_THE_REQUEST = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR)
"""The statuses with which they do; older ones of llama.cpp take it for a fault of theirs."""

_NO_SUCH_PATH = "unexpected endpoint or method"
"""LM Studio says so with the status 200."""

_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


def refused(status: int, body: bytes, retry_after: float | None = None) -> ServerError:
    """An answer with another status than 200."""
    error = _parsed(body)
    message = _message(error)
    problem = Problem.TOO_LONG if _is_too_long(status, message, error) else _problem(status, message)
    return ServerError(problem, one_line(f"answers {status}: {message or _phrase(status)}"), retry_after)


def refused_midway(error: object) -> ServerError:
    """The error object of a stream, or of an answer, that began with the status 200."""
    message = _message(error)
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code <= 599 else HTTPStatus.INTERNAL_SERVER_ERROR
    if _NO_SUCH_PATH in message.lower():
        status = HTTPStatus.NOT_FOUND
    problem = Problem.TOO_LONG if _is_too_long(status, message, error) else _problem(status, message)
    return ServerError(problem, one_line(f"breaks off: {message or error}"))


def redirected(status: int, target: str) -> ServerError:
    """An answer that sends us elsewhere, where what the user said is not to be heard."""
    where = f" to {target}" if target else ""
    return ServerError(Problem.MISCONFIGURED, one_line(f"answers {status}: it sends us{where}, where nobody is asked"))


def parse_retry_after(value: str, date: str) -> float | None:
    """The header Retry-After, in seconds from now; `date` is the header Date, since our own clock may be wrong."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value)
    try:
        until = _moment(value)
    except (ValueError, OverflowError):
        return None
    try:
        now = _moment(date)
    except (ValueError, OverflowError):
        now = datetime.now(UTC)
    return max((until - now).total_seconds(), 0.0)


def one_line(text: str) -> str:
    """`text` as a line that anybody's terminal stands, and not too long."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * LONGEST]).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _problem(status: int, message: str) -> Problem:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Problem.AT_CAPACITY
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return Problem.WARMING if _LOADING.search(message) else Problem.AT_CAPACITY
    if status in _OF_THE_SETTINGS or 300 <= status < 400:
        return Problem.MISCONFIGURED
    return Problem.BROKEN


def _is_too_long(status: int, message: str, error: object) -> bool:
    if status not in _OF_THE_REQUEST:
        return False
    if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    kinds = (error.get("type"), error.get("code")) if isinstance(error, Mapping) else ()
    return any(kind in kinds for kind in _TOO_LONG_KINDS) or _TOO_LONG.search(message) is not None


def _parsed(body: bytes) -> object:
    text = body.strip()
    if text.startswith(b"<"):
        title = _TITLE.search(text)
        return title[1].decode(errors="replace") if title else "a web page"
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return text.decode(errors="replace")
    return parsed


def _message(error: object) -> str:
    """What an error object says, in whichever of the usual places."""
    for _ in range(3):
        if not isinstance(error, Mapping):
            break
        error = next((error[key] for key in ("error", "message", "detail") if key in error), "")
    return error if isinstance(error, str) else "" if error is None else str(error)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "without a word"


def _moment(text: str) -> datetime:
    moment = parsedate_to_datetime(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
