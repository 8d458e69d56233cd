"""Whoever watches is told what happens, and holds up nobody."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.service.client import ask, asked
from appliance.service.control import LONG, Controls, ControlServer
from appliance.service.request import Status, Watch
from appliance.service.watching import LEVEL, MOST, Lines, Watchers


def watching(work: Callable[[Watchers, Lines], Coroutine[Any, Any, None]]) -> None:
    """Have `work` done by one who watches, at noon."""

    async def main() -> None:
        watchers = Watchers(lambda: 12.0)
        with watchers.joined() as lines:
            await work(watchers, lines)

    asyncio.run(main())


def told(lines: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


def test_the_conversation_is_told_with_its_words() -> None:
    async def work(watchers: Watchers, lines: Lines) -> None:
        watchers.phase(Phase.THINKING, 1.0)
        watchers.report(Report("heard", 1.0, 3, {"text": "what time is it"}))
        assert told(await lines.take()) == [
            {"kind": "phase", "at": 12.0, "phase": "idle"},
            {"kind": "phase", "at": 12.0, "phase": "thinking"},
            {"kind": "heard", "at": 12.0, "generation": 3, "text": "what time is it"},
        ]

    watching(work)


def test_levels_and_scores_come_ten_times_a_second() -> None:
    async def work(watchers: Watchers, lines: Lines) -> None:
        await lines.take()
        loud = np.full(LEVEL // 4, 0.1, np.float32)
        loud[0] = -1.0
        for score in (0.1, 0.7, 0.2, 0.3):
            watchers.hear(loud, {"alexa": score})
        watchers.hear(np.zeros(LEVEL, np.float32), {"alexa": 0.0})
        first, second = told(await lines.take())
        assert (first["kind"], first["peak"], first["scores"]) == ("level", 0.0, {"alexa": 0.7})
        assert first["rms"] == pytest.approx(-19.0, abs=0.3)
        assert (second["rms"], second["peak"], second["scores"]) == (-100.0, -100.0, {"alexa": 0.0})

    watching(work)


def test_who_is_slow_loses_the_oldest_lines_and_is_told_so() -> None:
    async def work(watchers: Watchers, lines: Lines) -> None:
        for number in range(MOST + 9):
            watchers.report(Report("notice", 1.0, number, {"text": ""}))
        lost, *rest = told(await lines.take())
        assert lost == {"kind": "lost", "lines": 10}
        assert [line["generation"] for line in rest] == list(range(9, MOST + 9))
        watchers.report(Report("notice", 1.0, 0, {"text": ""}))
        assert len(told(await lines.take())) == 1

    watching(work)


def test_nobody_is_told_when_nobody_watches() -> None:
    watchers = Watchers()
    watchers.phase(Phase.SPEAKING, 1.0)
    watchers.report(Report("heard", 1.0, 3, {"text": "secret"}))
    watchers.hear(np.ones(LEVEL, np.float32), {})

    async def main() -> bytes:
        with watchers.joined() as lines:
            return await lines.take()

    (only,) = told(asyncio.run(main()))
    assert (only["kind"], only["phase"]) == ("phase", "speaking")


def test_threads_tell_while_others_come_and_go() -> None:
    watchers, over = Watchers(), threading.Event()

    def hear() -> None:
        while not over.is_set():
            watchers.hear(np.ones(LEVEL, np.float32), {"alexa": 0.5})

    async def main() -> None:
        for _ in range(50):
            with watchers.joined() as lines:
                await lines.take()
                await lines.take()

    thread = threading.Thread(target=hear)
    thread.start()
    try:
        asyncio.run(main())
    finally:
        over.set()
        thread.join()


def test_a_client_watches_until_it_leaves(tmp_path: Path) -> None:
    watchers = Watchers()
    with ControlServer(tmp_path, Controls(lambda: None, watchers=watchers)):
        for _ in range(3 * LONG):  # each that leaves makes room
            with asked(tmp_path, Watch()) as (answer, lines):
                assert answer.ok
                assert json.loads(lines.readline())["kind"] == "phase"
                watchers.report(Report("heard", 1.0, 1, {"text": "hello"}))
                assert json.loads(lines.readline())["text"] == "hello"


def test_who_watches_and_takes_nothing_holds_up_nobody(tmp_path: Path) -> None:
    watchers = Watchers()
    with (
        ControlServer(tmp_path, Controls(lambda: None, watchers=watchers)),
        asked(tmp_path, Watch()) as (_, slow),
        asked(tmp_path, Watch()) as (_, quick),
    ):
        quick.readline()
        for number in range(20 * MOST):
            watchers.report(Report("heard", 1.0, number, {"text": "x" * 1000}))
            assert json.loads(quick.readline())["generation"] == number
        ask(tmp_path, Status())
        kinds = [json.loads(slow.readline())["kind"] for _ in range(MOST)]
        assert kinds[0] == "phase"


def test_a_server_that_ends_lets_its_watchers_go(tmp_path: Path) -> None:
    with ExitStack() as watching:
        with ControlServer(tmp_path, Controls(lambda: None, watchers=Watchers())):
            _, lines = watching.enter_context(asked(tmp_path, Watch()))
            assert json.loads(lines.readline())["kind"] == "phase"
        assert lines.readline() == b""
