"""The table of licences against what is really installed."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

from appliance.models.licences import load_licences
from appliance.models.manifest import load_manifest


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _installed() -> Iterator[str]:
    """All that our dependencies bring along, and theirs; also those of the language model in the box."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    seen: set[str] = set()
    ahead = [Requirement(line) for line in [*project["dependencies"], *project["optional-dependencies"]["local-llm"]]]
    while ahead:
        requirement = ahead.pop()
        name = _name(requirement.name)
        if name not in seen and _applies(requirement):
            seen.add(name)
            yield name
            ahead += map(Requirement, requires(name) or [])


def test_every_package_is_in_the_table_and_no_other() -> None:
    listed = {package.name for package in load_licences().packages}
    assert listed == {"voice-appliance", *_installed()}


def test_the_table_says_what_the_packages_say() -> None:
    for package in load_licences().packages:
        stated = metadata(package.name)
        if "License-Expression" in stated:
            assert package.licence == stated["License-Expression"], package.name


def test_what_decides_for_the_whole() -> None:
    licences = load_licences()
    by_name = {package.name: package.licence for package in licences.packages}
    assert by_name["piper-tts"] == metadata("piper-tts")["License"] == "GPL-3.0-or-later"
    assert "GPL-3.0-or-later" in licences.summary
    words = {model.licence for model in load_manifest().models if model.role == "wake word"}
    assert words == {"CC-BY-NC-SA-4.0"}
