"""The sound cards: which there are, what they record, whether they play, and whether it can be heard."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from appliance.audio.cards import PortAudio
from appliance.audio.devices import HEARING_RATE, Frame, Microphone, Samples, Speaker
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.doctor import running
from appliance.doctor.check import Finding, Patient, bad, good
from appliance.doctor.levels import RISE, decibels, levels_of, recorded
from appliance.errors import ApplianceError

CARDS = Path("/proc/asound/cards")
PARAMETERS = "card*/pcm*/sub*/hw_params"

TONE = 880.0
"""Hertz."""

LOUDNESS = 0.2
"""Of the tone."""

SECONDS = 1.0
"""Of listening, before the tone and during it."""

BEGINNING = 0.3
"""Seconds after which a tone is on its way to the microphone."""

PATIENCE = 5.0
"""Seconds within which a card has to give them."""


def cards(patient: Patient) -> Iterable[Finding]:
    """Which there are, with their rates."""
    if patient.condition is not None:
        # To look closer would take them away from who uses them.
        used = [card.name for card in (patient.condition.microphone, patient.condition.speaker) if card.works]
        found = [f'"{name}"' for name in _named() or dict.fromkeys(used)]
        rates = sorted(set(_rates()))
        in_use = f", in use at {' and '.join(rates)} samples per second" if rates else ""
    else:
        with closing(PortAudio()) as audio:
            found = [
                f'"{card.name}" ({kind}, {card.rate} samples per second)'
                for kind, listed in (("microphone", audio.cards("input")), ("speaker", audio.cards("output")))
                for card in listed
            ]
        in_use = ""
    if found:
        yield good("cards", f"{', '.join(found)}{in_use}")
    else:
        yield bad("cards", "there are none", "Plug one in; if one is: arecord -l, aplay -l, and is its driver loaded?")


def sound(patient: Patient) -> Iterable[Finding]:
    """Whether it hears, speaks, and hears itself."""
    if patient.condition is not None:
        yield from running.tried(patient.condition, patient.directory)
    else:
        settings = patient.settings
        yield from tried(CardMicrophone(settings.microphone.card), CardSpeaker(settings.speaker.card))


def tried(microphone: Microphone, speaker: Speaker) -> Iterator[Finding]:
    """What one second of listening, and one of a tone, show."""
    recording, tone = _Recording(), _Tone(speaker.rate)
    deaf, mute = "", ""
    before = during = None
    with ExitStack() as opened:
        try:
            microphone.start(recording.hear, lambda _: None)
            opened.callback(microphone.stop)
            before = recording.take(SECONDS)
        except ApplianceError as error:
            yield bad("microphone", error.found, error.remedy)
            deaf = error.found
        try:
            speaker.start(tone, lambda _: None, lambda _: None)
            opened.callback(speaker.stop)
            recording.take(BEGINNING)
            during = recording.take(SECONDS)
        except ApplianceError as error:
            yield bad("speaker", error.found, error.remedy)
            mute = error.found
    heard = [piece for piece in (before, during) if piece is not None]
    if not deaf:
        yield recorded(microphone.name, levels_of(np.concatenate(heard)) if heard else None)
    if mute:
        return
    if not tone.pulled:
        yield bad("speaker", f'"{speaker.name}" plays nothing', "Plug it in again, or use another card")
        return
    yield good("speaker", f'"{speaker.name}" has played a tone')
    if before is not None and during is not None:
        yield _heard_itself(_strength(during) - _strength(before))


def _heard_itself(rise: float) -> Finding:
    if rise >= RISE:
        return good("hears itself", f"the tone stood out by {rise:.0f} dB")
    remedy = "Turn the speaker up: alsamixer. With headphones this is as it should be"
    return bad("hears itself", f"the tone was not heard ({rise:+.0f} dB)", remedy)


class _Tone:
    def __init__(self, rate: int) -> None:
        self.pulled = 0
        self._rate = rate

    def pull(self, count: int, at: float) -> Samples:
        phase = 2 * np.pi * TONE / self._rate * np.arange(self.pulled, self.pulled + count)
        self.pulled += count
        samples: Samples = (LOUDNESS * np.sin(phase)).astype(np.float32)
        return samples


class _Recording:
    def __init__(self) -> None:
        self._more = threading.Condition()
        self._pieces: list[Samples] = []

    def hear(self, frame: Frame) -> None:
        with self._more:
            self._pieces.append(frame.samples)
            self._more.notify()

    def take(self, seconds: float) -> Samples | None:
        """What is heard from now on; None if it does not come."""
        wanted = round(seconds * HEARING_RATE)
        deadline = time.monotonic() + PATIENCE
        with self._more:
            self._pieces.clear()
            while sum(map(len, self._pieces)) < wanted:
                if not self._more.wait(deadline - time.monotonic()):
                    return None
            return np.concatenate(self._pieces)[:wanted]


def _strength(samples: Samples) -> float:
    """Of the tone, in dB."""
    turns = np.exp(-2j * np.pi * TONE / HEARING_RATE * np.arange(len(samples)))
    return decibels(float(np.abs(np.mean(samples * np.hanning(len(samples)) * turns))))


def _named() -> list[str]:
    try:
        lines = CARDS.read_text().splitlines()
    except OSError:
        return []
    return [line.rpartition(" - ")[2].strip() for line in lines if "]: " in line]


def _rates() -> Iterator[str]:
    for path in CARDS.parent.glob(PARAMETERS):
        for line in path.read_text().splitlines():
            if line.startswith("rate:"):
                yield line.split()[1]
