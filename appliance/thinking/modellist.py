"""The answer to GET /models, in which servers list more than what can chat."""

from typing import Any

import msgspec

from appliance.thinking.refusals import one_line, refused_midway
from appliance.thinking.server import Problem, ServerError
from appliance.thinking.sse import LONGEST

_OTHERS = ("embed", "rerank", "whisper")
"""What the names of models for other purposes contain. LM Studio lists them with the others."""


class _Model(msgspec.Struct):
    id: str
    status: Any = None


class _List(msgspec.Struct):
    data: list[_Model] | None = None  # Ollama's is null as long as it has no model
    error: Any = None


def parse_models(body: bytes) -> list[str]:
    """The names of the models: those that chat first, and of these, those that a router has loaded.

    Raises ServerError.
    """
    if len(body) > LONGEST:
        raise ServerError(Problem.BROKEN, f"sends what is no list of models: more than {LONGEST:,} bytes")
    try:
        found = msgspec.json.decode(body, type=_List)
    except (msgspec.DecodeError, RecursionError) as error:
        text = body.decode(errors="replace")
        raise ServerError(Problem.BROKEN, one_line(f"sends what is no list of models: {text}")) from error
    if found.error:
        raise refused_midway(found.error)
    return [model.id for model in sorted(found.data or (), key=_inconvenience)]


def _inconvenience(model: _Model) -> tuple[bool, bool]:
    loaded = isinstance(model.status, dict) and model.status.get("value") == "loaded"
    return any(other in model.id.lower() for other in _OTHERS), not loaded
