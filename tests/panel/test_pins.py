"""The button over the kernel's interface, with an imitation of what gpiod offers of it."""

import errno
import os
import threading
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import pytest
from gpiod import EdgeEvent, LineSettings
from gpiod.line import Bias, Direction, Edge, Value

from appliance.errors import ApplianceError
from appliance.panel import pins as module
from appliance.panel.button import GpioButton
from appliance.panel.pins import KernelPins
from tests.panel.conftest import complaints

PIN = 17


class Line:
    """A line that was handed out, with the events that are to be read from it."""

    def __init__(self, settings: LineSettings) -> None:
        self.settings = settings
        self.value = Value.ACTIVE
        self.released = False
        self.fd, self._write = os.pipe()
        self._events: list[EdgeEvent] = []
        self._at = 0

    def change(self, *values: Value, after: float = 1.0) -> None:
        for value in values:
            self._at += round(after * 1e9)
            self.value = value
            if self.settings.edge_detection is Edge.BOTH:
                kind = EdgeEvent.Type.RISING_EDGE if value is Value.ACTIVE else EdgeEvent.Type.FALLING_EDGE
                self._events.append(EdgeEvent(kind.value, self._at, PIN, 0, 0))
        if self._events:
            os.write(self._write, b".")

    def read_edge_events(self) -> list[EdgeEvent]:
        os.read(self.fd, 1)
        events, self._events = self._events, []
        return events

    def get_value(self, line: int) -> Value:
        return self.value

    def reconfigure_lines(self, config: dict[int, LineSettings]) -> None:
        self.settings = config[PIN]

    def release(self) -> None:
        self.released = True
        os.close(self.fd)
        os.close(self._write)


class Chip:
    """The chips of a Raspberry Pi 5: of these, gpiochip4 has the pins of the header."""

    opened: list["Chip"]
    refusal: OSError | None = None

    def __init__(self, path: str) -> None:
        self.name = Path(path).name
        self.closed = False
        self.opened.append(self)

    def get_info(self) -> SimpleNamespace:
        return SimpleNamespace(label="pinctrl-rp1" if self.name == "gpiochip4" else "gpio-brcmstb@107d508500")

    def request_lines(self, config: dict[int, LineSettings], consumer: str) -> Line:
        if self.refusal:
            raise self.refusal
        self.line = Line(config[PIN])
        return self.line

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def chips(board: Path, monkeypatch: pytest.MonkeyPatch) -> list[Chip]:
    """All the chips that are opened."""
    (board / "gpiochip4").touch()
    monkeypatch.setattr(Chip, "opened", [], raising=False)
    monkeypatch.setattr(module, "Chip", Chip)
    monkeypatch.setattr("gpiozero.pins.local.get_pi_revision", lambda: 0xC04170)
    return Chip.opened


def test_a_press_comes_from_the_thread_of_the_pin_until_the_button_is_stopped(chips: list[Chip]) -> None:
    presses: SimpleQueue[str] = SimpleQueue()
    for _ in range(2):
        button = GpioButton(PIN)
        button.start(lambda at: presses.put(threading.current_thread().name), lambda at: None)
        line = chips[-1].line
        assert (line.settings.direction, line.settings.bias) == (Direction.INPUT, Bias.PULL_UP)
        for _ in range(3):
            line.change(Value.INACTIVE)
            assert presses.get(timeout=10) == "button"
            line.change(Value.ACTIVE)
        button.stop()
        assert "button" not in {thread.name for thread in threading.enumerate()}
        assert line.released
        assert all(chip.closed for chip in chips)
    assert presses.empty()


def test_bounces_are_told_by_the_time_of_the_kernel_however_late_they_are_read(chips: list[Chip]) -> None:
    presses: SimpleQueue[float] = SimpleQueue()
    button = GpioButton(PIN)
    button.start(presses.put, lambda at: None)
    line = chips[-1].line
    line.change(*(Value.INACTIVE, Value.ACTIVE) * 5, Value.INACTIVE, after=0.001)
    line.change(Value.ACTIVE, Value.INACTIVE)
    presses.get(timeout=10)
    presses.get(timeout=10)
    button.stop()
    assert presses.empty()


def test_the_chip_that_has_the_pins_of_the_header_is_taken(chips: list[Chip]) -> None:
    pins = KernelPins([Path("gpiochip0"), Path("gpiochip4"), Path("gpiochip10")])
    assert [(chip.name, chip.closed) for chip in chips] == [("gpiochip0", True), ("gpiochip4", False)]
    pins.close()
    assert chips[-1].closed


def test_no_chip_has_the_pins_of_the_header(chips: list[Chip]) -> None:
    with pytest.raises(ApplianceError, match="the kernel has no driver for the pins of this board"):
        KernelPins([Path("gpiochip0")])
    assert all(chip.closed for chip in chips)


def test_a_line_that_another_program_holds_is_said(
    chips: list[Chip], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Chip, "refusal", OSError(errno.EBUSY, "Device or resource busy"))
    button = GpioButton(PIN)
    button.start(lambda at: None, lambda at: None)
    [message] = complaints(caplog)
    assert message.startswith("button: pin 17 cannot be used ([Errno 16] Device or resource busy). See that nothing ")
    assert all(chip.closed for chip in chips)
    button.stop()
