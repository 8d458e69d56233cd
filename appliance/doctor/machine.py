"""The machine: clock, temperature, power, disk and memory."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from appliance.doctor.check import Finding, Patient, bad, good

THERMAL = Path("/sys/class/thermal")
HWMON = Path("/sys/class/hwmon")
MEMORY = Path("/proc/meminfo")

HOT = 80.0
"""Degrees Celsius at which a Raspberry Pi begins to slow down."""

LEAST_DISK = 200_000_000
"""Bytes that have to be free."""

LEAST_MEMORY = 50_000_000
"""Bytes that have to be available."""

_TIME_ERROR = 5
"""What adjtimex returns while nothing keeps the clock right."""

_TIMEX = 256
"""Bytes that are enough for what adjtimex fills in."""

_THROTTLED = ((0, "the voltage is too low now"), (2, "it is slowed down now"), (16, "the voltage was too low"))
"""The bits of `vcgencmd get_throttled` that tell of bad power."""


def clock(patient: Patient) -> Iterable[Finding]:
    """Whether something keeps it right: certificates and the time that is told depend on it."""
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX)) == _TIME_ERROR:
        yield bad("clock", "nothing keeps it right", "Type: sudo timedatectl set-ntp true, and see: timedatectl")
    else:
        yield good("clock", "it is synchronised")


def temperature(patient: Patient) -> Iterable[Finding]:
    """The hottest part that tells."""
    found = [degrees for path in THERMAL.glob("thermal_zone*/temp") if (degrees := _number(path)) is not None]
    if not found:
        return
    hottest = max(found) / 1000
    if hottest >= HOT:
        yield bad("temperature", f"{hottest:.0f} °C, and the machine slows down", "Give it air, or a heat sink")
    else:
        yield good("temperature", f"{hottest:.0f} °C")


def power(patient: Patient) -> Iterable[Finding]:
    """Whether a Raspberry Pi gets enough voltage; other machines do not tell."""
    throttled = _throttled()
    problems = [text for bit, text in _THROTTLED if (throttled or 0) >> bit & 1]
    alarms = [_number(path.with_name("in0_lcrit_alarm")) for path in HWMON.glob("*/name") if _is_of_power(path)]
    if any(alarms) and not problems:
        problems = ["the voltage was too low"]
    if problems:
        yield bad("power", " and ".join(problems), "Use the power supply made for it, and a short, thick cable")
    elif alarms or throttled is not None:
        yield good("power", "the voltage was never too low")


def disk(patient: Patient) -> Iterable[Finding]:
    """Whether there is room for what has to be remembered."""
    folder = next(path for path in (patient.directory, *patient.directory.parents) if path.exists())
    usage = shutil.disk_usage(folder)
    text = f"{usage.free / 1e9:.1f} GB are free of {usage.total / 1e9:.1f} GB, in {folder}"
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield bad("disk", f"{folder} cannot be written", "See whether the card is worn out: dmesg")
    elif usage.free < LEAST_DISK:
        yield bad("disk", text, "Remove something, for instance old logs: sudo journalctl --vacuum-size=50M")
    else:
        yield good("disk", text)


def memory(patient: Patient) -> Iterable[Finding]:
    """Whether there is room to think."""
    lines = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines() if ":" in line)
    available = int(lines["MemAvailable"].split()[0]) * 1024
    text = f"{available / 1e6:.0f} MB are available"
    if available < LEAST_MEMORY:
        yield bad("memory", text, "See what uses it: ps aux --sort=-rss | head")
    else:
        yield good("memory", text)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _is_of_power(name: Path) -> bool:
    return name.read_text().strip() == "rpi_volt"


def _throttled() -> int | None:
    """What the firmware of a Raspberry Pi tells; None on another board, or for a user that may not ask."""
    command = shutil.which("vcgencmd")
    if command is None:
        return None
    try:
        said = subprocess.run([command, "get_throttled"], capture_output=True, text=True, timeout=5, check=True).stdout  # noqa: S603
        return int(said.strip().rpartition("=")[2], 16)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
