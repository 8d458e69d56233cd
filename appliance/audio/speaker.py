"""The speaker: a real card that stays open, and plays silence when there is nothing to say."""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import closing

import numpy as np
import pyaudio

from appliance.audio.cards import COMMON_RATES, OpenCard, PortAudio
from appliance.audio.devices import Frame, Source
from appliance.audio.sampleclock import SampleClock
from appliance.audio.watch import Watch

BLOCK = 0.015
"""Seconds that the card asks for at once. PortAudio keeps two: for that long what was hushed still sounds."""

_GONE = "the card does not play any more: see whether it is still plugged in"

_log = logging.getLogger(__name__)


class CardSpeaker:
    """The sound card called `card`, as `PortAudio.find` takes it, at a rate that it has; open from `start` to `stop`.

    ApplianceError, BadInputError: the card cannot be had, now or when it is started.
    """

    def __init__(self, card: str = "") -> None:
        self._card = card
        with closing(PortAudio()) as audio:
            found = audio.find(card, "output")
            self.name = found.name
            self.rate = audio.open(found, (COMMON_RATES[0], found.rate, *COMMON_RATES), (2, 1), BLOCK).rate
        self._audio: PortAudio | None = None
        self._watch: Watch | None = None

    def start(self, source: Source, on_frame: Callable[[Frame], None], on_fault: Callable[[str], None]) -> None:
        """Pull from `source` for ever. `on_frame` gets the very samples handed to the card, from the card's thread."""
        audio = PortAudio()
        try:
            found = audio.find(self._card, "output")
            player = _Player(source, on_frame)
            opened = audio.open(found, (self.rate,), (2, 1), BLOCK, callback=player.fill)
            watch = Watch(on_fault, lambda: "" if opened.stream.is_active() else player.failure or _GONE)
            player.use(opened, watch)
            opened.start()
        except BaseException:
            audio.close()
            raise
        self._audio = audio
        self._watch = watch
        watch.start()

    def stop(self) -> None:
        """Silent, and the card closed, when this returns. Stopping twice is fine."""
        if self._watch is not None:
            self._watch.stop()
        audio, self._audio = self._audio, None
        if audio is not None:
            audio.close()  # which drops what the card still holds


class _Player:
    """What PortAudio's thread calls."""

    def __init__(self, source: Source, on_frame: Callable[[Frame], None]) -> None:
        self._source = source
        self._on_frame = on_frame
        self._played = 0
        self.failure = ""

    def use(self, opened: OpenCard, watch: Watch) -> None:
        """To be called before the card is started."""
        self._watch = watch
        self._channels = opened.channels
        self._latency = opened.stream.get_output_latency()
        self._clock = SampleClock(opened.rate)

    def fill(self, _: bytes | None, count: int, times: Mapping[str, float], __: int) -> tuple[bytes, int]:
        """The next block for the card, the same on all channels."""
        self._watch.moved()
        try:
            ahead = times["output_buffer_dac_time"] - times["current_time"]
            # The first blocks have no time yet, and some drivers never have one.
            at = self._clock.stamp(self._played, time.monotonic() + (ahead if 0 < ahead < 1 else self._latency))
            samples = np.clip(self._source.pull(count, at), -1, 1)  # PyAudio turns PortAudio's own clipping off
            self._on_frame(Frame(samples, at))
            self._played += count
            return np.repeat(samples, self._channels).tobytes(), pyaudio.paContinue
        except Exception as error:  # noqa: BLE001 - in PortAudio's thread it would be lost
            _log.exception("the speaker's source failed")
            self.failure = f"its source failed ({error!r})"
            return bytes(4 * count * self._channels), pyaudio.paAbort
