"""What gets into the journal, and that no words do."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.quests import Quest, QuestManager
from appliance.service import journal
from appliance.service.journal import JournalObserver, is_journal, log_to_journal

Entries = list[dict[str, str]]


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Entries]:
    """What the journal gets from now on."""
    sent: Entries = []

    def sendv(*fields: str) -> None:
        sent.append(dict(field.split("=", 1) for field in fields))

    monkeypatch.setattr("systemd.journal.sendv", sendv)
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers.clear()
    log_to_journal(logging.WARNING)
    yield sent
    root.handlers[:] = before
    root.setLevel(level)
    logging.getLogger(journal.__name__).setLevel(logging.NOTSET)


def test_a_turn_is_written_without_its_words(entries: Entries) -> None:
    observer = JournalObserver()
    for report in (
        Report("wake", 1.0, 3, {"by": "word", "word": "alexa", "score": 0.87}),
        Report("speech_start", 1.5, 3),
        Report("speech_end", 2.0, 3, {"why": "silence", "decided": 2.4}),
        Report("heard", 2.5, 3, {"text": "tell me a secret"}),
        Report("intent", 2.5, 3, {"intent": "model"}),
        Report("reply_text", 2.6, 3, {"text": "a secret", "by": "gpu.lan"}),
        Report("reply_start", 2.75, 3),
        Report("interrupted", 3.0, 3, {"by": "button"}),
        Report("silent", 3.1, 3),
        Report("reply_end", 3.1, 3, {"seconds": 0.35, "cut": True}),
        Report("notice", 4.0, 4, {"text": "nobody spoke"}),
    ):
        observer.report(report)
    observer.phase(Phase.IDLE, 4.0)
    assert [entry["MESSAGE"] for entry in entries] == [
        "turn 3: woken (by word, word alexa, score 0.87)",
        "turn 3: words were heard",
        "turn 3: what is wanted is known (intent model)",
        "turn 3: the reply begins (first_sound 0.75)",
        "turn 3: interrupted (by button)",
        "turn 3: the reply is over (seconds 0.35, cut True)",
        "turn 4: nobody spoke",
    ]
    assert "secret" not in str(entries)
    first = entries[0]
    assert (first["APPLIANCE_KIND"], first["TURN"], first["GENERATION"]) == ("wake", "3", "3")
    assert (first["APPLIANCE_WORD"], first["APPLIANCE_SCORE"]) == ("alexa", "0.87")
    assert (first["PRIORITY"], first["SYSLOG_IDENTIFIER"]) == ("6", "appliance")
    assert all(name.isupper() for entry in entries for name in entry)


def test_what_a_quest_logs_has_its_name_and_the_turn_that_it_works_for(entries: Entries) -> None:
    async def work() -> None:
        logging.getLogger("anything").warning("it works for %s", "you")

    async def main() -> None:
        async with QuestManager() as quests:
            for name in ("think-12", "language model"):
                quests.start(Quest.from_run_step(name, work))
            await quests.wait()

    asyncio.run(main())
    of_turn, other = entries
    assert (of_turn["QUEST"], of_turn["TURN"], of_turn["GENERATION"]) == ("think-12", "12", "12")
    assert other["QUEST"] == "language model"
    assert "TURN" not in other
    assert other["MESSAGE"] == "it works for you"
    assert "CODE_ARGS" not in other


def test_what_is_logged_of_a_quest_has_its_name(entries: Entries) -> None:
    async def work() -> None:
        raise OSError("broken")

    async def main() -> None:
        async with QuestManager() as quests:
            quests.start(Quest.from_run_step("speak-3", work))
            with suppress(Exception):
                await quests.wait()

    asyncio.run(main())
    (entry,) = entries
    assert (entry["QUEST"], entry["TURN"], entry["PRIORITY"]) == ("speak-3", "3", "3")
    assert "Traceback" in entry["MESSAGE"]
    assert "EXCEPTION_INFO" not in entry


def test_outside_of_a_quest_there_is_none(entries: Entries) -> None:
    logging.getLogger("anything").warning("by itself")
    asyncio.run(_log_in_a_task())
    assert all("QUEST" not in entry for entry in entries)
    assert len(entries) == 2


async def _log_in_a_task() -> None:
    logging.getLogger("anything").warning("in a task")


WRITER = """
import logging, os, socket, sys
os.makedirs("/run/systemd/journal")
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journald:
    journald.bind("/run/systemd/journal/socket")
    journald.settimeout(20)
    from appliance.core.effects import Report
    from appliance.service.journal import JournalObserver, log_to_journal
    log_to_journal(logging.WARNING)
    JournalObserver().report(Report("interrupted", 1.0, 12, {"by": "button"}))
    sys.stdout.write(journald.recv(10_000).decode())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have a journal of its own")
def test_the_library_sends_the_fields() -> None:
    command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"]
    done = subprocess.run([*command, sys.executable, "-c", WRITER], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    assert "MESSAGE=turn 12: interrupted (by button)" in lines, done.stderr
    assert {"TURN=12", "GENERATION=12", "APPLIANCE_KIND=interrupted", "PRIORITY=6"} <= set(lines)
    assert all(line.partition("=")[0].isupper() for line in lines)


@pytest.mark.parametrize("stream", ["", "7:7", None])
def test_whatever_else_errors_go_to_is_no_journal(monkeypatch: pytest.MonkeyPatch, stream: str | None) -> None:
    if stream is None:
        monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    else:
        monkeypatch.setenv("JOURNAL_STREAM", stream)
    assert not is_journal()


def test_a_socket_that_systemd_names_is_the_journal() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        status = os.fstat(theirs.fileno())
        environment = {**os.environ, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        code = "import sys; from appliance.service.journal import is_journal; sys.exit(not is_journal())"
        done = subprocess.run([sys.executable, "-c", code], stderr=theirs.fileno(), env=environment, check=False)
    assert done.returncode == 0
