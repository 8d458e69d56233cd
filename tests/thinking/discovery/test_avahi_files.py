"""The files for Avahi that we ship say what discovery understands."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from appliance.thinking.discovery.advertised import TYPES, advertised_servers, read_hints
from appliance.thinking.discovery.places import LOCAL_PORTS

FILES = sorted((Path(__file__).parents[3] / "config/avahi").glob("*.service"))


def test_there_is_one_for_each_kind_of_server() -> None:
    assert {path.stem for path in FILES} == {
        name.lower().replace(".", "-").replace(" ", "-") for name, _ in LOCAL_PORTS
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_it_advertises_is_understood(path: Path) -> None:
    group = ElementTree.parse(path).getroot()  # noqa: S314  ours
    (service,) = group.findall("service")
    label, kind, port = group.findtext("name"), service.findtext("type"), service.findtext("port")
    assert label is not None
    assert kind in TYPES
    assert port in [str(port) for name, port in LOCAL_PORTS if label == f"{name} on %h"]
    records = (record.text or "" for record in service.findall("txt-record"))
    txt = {key.encode(): value.encode() for key, _, value in (record.partition("=") for record in records)}
    assert read_hints(txt) == {"path": "/v1"}
    (server,) = advertised_servers(kind, label, "gpu.local.", int(port), ["10.0.0.2"], txt)
    assert server.url == f"http://10.0.0.2:{port}/v1"
