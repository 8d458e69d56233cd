"""The appliance as a service of a real systemd, from its installation, which the fixture does, to its end.

Each test leaves it running for the next.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service_manager.bundle import ROOT, checkout
from tests.service_manager.conftest import INSTALLING, WATCHDOG
from tests.service_manager.container import Container

pytestmark = pytest.mark.timeout(1200)  # the first time a system and a bundle have to be made

SSHD = "/etc/ssh/sshd_config.d/appliance-owner.conf"

FAULT = 30.0
"""Seconds without sound that are a fault."""


def test_it_boots_with_the_version_before_if_an_upgrade_was_cut_off(installed: Container) -> None:
    wait_until_ready(installed)
    names = ("InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic")
    started, became = (int(installed.show(name)[name]) / 1e6 for name in names)
    booted = int(installed.check("systemctl", "show", "--property=UserspaceTimestampMonotonic", "--value")) / 1e6
    figure("boot to ready", became - booted)
    figure("start to ready", became - started)
    assert "alexa" in installed.show("StatusText")["StatusText"]
    assert installed.run("test", "-e", "/opt/appliance/fallback").returncode == 1
    assert installed.check("readlink", "/opt/appliance/current") != "/opt/appliance/versions/cut-off"


def test_its_log_tells_turns_apart_and_not_what_was_said(installed: Container) -> None:
    query = ["journalctl", "--unit=appliance", "--boot", "--output=json", "APPLIANCE_KIND=reply_start"]
    installed.check("appliance", "say", "Dinner is served")
    installed.wait("reply", lambda: installed.check(*query) != "")
    assert {"TURN", "GENERATION", "MESSAGE"} <= json.loads(installed.check(*query).splitlines()[0]).keys()
    assert "Dinner" not in installed.log(1000)


def test_it_has_no_port_but_that_of_mdns(installed: Container) -> None:
    process = installed.show("MainPID")["MainPID"]
    sockets = installed.check(
        "sh", "-c", f"ls -l /proc/{process}/fd | grep -o 'socket:.[0-9]*' | tr -dc '0-9\n'"
    ).split()
    ports = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in installed.check("cat", f"/proc/{process}/net/{table}").splitlines()[1:]:
            fields = line.split()
            if fields[9] in sockets and (table.startswith("udp") or fields[3] == "0A"):
                ports.append((table[:3], int(fields[1].rpartition(":")[2], 16)))
    assert set(ports) <= {("udp", 5353)}


def test_nothing_is_kept_to_tell_others_how_it_is_used(installed: Container) -> None:
    assert "Microsoft" not in installed.check("find", "/var/lib/appliance")


def test_another_installation_of_the_same_changes_nothing(installed: Container) -> None:
    before = installed.show("InvocationID")
    assert "==> The appliance runs" in install(installed, "this").stdout
    assert installed.show("InvocationID") == before


def test_a_reload_takes_a_changed_file_over_without_a_restart(installed: Container) -> None:
    before = installed.show("InvocationID")
    installed.write("/etc/appliance/appliance.toml", "wake.threshold = 0.6\nservice.confirm = 3\n")
    installed.check("systemctl", "reload", "appliance")
    installed.wait("generation", lambda: configuration(installed).endswith("generation 2"))
    assert json.loads(installed.check("appliance", "config", "get", "wake.threshold", "--json")) == 0.6
    assert installed.show("InvocationID") == before


def test_a_reload_of_a_bad_file_changes_nothing_and_says_what_is_wrong(installed: Container) -> None:
    before = installed.show("InvocationID")
    good = installed.check("cat", "/etc/appliance/appliance.toml")
    installed.write("/etc/appliance/appliance.toml", "wake.treshold = 0.7\n")
    installed.check("systemctl", "reload", "appliance")
    installed.wait("log", lambda: 'did you mean "threshold"?' in installed.log())
    assert configuration(installed).endswith("generation 2")
    installed.write("/etc/appliance/appliance.toml", good)
    assert installed.show("InvocationID") == before


def test_an_owner_without_a_shell_configures_it_over_ssh(installed: Container) -> None:
    installed.check("useradd", "--create-home", "--shell=/bin/sh", "--groups=appliance,appliance-owner", "anna")
    installed.check("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/root/.ssh/id_ed25519")
    key = installed.check("cat", "/root/.ssh/id_ed25519.pub")
    installed.write("/home/anna/.ssh/authorized_keys", key)
    installed.check(
        "cp", "/opt/appliance/current/systemd/sshd-owner.conf", "/etc/ssh/sshd_config.d/appliance-owner.conf"
    )
    installed.check("systemctl", "restart", "ssh")

    assert json.loads(over_ssh(installed, "appliance status --json").stdout)["phase"] == "idle"
    done = over_ssh(installed, "appliance config set wake.threshold 0.7 --json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["changed"]
    assert over_ssh(installed, "appliance config get wake.threshold").stdout == "0.7\n"
    bad = over_ssh(installed, "appliance config set wake.treshold 0.7")
    assert bad.returncode == 2
    assert "wake.threshold" in bad.stderr

    for command in ("", "id", "appliance", "appliance run", "appliance config edit", "sh -c id", "appliance; id"):
        refused = over_ssh(installed, command)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "Allowed: appliance config|" in refused.stderr
    copied = installed.run("sftp", "-o", "StrictHostKeyChecking=no", "-b", "-", "anna@127.0.0.1", given="ls /etc\n")
    assert "passwd" not in copied.stdout
    assert copied.returncode != 0


def test_a_change_that_makes_it_deaf_is_taken_back_by_itself(installed: Container) -> None:
    done = over_ssh(installed, "appliance config set microphone.card=attic")
    assert done.returncode == 1
    assert "taken back" in done.stdout + done.stderr
    assert over_ssh(installed, "appliance config get microphone.card --json").stdout == '""\n'


def test_a_process_that_hangs_is_ended_by_the_watchdog(installed: Container) -> None:
    process, before = installed.show("MainPID")["MainPID"], wait_until_ready(installed)
    installed.check("kill", "-STOP", process)
    seconds = installed.wait("restart", lambda: restarted(installed, before), WATCHDOG + 30)
    figure("hung to restarted", seconds)
    assert "Failed with result 'watchdog'" in installed.log()
    wait_until_ready(installed)


def test_a_microphone_that_has_died_is_ended_by_the_watchdog(installed: Container) -> None:
    before = wait_until_ready(installed)
    server = installed.check("systemctl", "show", "sound-server", "--property=MainPID", "--value")
    installed.check("kill", "-STOP", server)
    try:
        seconds = installed.wait("restart", lambda: restarted(installed, before), FAULT + WATCHDOG + 30)
    finally:
        installed.check("kill", "-CONT", server)
    figure("sound dead to restarted", seconds)
    wait_until_ready(installed)


def test_an_upgrade_keeps_configuration_and_models_and_the_version_before(
    installed: Container, checkouts: Path
) -> None:
    before = installed.check("readlink", "/opt/appliance/current")
    number = (ROOT / "pyproject.toml").read_text().replace('version = "0.1.0"', 'version = "0.1.1"')
    checkout(checkouts / "next", {"pyproject.toml": number})
    assert "==> The appliance runs, version 0.1.1-" in install(installed, "next").stdout
    wait_until_ready(installed)
    assert installed.check("readlink", "/opt/appliance/current").startswith("/opt/appliance/versions/0.1.1-")
    assert installed.check("readlink", "/opt/appliance/previous") == before
    assert len(installed.check("ls", "/opt/appliance/versions").split()) == 2
    assert installed.check("appliance", "config", "get", "wake.threshold") == "0.7"


def test_an_upgrade_that_does_not_become_ready_is_taken_back_by_itself(installed: Container, checkouts: Path) -> None:
    good = installed.check("readlink", "/opt/appliance/current")
    checkout(checkouts / "broken", {"appliance/run.py": 'raise SystemExit("broken")\n'})
    done = install(installed, "broken", status=1)
    assert f"version {Path(good).name} is back, and ready" in done.stderr
    assert installed.check("readlink", "/opt/appliance/current") == good
    wait_until_ready(installed)


def test_it_goes_and_leaves_what_belongs_to_the_owner(installed: Container) -> None:
    assert "still here" in installed.check("/checkouts/this/install.sh", "--uninstall")
    assert installed.run("systemctl", "cat", "appliance").returncode == 1
    assert installed.run("sh", "-c", "ls -d /opt/appliance* /usr/local/bin/appliance").stdout == ""
    assert "0.7" in installed.check("cat", "/etc/appliance/appliance.toml")
    assert installed.check("ls", "/var/lib/appliance/models")

    installed.check("/checkouts/this/install.sh", "--uninstall", "--purge")
    assert installed.run("sh", "-c", "ls -d /etc/appliance /var/lib/appliance").stdout == ""
    assert installed.run("id", "appliance").returncode == 1
    found = installed.check("find", "/etc", "/opt", "/usr/local", "/var/cache", "-name", "*appliance*")
    assert found == SSHD  # which is the test's own


def wait_until_ready(container: Container) -> str:
    """The appliance's invocation."""
    container.wait("ready", lambda: container.show("ActiveState")["ActiveState"] == "active")
    return container.show("InvocationID")["InvocationID"]


def restarted(container: Container, invocation: str) -> bool:
    """Whether it is not that one any more, but runs."""
    found = container.show("ActiveState", "InvocationID")
    return found["ActiveState"] == "active" and found["InvocationID"] != invocation


def configuration(container: Container) -> str:
    """The line about it in `appliance status`."""
    lines = container.check("appliance", "status").splitlines()
    return next(line for line in lines if line.startswith("configuration:"))


def install(container: Container, name: str, status: int = 0) -> "subprocess.CompletedProcess[str]":
    """Install a checkout."""
    done = container.run(f"/checkouts/{name}/install.sh", "--offline", "/bundle", timeout=INSTALLING)
    assert done.returncode == status, done.stdout + done.stderr + container.log()
    return done


def over_ssh(container: Container, command: str) -> "subprocess.CompletedProcess[str]":
    """What a command gives that the owner types behind `ssh HOST`."""
    quiet = ["-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes", "-T"]
    return container.run("ssh", *quiet, "anna@127.0.0.1", *([command] if command else []))


def figure(what: str, seconds: float) -> None:
    """Show what was measured."""
    sys.stdout.write(f"{what}: {seconds:.2f} s\n")
