"""One file over https, resumed where it broke off, and what arrives is only believed when its hash is right."""

import re
import time
from collections.abc import Callable
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from appliance.errors import ApplianceError
from appliance.models.directory import sha256_of
from appliance.models.report import Progress

_BLOCK = 1 << 16
_TIMEOUT = 30.0
"""Seconds without a byte after which a connection is given up."""
_TRIES = 4
"""Connections in a row that get no further; the pauses between them, 2 + 4 + 8 s, are for a router to come back."""
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


def download(
    url: str,
    part: Path,
    size: int,
    sha256: str,
    progress: Progress,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Fill `part` with what `url` has, from where an earlier call stopped. Proxies and CAs are as urllib finds them.

    ApplianceError: the network or the server does not give it (`part` stays, for the next call), or gives something
    else (`part` is gone). OSError: the disk.
    """
    resumed = 0 < _length(part) <= size
    if not resumed:
        part.unlink(missing_ok=True)
    furthest, fruitless = _length(part), 0
    while _length(part) < size:
        problem = _go_on(url, part, size, progress)
        fruitless = 0 if _length(part) > furthest else fruitless + 1
        furthest = max(furthest, _length(part))
        if fruitless == _TRIES:
            remedy = f"Check the network, then run this again: it goes on from here ({_length(part):,} bytes)"
            raise ApplianceError(url, f"cannot be fetched: {problem}", remedy=remedy)
        if fruitless:
            pause(2.0**fruitless)
    if _length(part) == size and sha256_of(part) == sha256:
        return
    part.unlink()
    if resumed:  # what was there before may have been of something else
        download(url, part, size, sha256, progress, pause)
        return
    found = f"is not the file of {size:,} bytes with the sha256 {sha256} that the manifest promises"
    raise ApplianceError(url, found, remedy="Nothing was put in place. Try later, or update the appliance")


def _go_on(url: str, part: Path, size: int, progress: Progress) -> str:
    """One connection's worth of bytes; the answer is why there were no more of them."""
    have = _length(part)
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310  the manifest sees to it
    try:
        response = urlopen(request, timeout=_TIMEOUT)  # noqa: S310
    except HTTPError as error:
        with error:
            return _refused(url, part, error)
    except (OSError, HTTPException) as error:
        return str(getattr(error, "reason", error) or type(error).__name__)
    with closing(response):
        if have and not _starts_at(have, response):
            have = 0
        with part.open("ab" if have else "wb") as file:
            while have <= size:
                progress(have)
                try:
                    block = response.read1(_BLOCK)
                except (OSError, HTTPException) as error:
                    return f"the connection broke: {error}"
                if not block:
                    return "the connection ended early"
                file.write(block)
                have += len(block)
    return "it is too long"


def _refused(url: str, part: Path, error: HTTPError) -> str:
    answer = f"the server answers {error.code} {error.reason}"
    if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.unlink()
    elif error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in _PASSING:
        raise ApplianceError(url, answer, remedy="It may have moved: update the appliance") from error
    return answer


def _starts_at(start: int, response: HTTPResponse) -> bool:
    """Whether the server goes on from there; one that does not know ranges sends all."""
    given = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return response.status == HTTPStatus.PARTIAL_CONTENT and given is not None and int(given[1]) == start


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
