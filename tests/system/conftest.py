"""Machines inside the machine."""

from collections.abc import Iterator

import pytest

from tests.system.debian import Debian, debian, missing
from tests.system.machine import Machine, running


@pytest.fixture(scope="session")
def system() -> Debian:
    """A Debian system; the first time it takes a minute."""
    lacking = missing()
    if lacking:
        pytest.skip(f"a virtual machine: {lacking}")
    return debian()


@pytest.fixture(scope="module")
def machine(system: Debian) -> Iterator[Machine]:
    """A machine that has booted."""
    with running(system) as booted:
        yield booted
