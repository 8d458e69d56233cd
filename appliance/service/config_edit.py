"""`appliance config edit`: the main file in an editor, and nothing is lost when it is bad or somebody was quicker."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from appliance.errors import ApplianceError, BadInputError
from appliance.service.config_change import PLACE, Changer

_EDITORS = ("nano", "vi")


def edit(changer: Changer) -> int:
    """Edit a copy until it is good, then make it the main file. What is not taken over is kept."""
    owner = changer.generations.owner
    before = owner.read().get(owner.main.name, b"")
    with tempfile.NamedTemporaryFile(prefix="appliance-", suffix=".toml", delete=False) as file:
        file.write(before)
    copy = Path(file.name)
    while True:
        _run_editor(copy)
        text = copy.read_bytes()
        if text == before:
            copy.unlink()
            sys.stdout.write("Nothing was changed.\n")
            return 0
        try:
            with changer.generations.alone():
                files = owner.read()
                if files.get(owner.main.name, b"") != before:
                    raise _kept(copy, f"somebody else has changed {owner.main} meanwhile", owner.main)
                after = {**files, owner.main.name: text}
                changer.record(files, after, "edit")
        except BadInputError as error:
            sys.stderr.write(f"{error}\n")
            if not _again():
                raise _kept(copy, "the text is not good as it is", owner.main) from error
            continue
        copy.unlink()
        return changer.tried(files, after)


def _run_editor(path: Path) -> None:
    given = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _EDITORS), "")
    if not given:
        raise ApplianceError(f"{PLACE} edit", "there is no editor here", remedy="Name one in EDITOR")
    try:
        ended = subprocess.run([*shlex.split(given), path], check=False)  # noqa: S603  the owner's own editor
    except (OSError, ValueError) as error:
        raise ApplianceError(f"{PLACE} edit", f"{given} cannot be started: {error}", remedy="See EDITOR") from error
    if ended.returncode:
        raise _kept(path, f"{given} ended with status {ended.returncode}", None)


def _again() -> bool:
    sys.stderr.write("Edit again? [Y/n] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    return bool(answer) and not answer.strip().casefold().startswith("n")


def _kept(copy: Path, why: str, main: Path | None) -> ApplianceError:
    then = f": compare it with {main}, copy it there, then: appliance config apply" if main else ""
    return ApplianceError(f"{PLACE} edit", why, remedy=f"Your text is kept in {copy}{then}")
