"""What install.sh says when it cannot go on, on systems made of stand-ins for a few commands."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "install.sh"
REAL = ["bash", "cat", "dirname", "env", "flock", "grep", "head", "mktemp", "realpath", "rm", "sha256sum"]


class System:
    """A checkout, and a machine that has these commands only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = folder / "bin"
        self.commands.mkdir()
        shutil.copy(SCRIPT, folder)
        for name in REAL:
            (self.commands / name).symlink_to(shutil.which(name) or name)
        self.command("id", "echo 1000")
        self.command("dpkg-query", '[ "${@: -1}" = gcc ] && printf installed')
        self.command("python3", "case $2 in *_base_executable*) echo $0 ;; *base_prefix*) echo 3.11 ;; esac")

    def command(self, name: str, script: str) -> None:
        path = self.commands / name
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def root_with_apt(self, script: str) -> Path:
        """Whoever installs is root, and apt does that; the path of a file with the lines that apt was called with."""
        self.command("id", "echo 0")
        self.command("dpkg", "")
        self.command("apt-get", f'echo "$*" >>{self.folder}/apt; {script}')
        return self.folder / "apt"

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.commands / "bash", self.folder / "install.sh", *arguments],
            env={"PATH": str(self.commands)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


MISSING = "libc6-dev pkg-config portaudio19-dev libportaudio2 libsystemd-dev"
PYTHON = "python3.11-venv python3.11-dev"


def line(packages: str) -> str:
    return f"'apt-get update && apt-get install --yes --no-install-recommends {packages}'\n"


def test_help_goes_to_standard_output(system: System) -> None:
    found = system.install("--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("Usage: sudo ./install.sh ")


WRONG = ("walk", "run fast", "run --purge", "run --local-llm", "--purge", "--offline", "--offline a --download b")


@pytest.mark.parametrize("arguments", [line.split() for line in WRONG])
def test_wrong_usage(system: System, arguments: list[str]) -> None:
    found = system.install(*arguments)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("Usage: sudo ./install.sh ")


@pytest.mark.parametrize("arguments", ["", "--local-llm", "--offline here", "--uninstall", "--uninstall --purge"])
def test_only_root_installs_the_service(system: System, arguments: str) -> None:
    found = system.install(*arguments.split())
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == f"Only root may do that: sudo ./install.sh{' ' if arguments else ''}{arguments}\n"


def test_the_service_takes_what_is_compiled_from_the_system(system: System) -> None:
    apt = system.root_with_apt("case $* in *install*) exit 1 ;; esac")
    assert system.install().returncode == 1
    assert (
        apt.read_text()
        .splitlines()[-1]
        .endswith(" install --no-install-recommends python3 python3-venv python3-pyaudio python3-systemd")
    )


def test_a_folder_that_is_no_bundle(system: System) -> None:
    system.root_with_apt("exit 1")
    found = system.install("--offline", "here")
    assert found.returncode == 1
    assert "is not what ./install.sh --download makes" in found.stderr


def test_a_bundle_is_all_that_apt_sees(system: System) -> None:
    (system.folder / "my bundle/debs").mkdir(parents=True)
    (system.folder / "my bundle/debs/Packages.xz").touch()
    system.command("mkdir", "")
    apt = system.root_with_apt(
        'for each; do case $each in Dir::Etc::SourceList=*) echo "$(<"${each#*=}")" >>$0.sources ;; esac; done; exit 1'
    )
    assert system.install("--offline", str(system.folder / "my bundle")).returncode == 1
    assert all("Dir::Etc::SourceParts=/dev/null" in line for line in apt.read_text().splitlines())
    sources = (system.commands / "apt-get.sources").read_text()
    assert sources == f"deb [trusted=yes] file:{system.folder}/my%20bundle/debs ./\n"


def test_without_sudo_the_line_for_root_is_shown(system: System) -> None:
    found = system.install("run")
    assert found.returncode == 1
    assert found.stderr.endswith(f"  su -c {line(f'{MISSING} {PYTHON}')}")


def test_with_a_sudo_that_would_ask_the_line_is_shown_where_nobody_can_answer(system: System) -> None:
    system.command("sudo", "exit 1")
    found = system.install("test")
    assert found.returncode == 1
    test_packages = "pulseaudio pulseaudio-utils libasound2-plugins iproute2 dnsmasq-base"
    test_packages += " systemd systemd-container mmdebstrap debian-archive-keyring gpg"
    if platform.machine() == "x86_64":
        test_packages += " qemu-system-x86 e2fsprogs"
    assert found.stderr.endswith(f"  sudo sh -c {line(f'{MISSING} {test_packages} {PYTHON}')}")


def test_with_sudo_apt_is_called_and_its_failure_shown(system: System) -> None:
    system.command("sudo", 'echo "sudo $*"; case $* in *update*) echo "E: disk full" >&2; exit 100 ;; esac')
    found = system.install("run")
    assert found.returncode == 1
    assert "sudo dpkg --configure -a\nsudo env DEBIAN_FRONTEND=noninteractive apt-get " in found.stdout
    assert found.stderr == "E: disk full\nThe system packages could not be installed; the reason is above.\n"


def test_without_a_network_that_is_the_whole_message(system: System) -> None:
    system.command("sudo", "case $* in *install*) echo 'E: Failed to fetch http://a/b' >&2; exit 100 ;; esac")
    found = system.install("test")
    assert found.returncode == 1
    assert found.stderr == (
        "The system packages could not be fetched: there is no network, or it does not reach them.\n"
        "Run ./install.sh test again when there is: it goes on from here.\n"
    )


def test_only_what_is_missing_is_installed_and_root_needs_no_sudo(system: System) -> None:
    apt = system.root_with_apt("case $* in *install*) exit 1 ;; esac")
    assert system.install("run").returncode == 1
    update, install = apt.read_text().splitlines()
    assert update.endswith(" update")
    assert install.endswith(f" install --no-install-recommends {MISSING} {PYTHON}")


def test_a_system_without_python_gets_one_from_apt(system: System) -> None:
    (system.commands / "python3").unlink()
    found = system.install("run")
    assert found.stderr.endswith(f"  su -c {line(f'{MISSING} python3 python3-venv python3-dev')}")


def test_a_python_that_is_too_old(system: System) -> None:
    system.command("python3", '[ "$1" = --version ] && echo Python 3.9.2 && exit; exit 1')
    found = system.install("run")
    assert found.returncode == 1
    assert "needs Python 3.11 or later, and here is Python 3.9.2" in found.stderr


def test_a_later_python_beside_one_that_is_too_old_is_taken(system: System) -> None:
    (system.commands / "python3").rename(system.commands / "python3.12")
    system.command("python3", "exit 1")
    assert PYTHON in system.install("run").stderr


def test_a_32_bit_system(system: System) -> None:
    system.command("dpkg-query", "printf installed")
    system.command(
        "python3", "case $2 in *_base_executable*) echo $0 ;; *base_prefix*) echo 3.11 ;; *maxsize*) exit 1 ;; esac"
    )
    found = system.install("run")
    assert found.returncode == 1
    assert "install the 64-bit image" in found.stderr


def test_a_failing_environment_leaves_no_sign_of_being_complete(system: System) -> None:
    system.command("dpkg-query", "printf installed")
    system.command(
        "python3",
        "case $2 in *_base_executable*) echo $0 ;; *base_prefix*) echo 3.11 ;; venv) exit 1 ;; esac",
    )
    found = system.install("run")
    assert found.returncode == 1
    assert "The virtual environment could not be made" in found.stderr
    assert not (system.folder / ".venv").exists()
