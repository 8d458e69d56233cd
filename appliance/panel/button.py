"""The push button, on a pin of a Raspberry Pi. Nothing heavy is imported where there are no such pins."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.core.gestures import SETTLE, Debounce
from appliance.errors import ApplianceError

if TYPE_CHECKING:
    from gpiozero import Factory, InputDevice

DEVICES = Path("/dev")
MODEL = Path("/proc/device-tree/model")
"""What the firmware calls the board; a PC has no such file, though it may have chips with pins of its own."""

_SETTLED = 1.1 * SETTLE
"""Seconds after which nothing is rounded to less."""

_log = logging.getLogger(__name__)


def open_pins() -> "Factory | None":
    """The pins of this board; None: it has none. ApplianceError: they cannot be had."""
    chips = sorted(DEVICES.glob("gpiochip*"))
    if not chips or not MODEL.exists():
        return None
    model = MODEL.read_text().rstrip("\0")
    if not model.startswith("Raspberry Pi"):
        raise ApplianceError(
            "button",
            f'it works on a Raspberry Pi only, and this is "{model}"',
            remedy='Set pin = "none" in [button], and this message goes',
        )
    if not any(os.access(chip, os.R_OK | os.W_OK) for chip in chips):
        raise ApplianceError(
            "button",
            f"this user may not open {chips[0]}",
            remedy="Type `sudo usermod --append --groups gpio USER`, with the user's name, and log in again",
        )
    from appliance.panel.pins import KernelPins

    return KernelPins(chips)


class GpioButton:
    """A push button between the pin with this BCM number and ground.

    One that cannot work stops nothing: a single message is logged, `trouble` has it, and it is never pressed. That a
    machine has no pins at all is no news, and only logged as information.
    """

    def __init__(self, pin: int, open_pins: Callable[[], "Factory | None"] = open_pins) -> None:
        self._pin = pin
        self._open_pins = open_pins
        self._opened = contextlib.ExitStack()
        self._line: _Line | None = None
        self._unable: ApplianceError | None = None

    @property
    def works(self) -> bool:
        """Whether it can be pressed now. From any thread."""
        return self._line is not None and not self._line.held

    @property
    def trouble(self) -> ApplianceError | None:
        """Why it does not work; None if it does, or is not started, or the machine has no pins. From any thread."""
        line = self._line
        return self._held() if line is not None and line.held else self._unable

    def start(self, on_press: Callable[[float], None], on_release: Callable[[float], None]) -> None:
        """Call `on_press` with the time of each press, from the pin's own thread, at the very edge.

        `on_release` is called, from a thread of its own, with the time at which it is certain that the press is over;
        at the latest by `stop`.
        """
        try:
            factory = self._open_pins()
            if factory is None:
                _log.info("button: there are no pins here")
                return
            self._listen(factory, on_press, on_release)
        except ApplianceError as error:
            self._unable = error
        except Exception as error:  # noqa: BLE001  whatever the pins' driver meets, all else works without a button
            self._unable = self._unusable(error)
        if (trouble := self.trouble) is not None:
            _log.warning("%s", trouble)

    def stop(self) -> None:
        """The pin is free again when this returns. Stopping twice is fine."""
        self._opened.close()
        self._line = self._unable = None

    def _listen(
        self, factory: "Factory", on_press: Callable[[float], None], on_release: Callable[[float], None]
    ) -> None:
        from gpiozero import InputDevice

        with contextlib.ExitStack() as opened:
            opened.callback(factory.close)
            device = InputDevice(self._pin, pull_up=True, pin_factory=factory)
            opened.callback(device.close)
            line = _Line(device, on_press, on_release)
            opened.callback(line.stop)
            line.start()
            self._opened = opened.pop_all()
        self._line = line

    def _held(self) -> ApplianceError:
        found = f"it is held down, or pin {self._pin} is connected to ground"
        return ApplianceError("button", found, remedy="It works once it was let go; if it was, look at its wires")

    def _unusable(self, error: Exception) -> ApplianceError:
        return ApplianceError(
            "button",
            f"pin {self._pin} cannot be used ({error})",
            remedy='See that nothing else uses it, or set another pin in [button], or "none" if there is no button',
        )


class _Line:
    """What the pin's thread calls.

    gpiozero's events have no times, and its debouncing delays the edge: so both are done without.
    """

    def __init__(
        self, device: "InputDevice", on_press: Callable[[float], None], on_release: Callable[[float], None]
    ) -> None:
        self._device = device
        self._on_press = on_press
        self._on_release = on_release
        self._began = device.pin_factory.ticks()
        self.held: bool = device.is_active
        """Since the start, and until it is let go for the first time."""
        self._lock = threading.Lock()
        self._debounce = Debounce(down=self.held)
        self._settling = _later(lambda: None)

    def start(self) -> None:
        """From now on."""
        self._device.pin.when_changed = self._changed

    def stop(self) -> None:
        """No further edge is taken; a press that is not over is over now."""
        self._device.pin.when_changed = None
        self._settling.cancel()
        if self._debounce.pressed:
            self._on_release(time.monotonic())

    def _changed(self, ticks: float, level: bool) -> None:
        at = time.monotonic()
        try:
            self.held = self.held and not level
            # The kernel's times: this thread may come late, and then would take a bounce for a press.
            edge_at = self._device.pin_factory.ticks_diff(ticks, self._began)
            self._look(edge_at)
            with self._lock:
                pressed = self._debounce.edge(not level, edge_at)
            if pressed:
                self._on_press(at)
            if level:
                self._settling.cancel()
                self._settling = _later(lambda: self._look(edge_at + _SETTLED))
                self._settling.start()
        except Exception:  # noqa: BLE001  it would end the thread, and with it the button
            _log.exception("a press of the button failed")

    def _look(self, at: float) -> None:
        """No edge has come until `at`."""
        with self._lock:
            over = self._debounce.let_go(at)
        if not over:
            return
        try:
            self._on_release(time.monotonic())
        except Exception:  # noqa: BLE001  the next press may be one that works
            _log.exception("letting go of the button failed")


def _later(look: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(_SETTLED, look)
    timer.daemon = True
    return timer
