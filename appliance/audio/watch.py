"""Notices a card that has died, also one that does not say so: PortAudio can stop moving sound without an error."""

import threading
import time
from collections.abc import Callable

CHECK = 0.25
"""Seconds between two looks."""

UNPLUGGED = "it was unplugged"
"""Why no more sound comes then."""

STALLED = 2.0
"""Seconds without a block of sound after which a card is taken for dead."""


class Watch:
    """Tells `on_fault` once why no more sound will come. `failure` gives a reason as soon as there is one, else ""."""

    def __init__(self, on_fault: Callable[[str], None], failure: Callable[[], str] = lambda: "") -> None:
        self._on_fault = on_fault
        self._failure = failure
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._moved = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="card watch", daemon=True)

    def start(self) -> None:
        """From now on a block of sound is expected."""
        self._moved = time.monotonic()
        self._thread.start()

    def moved(self) -> None:
        """A block of sound has moved."""
        self._moved = time.monotonic()

    def fault(self, why: str) -> None:
        """The card is dead; nothing happens if that was told before, or the watch is over."""
        with self._lock:
            if self._over.is_set():
                return
            self._over.set()
        self._on_fault(why)

    def stop(self) -> None:
        """Nothing is told after this has returned."""
        with self._lock:
            self._over.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(CHECK):
            why = self._failure()
            if not why and time.monotonic() - self._moved > STALLED:
                why = f"no sound has moved for {STALLED:g} s"
            if why:
                self.fault(why)
