"""What the tests of the doctor share."""

from tests.thinking.conftest import lan

__all__ = ["lan"]
