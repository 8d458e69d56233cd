"""What is known of the generations of the configuration, as DATA/config/state.json keeps it. No files are touched here.

A generation is `waiting` once it is recorded, is on `trial` once the appliance runs with it, and is then `confirmed`
or `rejected`; an orderly end of the appliance lets it wait again. One that waited when another came is `untried`.
After state.json was lost, all are `unknown`.

    waiting ◄─► trial ──► confirmed
       │          └─────► rejected
       └──► untried
"""

import hashlib
from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from appliance.config.owner import Files

KEPT = 50
"""Generations."""

Outcome = Literal["waiting", "trial", "confirmed", "rejected", "untried", "unknown"]
Number = Annotated[int, msgspec.Meta(ge=1, le=10**9)]


class Record(msgspec.Struct, frozen=True):
    """One generation."""

    number: Number
    digest: str
    at: str = ""
    """The local time; for people only, since the clock of a board may be wrong."""
    by: str = ""
    outcome: Outcome = "unknown"
    why: str = ""
    """It was rejected."""


class Writing(msgspec.Struct, frozen=True):
    """The files of the owner are being made those of this generation; `before`, by their digests, they were others."""

    number: Number
    before: dict[str, str]


class State(msgspec.Struct, frozen=True):
    """All generations, the oldest first; `confirmed` is the one to go back to."""

    records: tuple[Record, ...] = ()
    confirmed: Number | None = None
    writing: Writing | None = None

    def record(self, number: int | None) -> Record | None:
        """The one of that number, if it is known."""
        return next((record for record in self.records if record.number == number), None)

    def latest(self, digest: str) -> Record | None:
        """The youngest one with these files."""
        return next((record for record in reversed(self.records) if record.digest == digest), None)

    @property
    def on_trial(self) -> Record | None:
        """The one on trial."""
        return next((record for record in reversed(self.records) if record.outcome == "trial"), None)

    def with_new(self, record: Record) -> "State":
        """`record` is the youngest now; what waited before will not be tried."""
        return replace(self, records=(*self.settled("waiting").records, record))

    def settled(self, *outcomes: Outcome) -> "State":
        """What has one of these `outcomes` will not be tried any more."""
        return replace(
            self,
            records=tuple(
                replace(each, outcome="untried") if each.outcome in outcomes else each for each in self.records
            ),
        )

    def begun(self, number: int) -> "State":
        """It is on trial, and nothing else is."""
        return self.settled("waiting", "trial")._with(number, "trial")

    def waits(self, number: int) -> "State":
        """It is to be tried at the next start."""
        return self._with(number, "waiting")

    def was_confirmed(self, number: int) -> "State":
        """It is the one to go back to."""
        return replace(self._with(number, "confirmed"), confirmed=number)

    def was_rejected(self, number: int, why: str) -> "State":
        """It did not work."""
        return self._with(number, "rejected", why)

    def trimmed(self) -> "State":
        """Without the oldest ones that nobody needs."""
        kept = {record.number for record in self.records[-KEPT:]} | {self.confirmed}
        return replace(self, records=tuple(record for record in self.records if record.number in kept))

    def _with(self, number: int, outcome: Outcome, why: str = "") -> "State":
        return replace(
            self,
            records=tuple(
                replace(each, outcome=outcome, why=why) if each.number == number else each for each in self.records
            ),
        )


def decode(content: bytes) -> State:
    """What a file says. ValueError: it is damaged."""
    try:
        return msgspec.json.decode(content, type=State)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def encode(state: State) -> bytes:
    """The file that says it."""
    return msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n"


def unknown(numbers_and_files: Iterable[tuple[int, Files]]) -> State:
    """What is left to know when only the files of the generations are there."""
    return State(tuple(Record(number, digest_of(files)) for number, files in numbers_and_files))


def digest_of(files: Files) -> str:
    """The same for the same files only."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{len(files[name])}\0".encode(errors="surrogateescape") + files[name])
    return whole.hexdigest()


def digests(files: Files) -> dict[str, str]:
    """The digest of each file by itself."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
