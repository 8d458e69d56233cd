"""The locked packages are those that pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN = PROJECT["project"]["dependencies"]
EXTRAS = PROJECT["project"]["optional-dependencies"]
WANTED = {
    "build": PROJECT["dependency-groups"]["build"],
    "run": RUN,
    "local-llm": [*RUN, *EXTRAS["local-llm"]],
    "test": [*RUN, *EXTRAS["local-llm"], *EXTRAS["test"]],
}


def locked(name: str) -> list[tuple[str, str]]:
    """Each package and version in a lock file; the same package may be there for several Pythons."""
    return re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / f"config/{name}.lock").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", WANTED)
def test_every_requirement_is_locked_to_versions_that_satisfy_it(name: str) -> None:
    for requirement in map(Requirement, WANTED[name]):
        versions = [version for package, version in locked(name) if package == requirement.name]
        assert versions, f"{requirement} is not in config/{name}.lock; its first lines say how it is made"
        assert all(map(requirement.specifier.contains, versions)), (
            f"{requirement}, but config/{name}.lock has {versions}"
        )


def test_the_tests_run_with_the_very_packages_that_run() -> None:
    assert set(locked("run")) <= set(locked("local-llm")) <= set(locked("test"))


def test_what_builds_the_project_is_what_it_asks_for() -> None:
    assert set(PROJECT["build-system"]["requires"]) <= set(WANTED["build"])
