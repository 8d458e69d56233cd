"""gpiozero's pins by way of the kernel's own interface to them (gpiod), as far as a button needs them.

Of the ways that gpiozero brings along, only lgpio knows every Raspberry Pi. While it waits for an edge it looks 2,000
times a second, which took 4.8 % of a core of a PC, and it hands the edge over up to a millisecond late. Here the thread
sleeps until the kernel wakes it.
"""

import os
import select
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpiod import Chip, EdgeEvent, LineSettings
from gpiod.line import Bias, Direction, Edge, Value
from gpiozero import PinInvalidFunction
from gpiozero.pins.local import LocalPiFactory, LocalPiPin

from appliance.errors import ApplianceError

HEADER = ("pinctrl-bcm2", "pinctrl-rp1")
"""How the label begins of the chip whose lines are the header's pins: up to the Raspberry Pi 4, and from the 5 on."""

_BIAS = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "floating": Bias.DISABLED}


class KernelPins(LocalPiFactory):  # type: ignore[misc]  # gpiozero has no types
    """The pins of the header, which one of `chips` has. ApplianceError: none has."""

    def __init__(self, chips: Iterable[Path]) -> None:
        super().__init__()
        self.pin_class = KernelPin
        for path in chips:
            self.chip = Chip(str(path))
            if self.chip.get_info().label.startswith(HEADER):
                return
            self.chip.close()
        raise ApplianceError("button", "the kernel has no driver for the pins of this board")

    def close(self) -> None:
        """Free all pins, also for other programs."""
        lines = [pin.line for pin in self.pins.values()]
        super().close()
        for line in lines:
            line.release()
        self.chip.close()


class KernelPin(LocalPiPin):  # type: ignore[misc]
    """An input, whose edges come from a thread of its own. OSError: something else has it."""

    def __init__(self, factory: KernelPins, info: Any) -> None:
        super().__init__(factory, info)
        self._pull = "floating"
        self.line = factory.chip.request_lines({self._number: self._settings()}, consumer="voice-appliance")

    def close(self) -> None:
        """Take no further edge."""
        self.when_changed = None

    def _settings(self, edges: Edge = Edge.NONE) -> LineSettings:
        return LineSettings(direction=Direction.INPUT, bias=_BIAS[self._pull], edge_detection=edges)

    def _get_function(self) -> str:
        return "input"

    def _set_function(self, value: str) -> None:
        if value != "input":
            raise PinInvalidFunction(f"{self!r} is an input only")

    def _get_pull(self) -> str:
        return self._pull

    def _set_pull(self, value: str) -> None:
        self._pull = value
        self.line.reconfigure_lines({self._number: self._settings()})

    def _get_state(self) -> bool:
        return self.line.get_value(self._number) is Value.ACTIVE

    def _enable_event_detect(self) -> None:
        self.line.reconfigure_lines({self._number: self._settings(Edge.BOTH)})
        self._end = os.eventfd(0)
        self._watcher = threading.Thread(target=self._watch, args=(self._end,), name="button", daemon=True)
        self._watcher.start()

    def _disable_event_detect(self) -> None:
        os.eventfd_write(self._end, 1)
        self._watcher.join()
        os.close(self._end)
        self.line.reconfigure_lines({self._number: self._settings()})

    def _watch(self, end: int) -> None:
        waiting = select.poll()
        waiting.register(self.line.fd, select.POLLIN)
        waiting.register(end, select.POLLIN)
        while end not in dict(waiting.poll()):
            for edge in self.line.read_edge_events():
                self._call_when_changed(edge.timestamp_ns / 1e9, edge.event_type is EdgeEvent.Type.RISING_EDGE)
