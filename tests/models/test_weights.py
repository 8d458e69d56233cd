"""What `llm.local_model` may name."""

import os
from pathlib import Path

import pytest

from appliance.errors import ApplianceError, BadInputError
from appliance.models.directory import models_in
from appliance.models.manifest import load_manifest
from appliance.models.weights import find_weights

NAME = "llm/SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_file_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "clever.gguf"
    file.write_bytes(b"GGUF")
    assert find_weights(str(file), tmp_path) == file


@pytest.mark.parametrize("name", ["nothing.gguf", "notes.txt", ""])
def test_a_path_of_nothing_that_could_be_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("GGUF?")
    path = tmp_path / name
    with pytest.raises(BadInputError) as caught:
        find_weights(str(path), tmp_path)
    line = f'llm.local_model "{path}": there is no such file. Allowed: the path of a .gguf file.'
    assert str(caught.value) == line


def test_an_installed_model_by_its_name(tmp_path: Path) -> None:
    file = models_in(tmp_path) / NAME
    file.parent.mkdir(parents=True)
    file.touch()
    os.truncate(file, load_manifest().find(NAME).size_here)
    assert find_weights(NAME, tmp_path) == file


def test_one_that_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(ApplianceError) as caught:
        find_weights(NAME, tmp_path)
    line = f'llm.local_model "{NAME}": {NAME}: missing. Run: appliance models fetch {NAME}.'
    assert str(caught.value) == line


@pytest.mark.parametrize("name", ["llm/SmolLM2", "vad/silero.onnx", "../clever.gguf"])
def test_a_name_of_no_language_model(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError) as caught:
        find_weights(name, tmp_path)
    assert str(caught.value).startswith(f'llm.local_model "{name}": there is no such model')
    assert str(caught.value).endswith(f'Allowed: "{NAME}", or the path of a .gguf file, from / on.')
