"""A key comes out of its file, or why not; nothing of it is told."""

from pathlib import Path

import pytest

from appliance.thinking.keys import read_key
from appliance.thinking.server import Problem, ServerError


def test_a_key_is_what_is_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("  sk-0123\n\n")
    assert read_key(tmp_path / "key") == "sk-0123"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"sk-0\nsk-1\n", "holds what cannot be a key"),
        (b"sk-0 sk-1", "holds what cannot be a key"),
        (b"sk-0\x00", "holds what cannot be a key"),
        (b"sk-\xc3\xa9", "holds what cannot be a key"),
    ],
)
def test_what_is_no_key_is_told_without_a_word_of_it(content: bytes | None, why: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(ServerError) as caught:
        read_key(tmp_path / "key")
    assert caught.value.problem is Problem.MISCONFIGURED
    assert caught.value.detail == f"its key file {tmp_path / 'key'} {why}"
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, OSError)
