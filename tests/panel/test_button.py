"""The push button on gpiozero's own imitation of the pins, and on boards where it cannot work."""

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from appliance.core.gestures import SETTLE
from appliance.panel.button import GpioButton, open_pins
from tests.panel.conftest import complaints

PIN = 17


class Bench:
    """Pins to wire a button to, and a clock for their edges."""

    def __init__(self) -> None:
        self.pins = MockFactory()
        self.now = 1000.0
        self.line: MockPin = self.pins.pin(PIN)
        self.line.pull = "up"
        self.presses: list[float] = []
        self.releases: queue.SimpleQueue[float] = queue.SimpleQueue()

    def button(self) -> GpioButton:
        return GpioButton(PIN, lambda: self.pins)

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def press(self, *, bounces: int = 0) -> None:
        self.line.drive_low()
        for _ in range(bounces):
            self.wait(0.001)
            self.line.drive_high()
            self.wait(0.001)
            self.line.drive_low()
        self.wait(0.2)

    def let_go(self, *, bounces: int = 0) -> None:
        self.line.drive_high()
        for _ in range(bounces):
            self.wait(0.001)
            self.line.drive_low()
            self.wait(0.001)
            self.line.drive_high()
        self.wait(2 * SETTLE)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench()
    monkeypatch.setattr("gpiozero.pins.mock.monotonic", lambda: bench.now)
    return bench


def test_a_press_calls_back_in_the_thread_of_the_pin_before_that_goes_on(bench: Bench) -> None:
    calls: list[tuple[float, int]] = []
    ended: list[float] = []

    def drive() -> None:
        bench.press()
        ended.append(time.monotonic())

    button = bench.button()
    button.start(lambda at: calls.append((at, threading.get_ident())), bench.releases.put)
    began = time.monotonic()
    pin_thread = threading.Thread(target=drive)
    pin_thread.start()
    pin_thread.join()
    [(at, thread)] = calls
    assert began <= at <= ended[0]
    assert thread == pin_thread.ident
    button.stop()


def test_bounces_of_a_press_and_of_a_release_are_none(bench: Bench) -> None:
    button = bench.button()
    button.start(bench.presses.append, bench.releases.put)
    for times in range(1, 4):
        bench.press(bounces=5)
        assert len(bench.presses) == times
        bench.let_go(bounces=5)
        assert len(bench.presses) == times
    button.stop()


def test_a_press_is_over_once_the_contact_has_come_to_rest(bench: Bench) -> None:
    button = bench.button()
    button.start(bench.presses.append, bench.releases.put)
    began = time.monotonic()
    bench.press(bounces=2)
    bench.let_go(bounces=2)
    released = bench.releases.get(timeout=10)
    assert began <= bench.presses[0] < released <= time.monotonic()
    button.stop()
    assert bench.releases.empty()


def test_what_is_held_when_the_button_stops_is_let_go(bench: Bench) -> None:
    button = bench.button()
    button.start(bench.presses.append, bench.releases.put)
    bench.press()
    assert bench.releases.empty()
    button.stop()
    assert bench.releases.get_nowait() >= bench.presses[0]


def test_a_failing_release_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def on_release(at: float) -> None:
        told.set()
        raise ValueError("the loop is gone")

    button = bench.button()
    button.start(bench.presses.append, on_release)
    bench.press()
    bench.let_go()
    assert told.wait(10)
    button.stop()
    while not complaints(caplog):
        time.sleep(0.001)
    assert complaints(caplog) == ["letting go of the button failed"]


def test_a_button_that_is_held_at_the_start_is_said_and_works_once_it_was_let_go(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.press()
    monkeypatch.setattr(MockPin, "_set_pull", lambda pin, pull: setattr(pin, "_pull", pull))  # too weak to lift it
    button = bench.button()
    button.start(bench.presses.append, bench.releases.put)
    [message] = complaints(caplog)
    assert message.startswith("button: it is held down, or pin 17 is connected to ground. It works once it was let go")
    assert (button.works, str(button.trouble)) == (False, message)
    bench.let_go(bounces=3)
    assert bench.presses == []
    assert (button.works, str(button.trouble)) == (True, "None")
    bench.press()
    assert len(bench.presses) == 1
    button.stop()


def test_a_failing_press_is_logged_and_the_next_one_works(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    def on_press(at: float) -> None:
        bench.presses.append(at)
        if len(bench.presses) == 1:
            raise ValueError("the lane is gone")

    button = bench.button()
    button.start(on_press, bench.releases.put)
    bench.press()
    assert complaints(caplog) == ["a press of the button failed"]
    assert "the lane is gone" in caplog.text
    bench.let_go()
    bench.press()
    assert len(bench.presses) == 2
    button.stop()


def test_after_a_stop_there_are_no_presses_and_the_pin_can_be_had_again(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    first = bench.button()
    first.start(bench.presses.append, bench.releases.put)
    first.stop()
    first.stop()
    bench.press()
    bench.let_go()
    assert bench.presses == []
    second = bench.button()
    second.start(bench.presses.append, bench.releases.put)
    bench.line = bench.pins.pin(PIN)
    bench.press()
    assert len(bench.presses) == 1
    assert complaints(caplog) == []
    second.stop()


def test_a_button_that_never_started_can_be_stopped(bench: Bench) -> None:
    button = bench.button()
    assert (button.works, button.trouble) == (False, None)
    button.stop()
    assert (button.works, button.trouble) == (False, None)


def test_a_pin_that_is_taken_is_said(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    first = bench.button()
    first.start(bench.presses.append, bench.releases.put)
    assert (first.works, first.trouble) == (True, None)
    second = bench.button()
    second.start(bench.presses.append, bench.releases.put)
    assert not second.works
    assert second.trouble is not None
    assert second.trouble.found.startswith("pin 17 cannot be used (")
    [message] = complaints(caplog)
    assert message.startswith("button: pin 17 cannot be used (pin GPIO17 is already in use by ")
    assert message.endswith('or set another pin in [button], or "none" if there is no button.')
    first.stop()


def test_a_machine_without_pins_hears_nothing_of_it_and_does_not_load_gpiozero(tmp_path: Path) -> None:
    script = f"""
import logging, pathlib, sys
from appliance.panel import button
logging.basicConfig(level=logging.WARNING)
button.DEVICES = pathlib.Path({str(tmp_path)!r})
unplugged = button.GpioButton(17)
unplugged.start(print, print)
unplugged.stop()
sys.exit("gpiozero" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_a_pc_whose_chips_have_pins_has_none_for_a_button(board: Path) -> None:
    (board / "model").unlink()
    assert open_pins() is None
    button = GpioButton(PIN)
    button.start(lambda at: None, lambda at: None)
    assert (button.works, button.trouble) == (False, None)


def start(caplog: pytest.LogCaptureFixture) -> str:
    """What a button on the real pins says that cannot work."""
    button = GpioButton(PIN)
    button.start(lambda at: None, lambda at: None)
    [message] = complaints(caplog)
    assert (button.works, str(button.trouble)) == (False, message)
    button.stop()
    return message


def test_a_board_that_is_no_raspberry_pi(board: Path, caplog: pytest.LogCaptureFixture) -> None:
    (board / "model").write_text("NVIDIA Jetson Orin Nano Developer Kit\0")
    assert start(caplog) == (
        'button: it works on a Raspberry Pi only, and this is "NVIDIA Jetson Orin Nano Developer Kit". '
        'Set pin = "none" in [button], and this message goes.'
    )


def test_a_user_who_may_not_open_the_pins(
    board: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert start(caplog) == (
        f"button: this user may not open {board}/gpiochip0. "
        "Type `sudo usermod --append --groups gpio USER`, with the user's name, and log in again."
    )


def test_a_python_without_a_driver(
    board: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gpiod", None)
    monkeypatch.delitem(sys.modules, "appliance.panel.pins", raising=False)
    assert start(caplog).startswith("button: pin 17 cannot be used (import of gpiod halted")
