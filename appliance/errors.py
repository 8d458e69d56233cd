"""The one kind of error that is written for people."""

from collections.abc import Sequence


class ApplianceError(Exception):
    """Something a person can mend: names the place, what was found there, what is allowed, and what to do.

    `status` is the exit status of a command that ends with it: 1 failed, 2 wrong usage or bad input.
    """

    def __init__(self, place: str, found: str, *, allowed: str = "", remedy: str = "", status: int = 1) -> None:
        self.place = place
        self.found = found
        self.allowed = allowed
        self.remedy = remedy
        self.status = status
        parts = [_sentence(f"{place}: {found}")]
        if allowed:
            parts.append(_sentence(f"Allowed: {allowed}"))
        if remedy:
            parts.append(_sentence(remedy))
        super().__init__(" ".join(parts))


class BadInputError(ApplianceError):
    """What the user gave cannot be used as it is (exit status 2)."""

    def __init__(self, place: str, found: str, *, allowed: str = "", remedy: str = "") -> None:
        super().__init__(place, found, allowed=allowed, remedy=remedy, status=2)


class SeveralProblemsError(BadInputError):
    """All that is wrong with one input; `problems` has a line for each, and the message is these lines."""

    def __init__(self, place: str, problems: Sequence[str]) -> None:
        super().__init__(place, problems[0])
        self.problems = tuple(problems)
        self.args = ("\n".join(problems),)


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text.rstrip('.')}."
