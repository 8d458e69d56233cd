"""How every ONNX model of the appliance is loaded: few threads, no noise, and errors that name the file."""

from collections.abc import Collection
from pathlib import Path

import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from appliance.errors import ApplianceError

_ERRORS = 3
"""onnxruntime's severity from which on it writes to stderr; its warnings are about models, for their makers."""

_UNLOADABLE = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)


def session(path: Path, threads: int = 1, inputs: Collection[str] = ()) -> ort.InferenceSession:
    """A model on the CPU; one that is missing, damaged or lacks one of `inputs` is an ApplianceError."""
    if not path.is_file():
        raise damaged(path, "there is no such file")
    ort.set_default_logger_severity(_ERRORS)
    options = ort.SessionOptions()
    options.log_severity_level = _ERRORS
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that wait for work would otherwise spin, at the cost of everything else on a small board.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        loaded = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _UNLOADABLE as error:
        raise damaged(path, "this is not a complete model") from error
    if missing := set(inputs) - {given.name for given in loaded.get_inputs()}:
        raise damaged(path, f"this is another model: it has no input {', '.join(sorted(missing))}")
    return loaded


def damaged(path: Path, found: str) -> ApplianceError:
    """What to raise for a model file that cannot be used."""
    return ApplianceError(str(path), found, remedy="Run: appliance models verify")
