"""The tests' own network leaves nothing behind, however a test ends."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.thinking.discovery.network import ROOT, Host, Lan, ip, remove_leftovers

HOLD = """
import sys
from tests.thinking.discovery.network import Lan
with Lan() as lan:
    host = lan.host("box", "10.0.0.1/24")
    host.resolve_at("10.0.0.9")
    print(host.namespace, host.start("sleep", "1000").process.pid, flush=True)
    input()
"""


def of_the_same_network(host: str) -> list[str]:
    """The namespaces that there are of it; other runs may have theirs at the same time."""
    network = host.removesuffix("box")
    return sorted(name for line in ip("netns", "list").splitlines() if (name := line.split()[0]).startswith(network))


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_after_a_failure_all_is_gone(lan: Lan) -> None:
    host: Host | None = None
    sleeper = 0
    with suppress(ZeroDivisionError), Lan() as another:
        host = another.host("box", "10.0.0.1/24")
        host.resolve_at("10.0.0.9")
        sleeper = int(host.start("setsid", "sh", "-c", "echo $$; exec sleep 1000").wait_for(lambda said: True))
        assert alive(sleeper)
        raise ZeroDivisionError
    assert host is not None
    assert of_the_same_network(host.namespace) == []
    assert not Path("/etc/netns", host.namespace).exists()
    assert not alive(sleeper)


def test_what_a_run_left_that_was_killed_the_next_one_removes(lan: Lan) -> None:
    run = subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert run.stdout is not None
    host, process = run.stdout.readline().decode().split()
    remove_leftovers()
    assert len(of_the_same_network(host)) == 2
    run.kill()
    run.communicate()
    remove_leftovers()
    assert of_the_same_network(host) == []
    assert not Path("/etc/netns", host).exists()
    assert not alive(int(process))


def test_hosts_reach_each_other_and_nothing_else(lan: Lan) -> None:
    one, two = lan.host("one", "10.0.0.1/24"), lan.host("two", "10.0.0.2/24")
    listen = "import socket; s = socket.create_server(('', 80)); print('{}', flush=True); s.accept()[0].sendall(b'7')"
    two.start(sys.executable, "-c", listen).wait_for(lambda said: True)
    connect = "import socket; print(socket.create_connection(('10.0.0.2', 80), 10).recv(9).decode())"
    assert one.start(sys.executable, "-c", connect).wait_for(lambda said: True) == 7
    assert [route["dst"] for route in json.loads(one.ip("-json", "route"))] == ["10.0.0.0/24"]
