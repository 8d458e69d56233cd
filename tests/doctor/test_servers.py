"""Where no appliance runs, the doctor itself looks for servers of a language model: on a network of the tests' own."""

import errno
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.config.schema import LanguageModel, Settings
from appliance.doctor import multicast, network, servers
from appliance.doctor.check import Patient
from appliance.thinking.discovery.interfaces import Interface
from appliance.thinking.truststore import NAME, TrustStore
from tests.thinking.discovery.network import Child, Host, Lan

LOOK = """
import json, sys
from pathlib import Path
from appliance.config.schema import Settings
from appliance.doctor import network
from appliance.doctor.check import Patient
found = network.language_model(Patient(Settings(), Path(sys.argv[1])))
print(json.dumps([[each.name, each.good, each.text, each.remedy] for each in found]))
"""

HOLD = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
    port.bind(("", 5353))
    print("{}", flush=True)
    input()
"""

Line = list[object]


def look(host: Host, directory: Path) -> list[Line]:
    """What the doctor finds there."""
    child = host.start(sys.executable, "-c", LOOK, str(directory))
    lines: list[Line] = json.loads(child.output())
    return lines


def serve(lan: Lan) -> Child:
    """One that advertises itself, and answers."""
    host = lan.host("gpu", "10.0.0.2/24")
    server = host.start_python("tests.thinking.full_server")
    server.wait_for(lambda said: "port" in said)
    advertiser = host.start_python("tests.thinking.discovery.advertiser", "V4Only")
    advertiser.tell(do="advertise", label="gpu", addresses=["10.0.0.2"], priority=0)
    advertiser.wait_for(lambda said: said["do"] == "advertise")
    return server


@pytest.mark.parametrize("address", ["10.0.0.1/24", "fd00::1/64"])
def test_where_there_is_none(lan: Lan, tmp_path: Path, address: str) -> None:
    assert look(lan.host("box", address), tmp_path) == [
        ["language model", True, "none was found; it answers what it can by itself", ""]
    ]


def test_one_that_is_advertised_is_found_and_not_trusted_by_that(lan: Lan, tmp_path: Path) -> None:
    serve(lan)
    box = lan.host("box", "10.0.0.1/24")
    assert look(box, tmp_path) == [["language model", True, "gpu (http://10.0.0.2:8080/v1) is ready", ""]]
    assert not (tmp_path / NAME).exists()


def test_a_stranger_is_found_and_not_asked(lan: Lan, tmp_path: Path) -> None:
    TrustStore(tmp_path, lambda: datetime(2026, 11, 30, tzinfo=UTC)).trust("another", None)
    server = serve(lan)
    box = lan.host("box", "10.0.0.1/24")
    ((_, is_good, text, remedy),) = look(box, tmp_path)
    assert (is_good, text, remedy) == (False, "gpu was found, and is not trusted", "Type: appliance llm trust NAME")
    server.say_nothing(0)


def test_a_network_whose_group_cannot_be_joined(lan: Lan, tmp_path: Path) -> None:
    box = lan.host("box", "10.0.0.1/24")
    box.start("sh", "-c", "echo 0 > /proc/sys/net/ipv4/igmp_max_memberships").output()
    line = look(box, tmp_path)[0]
    assert line[:3] == ["multicast", False, "servers on eth0 cannot be looked for: No buffer space available"]
    assert line[3]


def test_a_port_that_another_program_has_to_itself(lan: Lan, tmp_path: Path) -> None:
    box = lan.host("box", "10.0.0.1/24")
    box.start(sys.executable, "-c", HOLD).wait_for(lambda said: True)
    line = look(box, tmp_path)[0]
    assert line[:3] == ["multicast", False, "servers on eth0 cannot be looked for: Address already in use"]
    assert "Avahi" in str(line[3])


def test_a_firewall_that_lets_no_question_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(interface: Interface) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(multicast, "_ask", ask)
    interface = Interface(2, "eth0", ())
    (line,) = multicast.multicast_problems([interface])
    assert (line.good, line.text) == (False, "servers on eth0 cannot be looked for: Operation not permitted")
    assert "firewall" in line.remedy


def test_one_that_was_named_and_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SEARCH", 0.1)
    settings = Settings(llm=LanguageModel(search=False, servers=("http://127.0.0.1:9/v1",)))
    (line,) = network.language_model(Patient(settings, tmp_path))
    assert not line.good
    assert "(http://127.0.0.1:9/v1) is broken: " in line.text


def test_one_that_the_appliance_serves_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SEARCH", 0.1)
    settings = Settings(llm=LanguageModel(search=False, local_model="smollm2"))
    (line,) = network.language_model(Patient(settings, tmp_path))
    assert (line.good, line.text) == (True, "none was found; the running appliance serves smollm2 itself")
