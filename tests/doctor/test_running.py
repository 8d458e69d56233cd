"""What a sentence of the running appliance shows of its cards: of one that imitates it, and of the whole one."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.doctor import running
from appliance.doctor.check import Finding
from appliance.service.condition import CardStatus, Condition
from appliance.service.control import Controls, ControlServer
from appliance.service.watching import LEVEL, Watchers
from appliance.thinking.phrases import en
from tests.doctor.process import doctor
from tests.sound_server import SoundServer
from tests.test_on_a_card import running as running_appliance

MINE = 7
Told = dict[str, tuple[bool, str]]


class Appliance:
    """Says a sentence of ten lines of levels when it is asked for one; `reports` are what it tells at which line."""

    def __init__(self, room: float = 0.001, echo: float = 0.1, hears: bool = True) -> None:
        self.watchers = Watchers()
        self.said: list[str] = []
        self.reports: dict[int, Report] = {
            0: Report("reply_text", 0.0, MINE, {"text": en.READY}),
            1: Report("reply_start", 0.0, MINE),
            11: Report("reply_end", 0.0, MINE),
        }
        self._room, self._echo, self._hears = room, echo, hears
        self._asked, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def say(self, text: str) -> None:
        self.said.append(text)
        self._asked.set()

    def _run(self) -> None:
        number = 0
        while not self._over.wait(0.001):
            if self._asked.is_set():
                if (report := self.reports.get(number)) is not None:
                    self.watchers.report(report)
                number += 1
            if self._hears:
                loudness = self._echo if 1 < number <= 11 and 1 in self.reports else self._room
                self.watchers.hear(np.full(LEVEL, loudness, np.float32), {})


def told(directory: Path, appliance: Appliance, *, hears: bool = True, speaks: bool = True) -> Told:
    condition = Condition(
        *("idle", 1.0, CardStatus("in", works=hears), CardStatus("out", works=speaks)),
        *("en", "moonshine", "joe", "off"),
    )
    with appliance, ControlServer(directory, Controls(lambda: None, say=appliance.say, watchers=appliance.watchers)):
        findings: list[Finding] = list(running.tried(condition, directory))
    assert all(finding.good or finding.remedy for finding in findings)
    return {finding.name: (finding.good, finding.text) for finding in findings}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))
    monkeypatch.setattr(running, "PAUSE", 0.5)
    monkeypatch.setattr(running, "LONGEST", 1.0)


def test_one_that_speaks_and_hears_itself(tmp_path: Path) -> None:
    appliance = Appliance()
    lines = told(tmp_path, appliance)
    assert appliance.said == [en.READY]
    assert lines["microphone"][0]
    assert lines["speaker"] == (True, '"out" has said a sentence')
    assert lines["hears itself"] == (True, "the sentence stood out by 40 dB")


@pytest.mark.parametrize(
    ("room", "echo", "microphone", "text"),
    [
        (0.01, 0.02, True, "the sentence was not heard (+6 dB over -40 dB)"),
        (0.0, 0.0, False, "it hears next to nothing (-100 dB)"),
        (0.00005, 0.00005, True, "it hears next to nothing (-86 dB)"),
    ],
)
def test_one_that_does_not_hear_itself(tmp_path: Path, room: float, echo: float, microphone: bool, text: str) -> None:
    lines = told(tmp_path, Appliance(room, echo))
    assert (lines["microphone"][0], lines["speaker"][0]) == (microphone, True)
    assert lines["hears itself"] == (False, text)


def test_a_room_that_is_digital_silence_until_it_speaks_is_no_dead_microphone(tmp_path: Path) -> None:
    lines = told(tmp_path, Appliance(room=0.0))
    assert [lines[name][0] for name in ("microphone", "speaker", "hears itself")] == [True, True, True]


def test_a_sentence_that_never_sounds(tmp_path: Path) -> None:
    appliance = Appliance()
    appliance.reports = {1: Report("notice", 0.0, MINE, {"text": "the voice failed"})}
    lines = told(tmp_path, appliance)
    assert lines["microphone"][0]
    assert not lines["speaker"][0]
    assert lines["speaker"][1].endswith("did not sound: the voice failed")
    assert "hears itself" not in lines


def test_one_that_gets_nothing_from_its_microphone(tmp_path: Path) -> None:
    lines = told(tmp_path, Appliance(hears=False))
    assert lines == {
        "microphone": (False, '"in" records nothing'),
        "speaker": (True, '"out" has said a sentence'),
    }


@pytest.mark.parametrize(("hears", "speaks"), [(False, True), (True, False), (False, False)])
def test_one_that_lacks_a_card(tmp_path: Path, hears: bool, speaks: bool) -> None:
    appliance = Appliance(hears=hears)
    lines = told(tmp_path, appliance, hears=hears, speaks=speaks)
    assert {name: line[0] for name, line in lines.items()} == {"microphone": hears, "speaker": speaks}
    assert bool(appliance.said) == speaks


def test_a_conversation_is_not_disturbed_and_there_is_no_verdict(tmp_path: Path) -> None:
    appliance = Appliance()
    appliance.watchers.phase(Phase.LISTENING, 0.0)
    lines = told(tmp_path, appliance)
    assert appliance.said == []
    assert lines == {
        "microphone": (True, '"in" records: -60 dB, peak -60 dB'),
        "speaker": (True, '"out" is open, and was not tried, since it is listening. Try again when it is done'),
    }


@pytest.mark.parametrize("at", [0, 3])
def test_somebody_who_begins_to_talk_to_it_ends_the_trial(tmp_path: Path, at: int) -> None:
    appliance = Appliance(echo=0.001)
    appliance.reports = {**appliance.reports, at: Report("wake", 0.0, MINE + 1, {"by": "word", "word": "alexa"})}
    lines = told(tmp_path, appliance)
    assert all(line[0] for line in lines.values())
    assert "somebody began to talk to it" in lines["speaker" if at == 0 else "hears itself"][1]


def test_an_appliance_that_tells_no_end_is_not_waited_for(tmp_path: Path) -> None:
    appliance = Appliance()
    del appliance.reports[11]
    began = time.monotonic()
    assert told(tmp_path, appliance)["hears itself"][0]
    assert time.monotonic() - began < 5.0


@pytest.fixture
def environment(sound_server: SoundServer, copied_models: Path) -> dict[str, str]:
    """With a data directory of its own."""
    return {**os.environ, **sound_server.environment}


Examine = Callable[[str, str], Told]


@pytest.fixture
def examine(environment: dict[str, str], tmp_path: Path) -> Examine:
    """What the doctor finds of the appliance on these cards."""

    def found(microphone: str, speaker: str) -> Told:
        config = tmp_path / "appliance.toml"
        cards = f'[microphone]\ncard = "{microphone}"\n[speaker]\ncard = "{speaker}"\n'
        config.write_text(f'{cards}[llm]\nenabled = false\n[button]\npin = "none"\n')
        with running_appliance(environment, config):
            told = doctor(Path(environment["APPLIANCE_DATA"]), **environment)
        return {finding["name"]: (finding["good"], finding["text"]) for finding in told["findings"]}

    return found


def test_the_real_one_hears_itself_where_its_cards_are_connected(examine: Examine) -> None:
    lines = examine("kitchen", "kitchen")
    assert [lines[name][0] for name in ("microphone", "speaker", "hears itself")] == [True, True, True]


def test_the_real_one_does_not_hear_itself_where_they_are_not(examine: Examine) -> None:
    lines = examine("kitchen_window", "kitchen")
    assert [lines[name][0] for name in ("microphone", "speaker", "hears itself")] == [False, True, False]
    assert "nothing but silence" in lines["microphone"][1]
