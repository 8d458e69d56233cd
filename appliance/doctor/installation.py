"""What was installed: the configuration, the models, the service, the permissions, and the button."""

import grp
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path

from appliance.config.schema import Settings
from appliance.doctor.check import Finding, Patient, bad, good
from appliance.errors import ApplianceError
from appliance.models.directory import REPAIR, damages, models_in
from appliance.models.manifest import load_manifest, needed
from appliance.panel import button as pins
from appliance.service.condition import ButtonStatus

USER = "appliance"
"""Whom the service runs as."""

SOUND = Path("/dev/snd")

_LOG = "See: journalctl --unit appliance --lines 30"


def models(patient: Patient) -> Iterable[Finding]:
    """Whether all that the configuration needs are there, and whole."""
    settings = patient.settings
    wanted = needed(load_manifest(), settings.language, settings.engine, settings.wake.installed, settings.voice_name)
    found = {model.name: damage for model in wanted if (damage := damages(model, patient.directory))}
    if found:
        problems = "; ".join(f"{each.path}: {each.problem}" for damage in found.values() for each in damage)
        yield bad("models", f"{problems}, in {models_in(patient.directory)}", f"{REPAIR} {' '.join(found)}")
    else:
        yield good("models", f"{', '.join(model.name for model in wanted)}: all whole")


def service(patient: Patient) -> Iterable[Finding]:
    """Whether systemd runs it."""
    unit = patient.unit
    if unit is None:
        yield good("service", "it is not installed as one")
        return
    text = f"{unit.state}, restarted by itself {unit.restarts} times"
    if not unit.state.startswith("active"):
        result = "" if unit.result == "success" else f", {unit.result}"
        yield bad("service", f"{text}{result}", f"Type: sudo systemctl start appliance. {_LOG}")
    else:
        yield good("service", text)


def appliance(patient: Patient) -> Iterable[Finding]:
    """What the running one says."""
    condition = patient.condition
    if condition is None:
        yield good("appliance", "none is running, so its cards are tried here")
        return
    for problem in condition.problems:
        yield bad("appliance", problem, _LOG)
    if not condition.problems:
        yield good("appliance", f"it is running, and {condition.phase}")
    configuration = condition.configuration
    if configuration is not None and configuration.taken_back:
        yield bad(
            "configuration", f"taken back: {configuration.taken_back}", "Change it again: appliance config history"
        )


def permissions(patient: Patient) -> Iterable[Finding]:
    """Whether its user may use the cards and the pins."""
    user = pwd.getpwuid(os.geteuid()) if patient.unit is None else pwd.getpwnam(USER)
    wanted = {"audio": sorted(SOUND.glob("pcm*")), "gpio": _chips(patient.settings)}
    for group, nodes in wanted.items():
        refused = [node for node in nodes if not may_use(node, user)]
        if refused:
            remedy = f"Type: sudo usermod --append --groups {group} {user.pw_name}, and restart it"
            yield bad("permissions", f"the user {user.pw_name} may not use {refused[0]}", remedy)
    if all(may_use(node, user) for nodes in wanted.values() for node in nodes):
        yield good("permissions", f"the user {user.pw_name} may use all that it needs")


def may_use(node: Path, user: pwd.struct_passwd) -> bool:
    """Whether `user` may read and write it."""
    if user.pw_uid == 0:
        return True
    status = node.stat()
    mode = status.st_mode
    groups = {user.pw_gid, *(group.gr_gid for group in grp.getgrall() if user.pw_name in group.gr_mem)}
    if status.st_uid == user.pw_uid:
        return mode & stat.S_IRUSR != 0 and mode & stat.S_IWUSR != 0
    if status.st_gid in groups:
        return mode & stat.S_IRGRP != 0 and mode & stat.S_IWGRP != 0
    return mode & stat.S_IROTH != 0 and mode & stat.S_IWOTH != 0


def button(patient: Patient) -> Iterable[Finding]:
    """Whether it can be pressed."""
    pin = patient.settings.button.pin
    if patient.condition is not None:
        yield _button_in_use(patient.condition.button)
    elif pin == "none":
        yield good("button", "there is none, by the configuration")
    elif not _chips(patient.settings):
        yield good("button", "there are no pins here; appliance press does the same")
    else:
        try:
            factory = pins.open_pins()
        except ApplianceError as error:
            yield bad("button", error.found, error.remedy)
            return
        if factory is not None:
            factory.close()
        yield good("button", f"pin {pin} can be used")


def _button_in_use(button: ButtonStatus) -> Finding:
    if button.state == "broken":
        return bad("button", button.why, button.remedy)
    if button.state == "works":
        return good("button", "it works, as far as can be known before it is pressed")
    return good("button", "the running appliance has none; appliance press does the same")


def _chips(settings: Settings) -> list[Path]:
    if settings.button.pin == "none" or not pins.MODEL.exists():
        return []
    return sorted(pins.DEVICES.glob("gpiochip*"))
