"""`appliance config edit`: the main file in an editor, and nothing is lost when it is bad or somebody was quicker."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from appliance.errors import ApplianceError
from appliance.service.config_change import PLACE, Changer

_EDITORS = ("nano", "vi")


def edit(changer: Changer) -> int:
    """Edit a copy until it is good, then make it the main file. What is not taken over is kept."""
    owner = changer.generations.owner
    before = owner.read().get(owner.main.name, b"")
    command = _editor()
    with tempfile.NamedTemporaryFile(prefix="appliance-", suffix=".toml", delete=False) as file:
        file.write(before)
    copy = Path(file.name)
    while True:
        _run(command, copy)
        text = copy.read_bytes()
        if text == before:
            copy.unlink()
            sys.stdout.write("Nothing was changed.\n")
            return 0
        try:
            with changer.generations.alone():
                files = owner.read()
                if files.get(owner.main.name, b"") != before:
                    break
                after = {**files, owner.main.name: text}
                changer.record(files, after, "edit")
        except ApplianceError as error:
            sys.stderr.write(f"{error}\n")
            if not _again():
                raise _kept(copy, "this was not taken over", owner.main) from error
            continue
        copy.unlink()
        return changer.tried(files, after)
    raise _kept(copy, f"somebody else has changed {owner.main} meanwhile", owner.main)


def _editor() -> list[str]:
    given = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _EDITORS), "")
    try:
        command = shlex.split(given)
    except ValueError:  # a quotation mark too many
        command = [given]
    if command and shutil.which(command[0]):
        return command
    found = f"{given} is not here" if given else "there is no editor here"
    raise ApplianceError(f"{PLACE} edit", found, remedy="Name one in EDITOR")


def _run(command: list[str], path: Path) -> None:
    status = subprocess.run([*command, path], check=False).returncode  # noqa: S603  the owner's own editor
    if status:
        raise _kept(path, f"{command[0]} ended with status {status}", None)


def _again() -> bool:
    sys.stderr.write("Edit again? [Y/n] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    return bool(answer) and not answer.strip().casefold().startswith("n")


def _kept(copy: Path, why: str, main: Path | None) -> ApplianceError:
    then = f": compare it with {main}, copy it there, then: appliance config apply" if main else ""
    return ApplianceError(f"{PLACE} edit", why, remedy=f"Your text is kept in {copy}{then}")
