"""The whole appliance as a process of its own, on a real sound server: somebody asks, and the answer is recorded."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.errors import ApplianceError
from appliance.hearing.recognisers import load_recogniser
from appliance.service.client import ask as send
from appliance.service.request import Apply, Status
from appliance.speaking.piper import load_voice
from tests.sound_server import SoundServer

APPLIANCE = Path(sys.executable).with_name("appliance")
HEARS, SPEAKS = "kitchen_window", "kitchen"
Ask = Callable[[str, Mapping[str, str]], None]
SILENT, GONE = 0.2, 20.0
"""Seconds from a signal that the appliance may be heard, and after which it hangs: it promises 3 on an idle machine."""
RECORDING = 0.2
"""Seconds that a recording may be late."""
LONGEST = 60.0
"""Seconds after which a test gives up on what it waits for."""


@contextmanager
def running(environment: Mapping[str, str], config: Path) -> Iterator[subprocess.Popen[str]]:
    """`appliance run`, ready."""
    command = [str(APPLIANCE), "run", "--config", str(config)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            line_with(process, "Ready")
            yield process
        finally:
            process.kill()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return line
    pytest.fail(f"the appliance ended before it printed {text!r}")


@contextmanager
def recording(environment: Mapping[str, str], path: Path) -> Iterator[None]:
    """What the speaker plays, from here to the end of the block."""
    command = ["parec", f"--device={SPEAKS}.monitor", "--latency-msec=20", "--raw"]
    command += [f"--rate={HEARING_RATE}", "--channels=1", "--format=s16le"]
    with path.open("wb") as file, subprocess.Popen(command, env=environment, stdout=file) as process:
        try:
            wait_until(lambda: path.stat().st_size > 0)
            yield
        finally:
            process.terminate()


def recorded(path: Path) -> Samples:
    whole = path.stat().st_size // 2 * 2
    return np.frombuffer(path.read_bytes()[:whole], np.int16).astype(np.float32) / np.float32(32768)


def loud(path: Path) -> bool:
    return bool(np.abs(recorded(path)).max(initial=0.0) > 0.05)


def silent_after(path: Path, asked: int) -> None:
    """Nothing is heard in the seconds after the sample `asked`, for which the reply would have lasted."""
    wait_until(lambda: len(recorded(path)) > asked + 4 * HEARING_RATE)
    after = np.flatnonzero(recorded(path)[asked:])
    assert not len(after) or after[-1] < (SILENT + RECORDING) * HEARING_RATE


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail("what was waited for did not come")
        time.sleep(0.02)


@pytest.fixture
def environment(sound_server: SoundServer, copied_models: Path) -> dict[str, str]:
    """With a data directory of its own, for another appliance may be running."""
    return {**os.environ, **sound_server.environment}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "appliance.toml"
    # The cards are not connected, so there is no echo that the appliance would have to learn first.
    microphone = f'[microphone]\ncard = "{HEARS}"\necho = "hardware"\n'
    path.write_text(f'{microphone}[speaker]\ncard = "{SPEAKS}"\n[llm]\nenabled = false\n')
    return path


@pytest.fixture(scope="module")
def ask(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Somebody says a text where the appliance hears."""
    voice = load_voice(models_dir / "models", "en_US-joe-medium")
    folder = tmp_path_factory.mktemp("questions")

    def say(text: str, environment: Mapping[str, str]) -> None:
        path = folder / f"{len(text)}.wav"
        soundfile.write(path, np.concatenate(list(voice.synthesise(text))), voice.rate)
        subprocess.run(["paplay", f"--device={HEARS}", path], env=environment, check=True)

    return say


def test_a_question_is_answered_and_a_second_appliance_refused(
    environment: dict[str, str], config: Path, ask: Ask, models_dir: Path, tmp_path: Path
) -> None:
    recogniser = load_recogniser("moonshine", "en", models_dir / "models")
    with running(environment, config) as process, recording(environment, tmp_path / "played"):
        second = subprocess.run([APPLIANCE, "run", "--config", config], env=environment, capture_output=True, text=True)
        assert second.returncode == 1
        assert f"process {process.pid}" in second.stderr

        ask("Alexa, what day is it today?", environment)
        assert "what day is it" in line_with(process, "you:").lower()
        reply = set(re.findall("[a-z]+", line_with(process, "speaker:").split("speaker:")[1].lower()))

        def answered() -> bool:
            recognition = recogniser.begin()
            recognition.feed(recorded(tmp_path / "played"))
            return len(reply & set(re.findall("[a-z]+", recognition.finish().text.lower()))) >= 0.7 * len(reply)

        wait_until(answered)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONGEST) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_middle_of_a_reply_ends_in_silence(
    environment: dict[str, str], config: Path, ask: Ask, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "played"
    with running(environment, config) as process, recording(environment, path):
        ask("Alexa, what can you do?", environment)
        line_with(process, "speaker:")
        wait_until(lambda: loud(path))
        asked = len(recorded(path))
        process.send_signal(number)
        assert process.wait(GONE) == 0
        silent_after(path, asked)


def test_a_press_from_elsewhere_makes_it_listen_and_silences_it(
    environment: dict[str, str], config: Path, ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "played"
    press = [str(APPLIANCE), "press"]
    with running(environment, config) as process, recording(environment, path):
        subprocess.run(press, env=environment, check=True)
        line_with(process, "(button)")
        ask("What can you do?", environment)
        line_with(process, "speaker:")
        wait_until(lambda: loud(path))
        subprocess.run(press, env=environment, check=True)
        silent_after(path, len(recorded(path)))
        line_with(process, "(interrupted)")
        line_with(process, "(button)")


def is_idle(data: Path) -> bool:
    """Whether nothing is being said."""
    condition = send(data, Status(), LONGEST).status
    return condition is not None and condition.phase == "idle"


def configuration(data: Path) -> tuple[int | None, bool]:
    """Which is in force, and whether it is on trial."""
    condition = send(data, Status()).status
    assert condition is not None
    assert condition.configuration is not None
    return condition.configuration.generation, condition.configuration.on_trial


def test_another_configuration_cuts_no_reply_and_what_does_not_work_is_taken_back(
    environment: dict[str, str], config: Path, ask: Ask, tmp_path: Path
) -> None:
    path, good = tmp_path / "played", config.read_text() + "[service]\nconfirm = 3\n"
    data = Path(environment["APPLIANCE_DATA"])
    with running(environment, config) as process, recording(environment, path):
        ask("Alexa, what can you do?", environment)
        line_with(process, "speaker:")
        wait_until(lambda: loud(path))
        config.write_text(good.replace(HEARS, "attic"))
        taken_back = send(data, Apply(), LONGEST).applied
        assert taken_back is not None
        assert taken_back.changed == ("microphone.card", "service.confirm")
        assert taken_back.taken_back == "the microphone did not work with it"
        sounding = np.flatnonzero(np.abs(recorded(path)) > 0.05)
        assert sounding[-1] - sounding[0] > 5 * HEARING_RATE, "the reply was cut"

        config.write_text(good + "[wake]\nrefractory = 2.0\n")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: configuration(data) == (2, False))
        wait_until(lambda: is_idle(data))
        ask("Alexa, what day is it today?", environment)
        line_with(process, "speaker:")

        config.write_text("[wake]\nthreshold = 2\n")
        with pytest.raises(ApplianceError, match=r"wake\.threshold"):
            send(data, Apply(), LONGEST)
        wait_until(lambda: is_idle(data))
        ask("Alexa, what day is it today?", environment)
        line_with(process, "speaker:")

        config.write_text(good.replace("confirm = 3", f"confirm = {2 * GONE:.0f}") + "[wake]\nrefractory = 3.0\n")
        with ThreadPoolExecutor(1) as worker:
            answer = worker.submit(send, data, Apply(), LONGEST)
            wait_until(lambda: configuration(data)[1])
            process.terminate()
            assert process.wait(GONE) == 0, "a trial holds up no stop"
            applied = answer.result().applied
        assert applied is not None
        assert applied.postponed
