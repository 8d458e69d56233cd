"""`appliance doctor`: each line is good, or bad with what to do."""

import json
import os
import pwd
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Frame, MissingCardError, Samples, Source
from appliance.cli import main
from appliance.config.schema import Button, LanguageModel, Settings
from appliance.doctor import installation, machine, network, sound
from appliance.doctor.check import Finding, Patient, bad, examine, good
from appliance.errors import ApplianceError
from appliance.service.condition import ButtonStatus, CardStatus, Condition, ConfigurationStatus
from appliance.service.request import ListedServer
from appliance.service.unit import Unit
from appliance.service.watching import LEVEL
from tests.doctor.process import doctor
from tests.sound_server import SoundServer

Check = Callable[[Patient], Iterable[Finding]]


def condition(*problems: str, hears: bool = True, taken_back: str = "") -> Condition:
    return Condition(
        "idle",
        1.0,
        CardStatus("USB", works=hears),
        CardStatus("USB", works=True),
        "en",
        "moonshine",
        "joe",
        "ready",
        configuration=ConfigurationStatus(3, taken_back=taken_back),
        problems=problems,
    )


def found(check: Check, patient: Patient) -> list[tuple[bool, str]]:
    return [(finding.good, finding.text) for finding in check(patient)]


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(Settings(), tmp_path)


def test_a_check_that_fails_is_one_bad_line(patient: Patient) -> None:
    def first_check(_: Patient) -> Iterator[Finding]:
        yield good("first", "it is well")
        raise KeyError("x")

    def second_check(_: Patient) -> Iterator[Finding]:
        raise ApplianceError("place", "is wrong", remedy="Mend it")

    findings = list(examine([first_check, second_check, machine.memory], patient))
    assert findings[0] == good("first", "it is well")
    assert findings[1] == bad("first check", "this check has failed itself: KeyError('x')", "Report it, with this line")
    assert (findings[2].name, findings[2].good, findings[2].text) == (
        "second check",
        False,
        "place: is wrong. Mend it.",
    )
    assert findings[3].name == "memory"


def test_a_check_that_hangs_holds_up_no_other(patient: Patient) -> None:
    over = threading.Event()

    def hanging_check(_: Patient) -> Iterator[Finding]:
        yield good("first", "it is well")
        over.wait()

    findings = list(examine([hanging_check, machine.memory], patient, 0.2))
    over.set()
    assert [(each.name, each.good) for each in findings[:2]] == [("first", True), ("hanging check", False)]
    assert "has not come to an end in 0.2 s" in findings[1].text
    assert findings[2].name == "memory"


def test_every_bad_line_says_what_to_do(patient: Patient) -> None:
    checks = [installation.models, installation.service, installation.button, network.network, machine.disk]
    assert all(finding.good or finding.remedy for finding in examine(checks, patient))


def test_models_that_are_missing(patient: Patient, models_dir: Path) -> None:
    (line,) = installation.models(patient)
    assert (line.good, line.remedy.startswith("Run: appliance models fetch vad/silero.onnx")) == (False, True)
    assert found(installation.models, Patient(Settings(), models_dir))[0][0]


def test_a_service_that_does_not_run(tmp_path: Path) -> None:
    unit = Unit("activating (auto-restart)", "watchdog", 3, "")
    ((is_good, text),) = found(installation.service, Patient(Settings(), tmp_path, unit))
    assert (is_good, text) == (False, "activating (auto-restart), restarted by itself 3 times, watchdog")
    unit = Unit("active (running)", "success", 0, "")
    assert found(installation.service, Patient(Settings(), tmp_path, unit))[0][0]


def test_what_the_running_appliance_says(tmp_path: Path) -> None:
    ill = Patient(Settings(), tmp_path, condition=condition("the speaker is missing", taken_back="generation 4: no"))
    assert found(installation.appliance, ill) == [
        (False, "the speaker is missing"),
        (False, "taken back: generation 4: no"),
    ]
    well = Patient(Settings(), tmp_path, condition=condition())
    assert found(installation.appliance, well) == [(True, "it is running, and idle")]


@pytest.mark.parametrize(
    ("mode", "owner", "group", "may"),
    [
        (0o660, 0, 0, False),
        (0o660, 65_001, 0, True),
        (0o660, 0, 65_001, True),
        (0o640, 0, 65_001, False),
        (0o666, 0, 0, True),
        (0o606, 0, 65_001, False),
    ],
)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_whether_a_user_may_use_a_file(tmp_path: Path, mode: int, owner: int, group: int, may: bool) -> None:
    node = tmp_path / "pcm"
    node.touch()
    os.chown(node, owner, group)
    node.chmod(mode)
    assert installation.may_use(node, pwd.struct_passwd(("somebody", "", 65_001, 65_001, "", "", ""))) is may


def test_a_card_that_the_user_may_not_use(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pcmC0D0p").touch()
    monkeypatch.setattr(installation, "SOUND", tmp_path)
    monkeypatch.setattr(installation, "may_use", lambda *_: False)
    (line,) = installation.permissions(patient)
    assert not line.good
    assert "usermod --append --groups audio" in line.remedy


def test_the_button(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(installation.button, Patient(Settings(button=Button("none")), tmp_path))[0][0]
    model = tmp_path / "model"
    monkeypatch.setattr("appliance.panel.button.MODEL", model)
    monkeypatch.setattr("appliance.panel.button.DEVICES", tmp_path)
    assert found(installation.button, patient) == [(True, "there are no pins here; appliance press does the same")]
    model.write_text("NVIDIA Jetson\0")
    (tmp_path / "gpiochip0").touch()
    (line,) = installation.button(patient)
    assert (line.good, line.remedy) == (False, 'Set pin = "none" in [button], and this message goes')


@pytest.mark.parametrize(
    ("button", "line"),
    [
        (ButtonStatus("works"), (True, "it works, as far as can be known before it is pressed")),
        (ButtonStatus("none"), (True, "the running appliance has none; appliance press does the same")),
        (ButtonStatus("broken", "pin 17 is taken", "Set another"), (False, "pin 17 is taken")),
    ],
)
def test_the_button_of_the_running_appliance(tmp_path: Path, button: ButtonStatus, line: tuple[bool, str]) -> None:
    running = Patient(Settings(), tmp_path, condition=msgspec.structs.replace(condition(), button=button))
    (finding,) = installation.button(running)
    assert (finding.good, finding.text, finding.remedy) == (*line, button.remedy)


@pytest.mark.parametrize(
    ("servers", "is_good", "text"),
    [
        ((), True, "none was found"),
        ((ListedServer("den", "http://den", "mdns", True, "ready"),), True, "den (http://den) is ready"),
        ((ListedServer("den", "http://den", "mdns", True, "benched", "no answer"),), False, "is benched: no answer"),
        ((ListedServer("den", "http://den", "mdns", False, "untried"),), False, "den was found, and is not trusted"),
        ((ListedServer("here", "http://localhost", "local", True, "benched", "no answer"),), True, "none was found"),
        ((ListedServer("here", "http://localhost", "local", True, "ready"),), True, "is ready"),
    ],
)
def test_the_language_model(tmp_path: Path, servers: tuple[ListedServer, ...], is_good: bool, text: str) -> None:
    running = Patient(Settings(), tmp_path, condition=condition(), servers=servers)
    (line,) = network.language_model(running)
    assert (line.good, text in line.text) == (is_good, True)


def test_a_configured_language_model_that_is_not_there(tmp_path: Path) -> None:
    settings = Settings(llm=LanguageModel(servers=("gpu.lan",)))
    assert found(network.language_model, Patient(settings, tmp_path, condition=condition())) == [
        (False, "none of llm.servers was found")
    ]


def test_a_network_that_leads_nowhere(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "interfaces", frozenset)
    assert found(network.network, patient) == [(False, "this machine is in none")]
    routes = tmp_path / "routes"
    monkeypatch.setattr(network, "ROUTES", routes)
    monkeypatch.setattr(network, "ROUTES_6", routes)
    routes.write_text(f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 1 0 00200200 lo\n")
    assert not network._leads_out()
    routes.write_text("Iface Destination Gateway\neth0 00000000 0100000A 0003\n")
    assert network._leads_out()


@pytest.mark.parametrize(("said", "problem"), [("0x0", ""), ("0x50005", "the voltage is too low now"), ("?", "")])
def test_the_power_of_a_raspberry_pi(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, problem: str
) -> None:
    monkeypatch.setattr(machine, "HWMON", tmp_path)
    command = tmp_path / "vcgencmd"
    command.write_text(f"#!/bin/sh\necho throttled={said}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert [problem in text for is_good, text in found(machine.power, patient) if not is_good] == [True] * bool(problem)


def test_the_voltage_as_the_kernel_tells_it(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "HWMON", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found(machine.power, patient) == []
    monitor = tmp_path / "hwmon0"
    monitor.mkdir()
    (monitor / "name").write_text("rpi_volt\n")
    (monitor / "in0_lcrit_alarm").write_text("0\n")
    assert found(machine.power, patient) == [(True, "the voltage was never too low")]
    (monitor / "in0_lcrit_alarm").write_text("1\n")
    assert found(machine.power, patient) == [(False, "the voltage was too low")]


def test_the_temperature(patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "THERMAL", tmp_path)
    assert found(machine.temperature, patient) == []
    zone = tmp_path / "thermal_zone0"
    zone.mkdir()
    (zone / "temp").write_text("45123\n")
    assert found(machine.temperature, patient) == [(True, "45 °C")]
    (zone / "temp").write_text("85000\n")
    assert not found(machine.temperature, patient)[0][0]


def test_a_disk_and_a_memory_that_are_full(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [finding.good for finding in (*machine.disk(patient), *machine.memory(patient))] == [True, True]
    monkeypatch.setattr(machine, "LEAST_DISK", 1 << 60)
    monkeypatch.setattr(machine, "LEAST_MEMORY", 1 << 60)
    assert [finding.good for finding in (*machine.disk(patient), *machine.memory(patient))] == [False, False]


def test_the_clock(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(found(machine.clock, patient)) == 1
    monkeypatch.setattr(machine, "_TIME_ERROR", -2)
    assert found(machine.clock, patient) == [(True, "it is synchronised")]


class Room:
    """A microphone that hears a speaker, as loud as `echo`, over `noise`; both at once and in no time."""

    def __init__(self, echo: float = 0.1, noise: float = 0.001, missing: str = "") -> None:
        self.name = "USB"
        self.rate = 48_000
        self.drops = True
        self._echo, self._noise, self._missing = echo, noise, missing
        self._source: Source | None = None
        self._over = threading.Event()

    def microphone(self) -> "Room._Microphone":
        return Room._Microphone(self)

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        if self._missing == "speaker":
            raise MissingCardError("speaker", "there is none", remedy="Plug one in")
        self._source = source

    def stop(self) -> None:
        self._source = None

    def hears(self) -> Samples:
        noise = self._noise * np.random.default_rng(1).standard_normal(1600)
        source = self._source
        played = source.pull(4800, 0.0) if source is not None else None
        echo = self._echo * played[::3] if played is not None else 0.0
        heard: Samples = (noise + echo).astype(np.float32)
        return heard

    class _Microphone:
        def __init__(self, room: "Room") -> None:
            self.name = "USB"
            self._room = room
            self._thread = threading.Thread(target=lambda: None)

        def start(self, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
            if self._room._missing == "microphone":
                raise MissingCardError("microphone", "there is none", remedy="Plug one in")

            def run() -> None:
                while not self._room._over.wait(0.001):
                    on_frame(Frame(self._room.hears(), 0.0))

            if self._room._missing != "sound":
                self._thread = threading.Thread(target=run)
                self._thread.start()

        def stop(self) -> None:
            self._room._over.set()
            if self._thread.is_alive():
                self._thread.join()


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (Room(), {"microphone": True, "speaker": True, "hears itself": True}),
        (Room(echo=0.0), {"microphone": True, "speaker": True, "hears itself": False}),
        (Room(echo=0.0, noise=0.0), {"microphone": False, "speaker": True, "hears itself": False}),
        (Room(missing="speaker"), {"speaker": False, "microphone": True}),
        (Room(missing="microphone"), {"microphone": False, "speaker": False}),
        (Room(missing="sound"), {"microphone": False, "speaker": False}),
    ],
)
def test_what_a_tone_shows(room: Room, lines: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "PATIENCE", 0.5)
    assert {finding.name: finding.good for finding in sound.tried(room.microphone(), room)} == lines
    assert HEARING_RATE * sound.SECONDS > LEVEL


def test_the_cards_of_the_running_appliance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Patient(Settings(), tmp_path, condition=condition())
    monkeypatch.setattr(sound, "CARDS", tmp_path / "cards")
    assert found(sound.cards, running) == [(True, '"USB"')]
    (tmp_path / "cards").write_text(
        " 0 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones\n                      bcm2835 Headphones\n"
        " 1 [Jabra          ]: USB-Audio - Jabra SPEAK 410\n                      Jabra, full speed\n"
    )
    parameters = tmp_path / "card1/pcm0c/sub0/hw_params"
    parameters.parent.mkdir(parents=True)
    parameters.write_text("access: RW_INTERLEAVED\nrate: 48000 (48000/1)\n")
    text = '"bcm2835 Headphones", "Jabra SPEAK 410", in use at 48000 samples per second'
    assert found(sound.cards, running) == [(True, text)]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("APPLIANCE_DATA", str(tmp_path))
    monkeypatch.setattr("appliance.doctor.command._checks", lambda: (installation.service, machine.memory))
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "good  configuration   it can be used as it is",
        "good  service         it is not installed as one",
    ]
    broken = tmp_path / "broken.toml"
    broken.write_text("[wake]\nthreshold = 7\n")
    assert main(["doctor", "--json", "--config", str(broken)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["good"] is False
    assert told["findings"][0]["name"] == "configuration"
    assert told["findings"][0]["remedy"]


def test_it_comes_to_its_end_on_any_machine(tmp_path: Path) -> None:
    assert doctor(tmp_path)["findings"]


def test_real_cards_play_and_hear_the_tone(tmp_path: Path, sound_server: SoundServer) -> None:
    told = doctor(tmp_path, **sound_server.environment)
    lines = {finding["name"]: finding for finding in told["findings"]}
    assert '"kitchen" (speaker, ' in lines["cards"]["text"]
    assert [lines[name]["good"] for name in ("microphone", "speaker", "hears itself")] == [True, True, True]
