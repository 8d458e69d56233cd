"""`appliance doctor`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.doctor.check import Check, Finding, Patient


def add_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    data_directory: Callable[[], Path],
    parents: Sequence[argparse.ArgumentParser],
) -> None:
    """Register the command; `data_directory` says where the appliance is, `parents` which configuration is meant."""
    parser = commands.add_parser("doctor", parents=parents, help="what is wrong, and what to do about it")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(handler=lambda options: _doctor(options.config, data_directory(), json=options.json))


def _doctor(config: Path | None, directory: Path, *, json: bool) -> int:
    from appliance.doctor.check import examine

    patient, before = _meet(config, directory)
    findings = []
    for finding in (*before, *examine(_checks(), patient)):
        findings.append(finding)
        if not json:
            _print(finding)
    if json:
        import msgspec

        content = {"good": all(finding.good for finding in findings), "findings": findings}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n")
    return 0 if all(finding.good for finding in findings) else 1


def _checks() -> "Sequence[Check]":
    from appliance.doctor import installation, machine, network, sound

    return (
        installation.models,
        installation.service,
        installation.appliance,
        installation.permissions,
        installation.button,
        sound.cards,
        sound.sound,
        network.network,
        network.language_model,
        machine.clock,
        machine.temperature,
        machine.power,
        machine.disk,
        machine.memory,
    )


def _meet(config: Path | None, directory: Path) -> "tuple[Patient, list[Finding]]":
    """Whom the checks look at, and what is found out by that."""
    from appliance.config.schema import Settings
    from appliance.config.store import load
    from appliance.doctor.check import Patient, bad, good
    from appliance.errors import ApplianceError, BadInputError
    from appliance.service.address import SERVICE, SERVICE_DATA, place_of
    from appliance.service.client import NotRunningError, ask
    from appliance.service.condition import Condition
    from appliance.service.request import ListedServer, Servers, Status
    from appliance.service.unit import unit

    findings = []
    try:
        settings = load(config)
        findings.append(good("configuration", "it can be used as it is"))
    except BadInputError as error:
        settings = Settings()
        findings.append(bad("configuration", str(error), "Correct it: appliance config edit"))
    condition: Condition | None = None
    servers: Sequence[ListedServer] = ()
    try:
        condition = ask(directory, Status()).status
        servers = ask(directory, Servers()).servers
    except NotRunningError:
        pass
    except ApplianceError as error:
        findings.append(bad("appliance", error.found, error.remedy))
    if place_of(directory) == SERVICE:  # whoever asks may have a data directory of his own
        directory = SERVICE_DATA
    return Patient(settings, directory, unit(), condition, servers), findings


def _print(finding: "Finding") -> None:
    sys.stdout.write(f"{'good' if finding.good else 'BAD ':<6}{finding.name:<16}{finding.text}\n")
    if finding.remedy:
        sys.stdout.write(f"{'':<22}{finding.remedy}\n")
    sys.stdout.flush()
