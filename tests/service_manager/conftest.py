"""A container in which the appliance was installed, and sound cards of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.bench.soundserver import environment_in
from tests.service_manager.bundle import bundle, checkout
from tests.service_manager.container import Container, booted, missing, system

INSTALLING = 300.0
"""Seconds that an installation may take."""

SOUND = "/srv/sound"
"""Where the container's sound server lies."""

SERVER = f"""
[Service]
Environment=HOME=/root PULSE_RUNTIME_PATH=/run/sound-server
ExecStart=pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes \\
    --load="module-null-sink sink_name=kitchen rate=48000" \\
    --load="module-null-sink sink_name=kitchen_window rate=48000" \\
    --load="module-native-protocol-unix socket={SOUND}/native auth-anonymous=1"
[Install]
WantedBy=multi-user.target
"""

WATCHDOG = 6
"""Seconds of the watchdog, so that tests need not wait for long."""

DROP_IN = f"""
[Service]
Environment=ALSA_CONFIG_PATH={SOUND}/alsa.conf PULSE_SERVER=unix:{SOUND}/native
WatchdogSec={WATCHDOG}
TimeoutStopSec=5
"""

CUT_OFF = """
cd /opt/appliance
mkdir versions/cut-off
ln -s "$(readlink current)" fallback
ln -sfn /opt/appliance/versions/cut-off current
sync
"""
"""What an upgrade has left whose power was cut when it had made a new version current, which does not even start."""


@pytest.fixture(scope="session")
def debian_root() -> Path:
    """A system to boot; the first time it takes a minute."""
    if lacking := missing():
        pytest.skip(f"a system in a container: {lacking}")
    return system()


@pytest.fixture(scope="session")
def packages(debian_root: Path, models_dir: Path) -> Path:
    """What the appliance is installed from, without a network."""
    return bundle(models_dir / "models")


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the container sees as /checkouts; `this` in it is a copy of this checkout."""
    folder = tmp_path_factory.mktemp("checkouts")
    checkout(folder / "this", {})
    return folder


@pytest.fixture(scope="module")
def installed(
    debian_root: Path, packages: Path, checkouts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Container]:
    """A container with the appliance, which has lost its power in an upgrade, and booted again."""
    folder = tmp_path_factory.mktemp("container")
    binds = {packages: "/bundle", checkouts: "/checkouts"}
    with booted(debian_root, folder, binds) as container:
        container.write("/etc/systemd/system/sound-server.service", SERVER)
        container.write(f"{SOUND}/alsa.conf", alsa_configuration(folder))
        container.write("/etc/systemd/system/appliance.service.d/test.conf", DROP_IN)
        container.check("systemctl", "enable", "--now", "sound-server")
        done = container.run("/checkouts/this/install.sh", "--offline", "/bundle", timeout=INSTALLING)
        assert done.returncode == 0, done.stderr + container.log()
        assert "==> The appliance runs, version " in done.stdout
        container.check("sh", "-e", "-c", CUT_OFF)
    with booted(debian_root, folder, binds) as container:
        yield container


def alsa_configuration(folder: Path) -> str:
    """That of the bench's sound server, for the one in the container."""
    environment = environment_in(folder)
    return Path(environment["ALSA_CONFIG_PATH"]).read_text().replace(str(folder), SOUND)
