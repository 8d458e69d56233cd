"""`appliance watch`, in a real terminal and elsewhere."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from appliance.cli import main
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.service.control import Controls, ControlServer
from appliance.service.watching import LEVEL, Watchers
from appliance.watch import BAR

COMMAND = [sys.executable, "-c", "from appliance.cli import command; command()", "watch"]
LONGEST = 30.0


class Shown:
    """What a command has written to a file, as it comes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with_rest = True
        while with_rest:
            try:
                more = os.read(self._descriptor, 10_000)
            except OSError:  # the terminal has gone
                return
            self.text += more.decode(errors="replace")
            with_rest = bool(more)

    def wait(self, pattern: str, meanwhile: Callable[[], None] = lambda: None) -> "re.Match[str]":
        deadline = time.monotonic() + LONGEST
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < deadline, self.text
            meanwhile()
            time.sleep(0.01)
        return found


@contextmanager
def serving(directory: Path) -> Iterator[Watchers]:
    watchers = Watchers()
    with ControlServer(directory, Controls(lambda: None, watchers=watchers)):
        yield watchers


def environment(directory: Path, term: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "APPLIANCE_DATA": str(directory), "TERM": term, "PYTHONIOENCODING": "utf-8"}


@contextmanager
def in_terminal(directory: Path, term: str, columns: int) -> Iterator[tuple["subprocess.Popen[bytes]", Shown, int]]:
    ours, theirs = pty.openpty()
    resize(ours, columns)
    with subprocess.Popen(
        COMMAND, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(directory, term), start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            yield process, Shown(ours), ours
        finally:
            process.kill()
            process.wait()
            os.close(ours)


def resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))


def talk(watchers: Watchers) -> None:
    watchers.report(Report("wake", 1.0, 1, {"by": "word", "word": "alexa", "score": 0.9}))
    watchers.report(Report("heard", 1.0, 1, {"text": "was für ein Tag ist\x1b[2J heute"}))
    watchers.report(Report("reply_text", 1.0, 1, {"text": "Montag."}))


def level(watchers: Watchers) -> None:
    watchers.hear(np.full(LEVEL, 0.1, np.float32), {"alexa": 0.43, "hey_jarvis": 0.01})


def test_a_terminal_shows_the_conversation_and_a_line_that_changes(tmp_path: Path) -> None:
    with serving(tmp_path) as watchers, in_terminal(tmp_path, "xterm", 100) as (process, shown, terminal):
        shown.wait(r"alexa 0\.43  hey_jarvis 0\.01", lambda: level(watchers))
        assert f"idle      {'#' * 13}{'.' * (BAR - 13)} -20.0 dB, peak -20.0 dB" in shown.text
        talk(watchers)
        watchers.phase(Phase.THINKING, 1.0)
        shown.wait(r"\d\d:\d\d:\d\d  \(wake word: alexa\)")
        shown.wait(r"you:     was für ein Tag ist\?\[2J heute")
        shown.wait(r"speaker: Montag\.")
        shown.wait(r"thinking  #+", lambda: level(watchers))
        resize(terminal, 30)
        line = shown.wait(r"\x1b\[K(thinking  #{13}\.{6})\r", lambda: level(watchers))
        assert len(line[1]) == 29
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) == 0
    assert "Traceback" not in shown.text


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    with serving(tmp_path) as watchers, in_terminal(tmp_path, "dumb", 80) as (process, shown, _):
        shown.wait(r"\[idle\]")
        shown.wait(r"\d\d:\d\d:\d\d  #+\.+ -20.0 dB", lambda: level(watchers))
        talk(watchers)
        shown.wait(r"speaker: Montag\.")
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) == 0
    assert "\x1b" not in shown.text


def test_programs_get_lines_of_json_and_a_new_appliance_is_found(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first = ExitStack()
        watchers = first.enter_context(serving(tmp_path))
        process = stack.enter_context(
            subprocess.Popen(
                [*COMMAND, "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(tmp_path, "dumb"),
            )
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["phase"] == "idle"
        watchers.report(Report("heard", 1.0, 7, {"text": "hello"}))
        heard = json.loads(process.stdout.readline())
        assert (heard["kind"], heard["generation"], heard["text"]) == ("heard", 7, "hello")
        first.close()
        assert b"has gone, and is waited for" in process.stderr.readline()
        stack.enter_context(serving(tmp_path))
        assert json.loads(process.stdout.readline())["phase"] == "idle"
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) == 0
        assert process.stderr.read() == b""


def test_without_an_appliance_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))
    assert main(["watch"]) == 1
    assert "no appliance is running here" in capsys.readouterr().err
