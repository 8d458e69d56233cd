"""Loading ONNX models: what is wrong with a file is said with its name and the way out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import ApplianceError
from appliance.onnx import session


@pytest.mark.parametrize("name", ["model.onnx", "model.ort"])
@pytest.mark.parametrize("content", [None, b"", b"<html>Not found</html>" * 100])
def test_a_missing_or_damaged_file_is_named(
    tmp_path: Path, name: str, content: bytes | None, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ApplianceError, match="appliance models verify") as caught:
        session(path)
    assert caught.value.place == str(path)
    assert capfd.readouterr() == ("", "")


def test_a_folder_in_place_of_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError, match="no such file"):
        session(tmp_path)


def test_nobody_is_told_that_a_model_is_used(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "models/vad/silero.onnx"
    program = f"from pathlib import Path; from appliance.onnx import session; session(Path({str(model)!r}))"
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "ORT_DISABLE_TELEMETRY": ""}
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **home}, check=True)
    assert list(tmp_path.iterdir()) == [], "onnxruntime keeps what it is going to send"
