"""What a restricted account may do over SSH: the commands that control a running appliance.

sshd runs this instead of a shell (systemd/sshd-owner.conf). No shell sees what the owner types.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from appliance.cli import make_parser
from appliance.errors import BadInputError

COMMAND = "/usr/local/bin/appliance"

ALLOWED = ("config", "doctor", "llm", "press", "say", "status", "wake", "watch")
"""No `config edit`: an editor opens any file, and most of them a shell."""

HARMLESS = frozenset(("gesture", "key", "keys", "name", "number", "pairs", "seconds", "text"))
"""What the arguments are called that take words of any kind. All others may name a file, whose lines an error shows."""


def main() -> NoReturn:
    """Become the command that was asked for; end with 2 when it is not allowed."""
    try:
        words = command_line(os.environ.get("SSH_ORIGINAL_COMMAND", ""))
        refuse_files(words)
    except BadInputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.status)
    os.execv(COMMAND, [COMMAND, *words])  # noqa: S606  no shell is the point


def command_line(asked: str) -> Sequence[str]:
    """The arguments of the command `appliance` that was asked for. BadInputError: it is another one, or not allowed."""
    allowed = f"appliance {'|'.join(ALLOWED)}, and no config edit"
    example = "Try: ssh HOST appliance status"
    try:
        words = shlex.split(asked)
    except ValueError as error:
        raise BadInputError(asked, f"it cannot be read: {error}", allowed=allowed) from error
    if not words:
        raise BadInputError("ssh", "this account has no shell", allowed=allowed, remedy=example)
    if words[0] != "appliance" or words[1:2] not in [[name] for name in ALLOWED] or words[1:3] == ["config", "edit"]:
        raise BadInputError(asked, "this account may not do that", allowed=allowed)
    return words[1:]


def refuse_files(words: Sequence[str]) -> None:
    """BadInputError: an argument names a file, or may do so. SystemExit: wrong usage, or help was asked for."""
    for name, value in vars(make_parser().parse_args(words)).items():
        is_switch = value is None or isinstance(value, bool) or callable(value)
        if isinstance(value, Path) or not (is_switch or name in HARMLESS):
            allowed = "the configuration in its place, /etc/appliance"
            raise BadInputError(str(value), "this account may not name files", allowed=allowed)


if __name__ == "__main__":
    main()
