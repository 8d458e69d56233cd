"""The speaker: a real card that stays open, and plays silence when there is nothing to say.

PortAudio drops what a card still holds only together with the stream: its callback says so, and its thread drops and
ends. A callback must not start the stream again, so that is left to a thread that waits for nothing else.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial

import numpy as np
import pyaudio

from appliance.audio.cards import COMMON_RATES, Card, Choice, PortAudio
from appliance.audio.devices import Frame, Samples, Source
from appliance.audio.resample import ResampledSource
from appliance.audio.sampleclock import SampleClock
from appliance.audio.watch import UNPLUGGED, Watch
from appliance.errors import ApplianceError

BLOCK = 0.015
"""Seconds that the card asks for at once, and so the longest that a drop may wait for its turn."""

STOP_TIMEOUT = 1.0
"""Seconds that `stop` waits for a card that does not close; one that is alive needs a hundredth of it."""

TURN = 0.0005
"""Seconds that a thread computes in Python before another one gets its turn, a tenth of Python's own. The card's thread
waits for its turn several times in a block: beside a thread that computes, 60 replies fell silent after 19 ms (45 ms at
most) with 0.005, 12 ms (28 ms) with this, and not sooner with 0.0001."""

_GONE = "the card does not play any more: see whether it is still plugged in"

_log = logging.getLogger(__name__)


class CardSpeaker:
    """The sound card called `card`, as `PortAudio.find` takes it; open from `start` to `stop`.

    It may come back as another one, so the source's rate is always the same: what nearly every card takes. For one that
    does not, it is resampled.
    """

    rate = COMMON_RATES[0]
    drops = True

    def __init__(self, card: str = "") -> None:
        self.name = card or "default"
        self._choice = Choice(card, "output")
        self._playback: _Playback | None = None

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """Pull from `source` for ever. `on_frame` gets the very samples handed to the card, from the card's thread.

        ApplianceError, BadInputError: the card cannot be had.
        """
        sys.setswitchinterval(TURN)
        audio = PortAudio()
        try:
            card = self._choice.find(audio)
            self.name = card.name
            self._playback = _Playback(audio, card, self.rate, _Reference(source, on_frame), on_fault)
        except BaseException:
            audio.close()
            raise
        self._choice.opened()

    def stop(self) -> None:
        """Silent, and the card closed, when this returns. Stopping twice is fine."""
        playback, self._playback = self._playback, None
        if playback is not None:
            playback.stop()


class _Playback:
    """A card from `start` to `stop`. Its thread restarts and closes it; PortAudio's own calls `_fill`."""

    def __init__(
        self,
        audio: PortAudio,
        card: Card,
        rate: int,
        reference: "_Reference",
        on_fault: Callable[[str], None],
    ) -> None:
        """Plays when this returns; then `audio` belongs to it. ApplianceError: the card would not."""
        self._audio = audio
        self._rate = rate
        self._reference = reference
        self._watch = Watch(on_fault, self._why_dead)
        self._failure = ""
        self._stopping = False
        self._wanted = threading.Event()
        """The thread has something to do. Set before PortAudio's thread ends, unless that failed."""
        self._source: Source = reference
        self._changing = threading.Lock()
        """Held while the stream is stopped, opened and started: meanwhile nobody may ask it anything."""
        rates = (rate, card.rate, *COMMON_RATES)
        self._open = partial(audio.open, card, rates, (2, 1), BLOCK, callback=self._fill)
        self._thread = threading.Thread(target=self._keep, name="speaker", daemon=True)
        self._opened = self._open()
        self._play()
        self._thread.start()
        self._watch.start()

    def stop(self) -> None:
        """Close the card, which drops what it still holds."""
        self._watch.stop()
        self._stopping = True
        self._wanted.set()
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_TIMEOUT)
            if self._thread.is_alive():
                _log.error("the speaker does not close, and is left as it is")

    def _play(self) -> None:
        self._latency = self._opened.stream.get_output_latency()
        self._handed = 0
        rate = self._opened.rate
        self._clock = SampleClock(rate)
        self._source = self._reference if rate == self._rate else ResampledSource(self._reference, self._rate, rate)
        self._opened.start()

    def _keep(self) -> None:
        with closing(self._audio):
            while True:
                self._wanted.wait()
                with self._changing:
                    self._wanted.clear()
                    if self._stopping:
                        return
                    try:
                        self._restart()
                    except (OSError, ApplianceError) as error:
                        _log.error("the speaker does not go on after a drop: %s", error)
                        break
            self._watch.fault(_GONE)

    def _restart(self) -> None:
        try:
            self._opened.stream.stop_stream()  # returns when PortAudio's thread has dropped, and is gone
            self._play()
        except (OSError, ApplianceError):  # and PyAudio has closed the stream
            self._opened = self._open()
            self._play()

    def _why_dead(self) -> str:
        if not self._changing.acquire(blocking=False):
            return ""  # a change that takes too long shows by that no sound moves
        try:
            if self._opened.is_unplugged:
                return UNPLUGGED
            alive = self._opened.stream.is_active() or self._wanted.is_set()
        except OSError:  # it was closed, and could not be opened
            alive = False
        finally:
            self._changing.release()
        return "" if alive else self._failure or _GONE

    def _fill(self, _: bytes | None, count: int, times: Mapping[str, float], __: int) -> tuple[bytes, int]:
        """The next block for the card, the same on all channels."""
        self._watch.moved()
        channels = self._opened.channels
        silence = bytes(4 * count * channels)
        if self._stopping:  # it was left as it was, and has come to
            return silence, pyaudio.paAbort
        try:
            rate = self._opened.rate
            ahead = times["output_buffer_dac_time"] - times["current_time"]
            known = 0 < ahead < 1
            if not known:  # some drivers never have a time, and none has one while its buffer is empty
                ahead = min(self._handed / rate, self._latency)
            at = self._clock.stamp(self._handed, time.monotonic() + ahead)
            # What starts in an empty buffer may lose its beginning: a sound server has played its next step already.
            lost = not known and not self._handed
            self._handed += count
            if lost:
                self._reference.lost(round(count * self._rate / rate), at)
                return silence, pyaudio.paContinue
            samples = self._source.pull(count, at)
            if samples is None:
                self._wanted.set()
                return silence, pyaudio.paAbort
            samples = np.clip(samples, -1, 1)  # PyAudio turns PortAudio's own clipping off
            return np.repeat(samples, channels).tobytes(), pyaudio.paContinue
        except Exception as error:  # noqa: BLE001 - in PortAudio's thread it would be lost
            _log.exception("the speaker's source failed")
            self._failure = f"its source failed ({error!r})"
            return silence, pyaudio.paAbort


class _Reference:
    """A source of which `on_frame` gets all samples, as loud as the card can play them."""

    def __init__(self, source: Source, on_frame: Callable[[Frame], None]) -> None:
        self._source = source
        self._on_frame = on_frame

    def pull(self, count: int, at: float) -> Samples | None:
        samples = self._source.pull(count, at)
        if samples is not None:
            samples = np.clip(samples, -1, 1)
            self._on_frame(Frame(samples, at))
        return samples

    def lost(self, count: int, at: float) -> None:
        """The card gets silence instead."""
        self._on_frame(Frame(np.zeros(count, np.float32), at))
