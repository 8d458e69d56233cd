"""A network for tests, where there can be one."""

from collections.abc import Iterator

import pytest

from tests.thinking.discovery.network import Lan, missing


@pytest.fixture
def lan() -> Iterator[Lan]:
    """A network without hosts as yet."""
    if reason := missing():
        pytest.skip(reason)
    with Lan() as lan:
        yield lan
