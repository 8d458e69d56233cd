"""How wake words are named in the configuration: those that come with the appliance, and those of its owner."""

from pathlib import PurePosixPath

FILE = ".onnx"


def is_file(word: str) -> bool:
    """Whether it is one of the owner's, which lies in a file."""
    return "/" in word or word.endswith(FILE)


def name_of(word: str) -> str:
    """What a wake word is called: a file by its stem."""
    return PurePosixPath(word).stem if is_file(word) else word
