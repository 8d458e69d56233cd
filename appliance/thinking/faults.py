"""What a connection broke on, as one of the four problems: the exceptions of aiohttp, for the owner."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from appliance.thinking.refusals import one_line
from appliance.thinking.server import Problem, ServerError

SHORTEST = 4
"""Letters of a key that are kept secret where the rest was cut off."""

_NOT_YET_VALID = 9
"""OpenSSL's word for a certificate of the future: our clock is wrong, as after the start of a Raspberry Pi."""


@contextmanager
def explained(key: str) -> Iterator[None]:
    """Whatever breaks in here is a ServerError that does not tell `key`."""
    try:
        yield
    except ServerError as error:
        detail = _without(key, error.detail) if key else error.detail
        if detail == error.detail:
            raise
        raise ServerError(error.problem, detail, error.retry_after) from None
    except (aiohttp.ClientError, OSError) as error:
        problem, detail = _explain(error)
        raise ServerError(problem, one_line(detail)) from error


def _without(key: str, detail: str) -> str:
    """`detail` without the key, and without the beginning of it that is left where it was cut off."""
    detail = detail.replace(key, "…")
    if detail.endswith("…"):
        ends = (key[:length] for length in range(len(key) - 1, SHORTEST - 1, -1))
        cut = next((end for end in ends if detail.endswith(f"{end}…")), "")
        detail = f"{detail.removesuffix(f'{cut}…')}…"
    return detail


def _explain(error: aiohttp.ClientError | OSError) -> tuple[Problem, str]:
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return Problem.MISCONFIGURED, f"has an address that cannot be used: {error}"
        case aiohttp.ConnectionTimeoutError():
            return Problem.BROKEN, "cannot be reached in time"
        case aiohttp.ClientConnectorCertificateError():
            return _explain_certificate(error.certificate_error)
        case aiohttp.ClientConnectorSSLError():
            return Problem.BROKEN, f"cannot be talked to over TLS: {error.os_error}"
        case aiohttp.ClientConnectorError():
            return Problem.BROKEN, f"cannot be reached: {error.os_error.strerror or error.os_error}"
        case aiohttp.ServerDisconnectedError():
            return Problem.BROKEN, "closes the connection without an answer"
        case aiohttp.ClientPayloadError():
            return Problem.BROKEN, "breaks off in the middle of its answer"
        case aiohttp.ClientResponseError():
            return Problem.BROKEN, "does not speak HTTP"
        case OSError():
            return Problem.BROKEN, f"breaks the connection: {error.strerror or error}"
        case _:
            return Problem.BROKEN, f"breaks the connection: {error}"


def _explain_certificate(error: Exception) -> tuple[Problem, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        problem = Problem.BROKEN if error.verify_code == _NOT_YET_VALID else Problem.MISCONFIGURED
        return problem, f"has a certificate that is not trusted: {error.verify_message}"
    return Problem.MISCONFIGURED, f"has a certificate that is not trusted: {error}"
