"""Configurations that are mutated in their bytes, their structure and their types: whatever comes of it is taken or
refused in words, and what was in force before stays in force.

The environment may say: CONFIG_MUTATIONS, how many (2,000), and CONFIG_SEED, the first seed (0).
"""

import os
import random
import re
from pathlib import Path

import pytest

from appliance.cli import main
from appliance.config.editing import with_values
from appliance.config.generations import Generations
from appliance.config.keys import all_keys
from appliance.config.layers import combine
from appliance.config.schema import Settings
from appliance.config.typed import read
from appliance.errors import ApplianceError, BadInputError
from tests.config.power import FakeDisk

COUNT = int(os.environ.get("CONFIG_MUTATIONS", "2000"))
SEED = int(os.environ.get("CONFIG_SEED", "0"))

DATA, MAIN = Path("/data/config"), Path("/etc/appliance/appliance.toml")
STATE = DATA / "state.json"
DOCUMENTED = (Path(__file__).parents[2] / "config/appliance.toml").read_text()
SHORT = """\
profile = "pi-usb"
[wake] # how it is called
words = ["alexa", "hey_jarvis"]
threshold = 0.6
thresholds = {alexa = 0.7}
[listening]
pause = 0.5
[llm]
servers = ["gpu.lan:8080"]
room = "kitchen"
"""
OLD = '[llm]\nroom = "the old one"\n'
DROP_IN = "[wake]\nthreshold = 0.4\n[button]\npin = 4\n"

VALUES = [
    *("1", "0", "-1", "0.5", "1e999", "nan", "-inf", "9" * 30, "9" * 5000, "0x" + "f" * 400, "true", "1979-05-27"),
    *('""', "'x'", '"\\u0000"', '"""\n[wake]\n"""', "[]", '["alexa"]', "[[1]]", "{}", "{alexa = 0.5}", "[" * 900),
    *("07:32:00", '"none"', '"ko"', '"' + "x" * 5000 + '"', "null", "usb", "=", ""),
]
PIECES = [
    *(
        "[wake]\n",
        "[wake.words]\n",
        "[[wake]]\n",
        "[llm\n",
        "wake.threshold = 0.5\n",
        "wake = 3\n",
        "[[",
        "]]",
        "{",
        "}",
    ),
    *('"', "'''", '"""', "\\", "#", "=", ".", "\0", "\r", "\ufeff", "é", "a.b.c.d = 1\n", "[a]\n[a]\n", "\x1b[31m"),
]
WORD = re.compile(r"\w+")


class Mutator:
    """Mutates a text, always in the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311

    def text(self, text: str) -> bytes:
        """A few mutations of one kind or another."""
        for _ in range(self.chance.choice([0, 1, 1, 1, 2, 3, 8])):
            text = self.chance.choice([self.line, self.value, self.name, self.piece])(text)
        content = text.encode()
        return self.bytes(content) if self.chance.random() < 0.3 else content

    def bytes(self, content: bytes) -> bytes:
        """Bits that fell over, and ends that are missing."""
        changed = bytearray(content)
        for _ in range(self.chance.choice([1, 1, 3, 20])):
            at = self.chance.randrange(len(changed) + 1)
            match self.chance.randrange(4):
                case 0:
                    changed[at : at + 1] = self.chance.randbytes(1)
                case 1:
                    del changed[at : at + self.chance.choice([1, 5, 1000])]
                case 2:
                    changed[at:at] = self.chance.randbytes(self.chance.choice([1, 4, 100]))
                case _:
                    changed[at:] = bytes(self.chance.choice([0, 0, 50]))
        return bytes(changed)

    def line(self, text: str) -> str:
        """Lines that went, came twice, or stand elsewhere."""
        lines = text.splitlines(keepends=True) or [""]
        at = self.chance.randrange(len(lines))
        line = lines[at]
        if self.chance.random() < 0.6:
            del lines[at]
        if self.chance.random() < 0.6:
            lines.insert(self.chance.randrange(len(lines) + 1), line)
        return "".join(lines)

    def value(self, text: str) -> str:
        """Another value for a key."""
        lines = text.splitlines(keepends=True)
        keys = [index for index, line in enumerate(lines) if "=" in line]
        if keys:
            at = self.chance.choice(keys)
            lines[at] = f"{lines[at].partition('=')[0]}= {self.chance.choice(VALUES)}\n"
        return "".join(lines)

    def name(self, text: str) -> str:
        """Another name for a key or a table, or a letter too few in it."""
        found = list(WORD.finditer(text))
        if not found:
            return text
        word = self.chance.choice(found)
        others = [word.group()[:-1], word.group().upper(), self.chance.choice(found).group(), ""]
        return text[: word.start()] + self.chance.choice(others) + text[word.end() :]

    def piece(self, text: str) -> str:
        """Something in between."""
        at = self.chance.randrange(len(text) + 1)
        return text[:at] + self.chance.choice(PIECES) + text[at:]


def _in_force() -> FakeDisk:
    disk = FakeDisk({MAIN: OLD.encode()})
    these = Generations(DATA, MAIN, disk)
    start = these.at_start()
    assert start.generation == 1
    these.confirm(1)
    return disk


IN_FORCE = _in_force()
BEFORE = Generations(DATA, MAIN, IN_FORCE.rebooted(None)).at_start().settings


def play(seed: int) -> bool:
    """Whether what came of this seed is good."""
    mutator = Mutator(seed)
    files = {"appliance.toml": mutator.text(mutator.chance.choice([DOCUMENTED, *[SHORT] * 9]))}
    if mutator.chance.random() < 0.3:
        files["appliance.toml.d/10.toml"] = mutator.text(DROP_IN)
    disk = IN_FORCE.rebooted(None)
    disk.remove(MAIN)
    disk.make_folder(MAIN.parent / "appliance.toml.d")
    for name, content in files.items():
        disk.write(MAIN.parent / name, content)
    state_is_whole = mutator.chance.random() < 0.9
    if not state_is_whole:
        content = disk.read(STATE)
        disk.remove(STATE)
        disk.write(STATE, mutator.bytes(content))
    these = Generations(DATA, MAIN, disk)
    good = _meaning(these, files)
    start = these.at_start()
    assert these.owner.read() == files, "the owner's files are left alone"
    if good is None:
        assert start.settings == BEFORE or (not state_is_whole and start.settings == Settings())
        assert not start.on_trial
        assert "in force" in start.notes[-1]
        with pytest.raises(BadInputError):
            these.begin_trial()
    else:
        assert start.settings == good
        assert start.on_trial or good == BEFORE
        assert start.generation is not None
        back = these.reject(start.generation, "of a test") if start.on_trial else start
        assert back.settings in (BEFORE, good) if state_is_whole else True
    assert Generations(DATA, MAIN, disk).at_start().settings in (BEFORE, good, Settings())
    if mutator.chance.random() < 0.4:
        _edit(mutator, these, files, good is not None)
    return good is not None


def _meaning(these: Generations, files: dict[str, bytes]) -> Settings | None:
    try:
        return combine(these.owner.sources(files)).settings
    except BadInputError as error:
        for line in str(error).splitlines():
            assert line.startswith("/etc/appliance/appliance.toml"), line
            assert len(line) < 1000
            assert line.isprintable()
        return None


def _edit(mutator: Mutator, these: Generations, files: dict[str, bytes], good: bool) -> None:
    key, _ = mutator.chance.choice(list(all_keys()))
    text = mutator.chance.choice(VALUES)
    try:
        value = read(text, key, "here")
        after = with_values(files, [(key, value)], these.owner)
    except ApplianceError:
        return
    if good:
        table = these.check(after) if _meaning(these, after) else None
        assert table is None or key in table.origins or value == {}


@pytest.mark.timeout(300 + COUNT // 20)
def test_any_mutation_is_taken_or_refused() -> None:
    good = 0
    for seed in range(SEED, SEED + COUNT):
        try:
            good += play(seed)
        except BaseException as error:
            error.add_note(f"again: CONFIG_SEED={seed} CONFIG_MUTATIONS=1 pytest {__file__}")
            raise
    if COUNT > 100:
        assert COUNT / 20 < good < COUNT * 19 / 20, "of both kinds there are enough"


def test_the_command_refuses_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "any.toml"
    for seed in range(SEED, SEED + max(COUNT // 50, 1)):
        file.write_bytes(Mutator(seed).text(SHORT))
        status = main(["config", "check", str(file)])
        said = capsys.readouterr()
        assert status == (2 if said.err else 0)
        assert all(line.startswith(str(file)) for line in said.err.splitlines())
        assert bool(said.out) == (status == 0)
