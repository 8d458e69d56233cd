"""The recording of interrupted replies, read back."""

from collections.abc import Sequence

import numpy as np
import pytest

from appliance.audio.devices import Frame, Samples
from appliance.bench.cuts import LEVEL, MARK, MARK_END, MARK_LEVEL, Cuts, Loop, Trigger, evaluate, measure_cuts, sign
from appliance.bench.tape import Recording
from appliance.errors import ApplianceError
from tests.sound_server import SoundServer

RATE = 48_000
LATE = 0.0123
"""Seconds after which a block of the recording was read."""
BLOCK = 0.05
EVERY = 0.3
"""Seconds from one trigger to the next."""


def reply(generation: int, seconds: float) -> Samples:
    sound = np.full(round(seconds * RATE), LEVEL, np.float32)
    sound[round(MARK * RATE) : round(MARK_END * RATE)] = MARK_LEVEL
    return sound * sign(generation)


def scene(silences: Sequence[float], gap: float = 0.002) -> tuple[Recording, list[Frame], int, list[Trigger]]:
    """Replies that are silent so many seconds after their triggers, and `gap` later the next one is heard."""
    triggers = [Trigger(n + 1, 10 + EVERY * (n + 1)) for n in range(len(silences))]
    begins = [10.0, *(trigger.at + silence + gap for trigger, silence in zip(triggers, silences, strict=True))]
    blocks = round(EVERY * (len(silences) + 2) / BLOCK)
    recorded = np.zeros(round(blocks * BLOCK * RATE), np.float32)
    frames = []
    for n, begin in enumerate(begins):
        end = triggers[n].at + silences[n] if n < len(silences) else begin + EVERY
        sound = reply(n + 1, end - begin)
        frames.append(Frame(reply(n + 1, end - begin + 0.05), begin))  # what the card held was dropped
        first = round((begin - 10) * RATE)
        recorded[first : first + len(sound)] = sound
    return (
        Recording(recorded, RATE, 10 + LATE + BLOCK * np.arange(1, blocks + 1, dtype=np.float64)),
        frames,
        RATE,
        triggers,
    )


def test_silence_and_the_next_sound_are_found_to_the_sample() -> None:
    silences = [0.004, 0.019, 0.001, 0.011, 0.007]
    found = evaluate(*scene(silences))
    assert [cut.silence for cut in found.cuts] == pytest.approx(silences[:4], abs=2 / RATE)
    gaps = [cut.next_sound - cut.silence for cut in found.cuts]
    assert gaps == pytest.approx([0.002] * 4, abs=2 / RATE)
    assert max(found.doubts) < 2 / RATE
    assert found.left_out == 0


def test_one_old_sample_in_the_next_reply_counts() -> None:
    recording, frames, rate, triggers = scene([0.004] * 5)
    recording.samples[round((triggers[1].at + 0.2 - 10) * RATE)] = sign(triggers[1].generation) * LEVEL
    found = evaluate(recording, frames, rate, triggers)
    assert [cut.silence for cut in found.cuts] == pytest.approx([0.004, 0.2, 0.004, 0.004], abs=2 / RATE)


def test_what_the_recording_lost_is_left_out() -> None:
    recording, frames, rate, triggers = scene([0.004] * 12)
    lost = slice(33, 36)
    samples = np.delete(recording.samples, slice(*(round(block * BLOCK * RATE) for block in (lost.start, lost.stop))))
    found = evaluate(Recording(samples, RATE, np.delete(recording.ends, lost)), frames, rate, triggers)
    assert [cut.silence for cut in found.cuts] == pytest.approx([0.004] * 9, abs=2 / RATE)
    assert found.left_out == 2


def test_an_interruption_of_nothing_is_left_out() -> None:
    recording, frames, rate, triggers = scene([0.004] * 5)
    at = round((triggers[1].at - 10) * RATE)
    recording.samples[at - 500 : at + 500] = 0
    found = evaluate(recording, frames, rate, triggers)
    assert (len(found.cuts), found.left_out) == (3, 1)


def test_a_card_that_hears_nothing_has_nothing_to_say() -> None:
    recording, frames, rate, triggers = scene([0.004] * 5)
    recording.samples[:] = 0
    assert evaluate(recording, frames, rate, triggers) == Cuts((), (), 4)


@pytest.fixture
def cards(sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in sound_server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize("loop", Loop)
def test_replies_on_a_card_are_interrupted(loop: Loop) -> None:
    found = measure_cuts("kitchen", "kitchen", 10, loop)
    assert len(found.cuts) == 10
    assert all(0 < cut.silence < cut.next_sound for cut in found.cuts)


@pytest.mark.usefixtures("cards")
def test_a_card_that_does_not_hear_the_other_is_no_use() -> None:
    with pytest.raises(
        ApplianceError, match=r"recording: only 0 of 3 replies are heard.*\. Name a recording card that"
    ):
        measure_cuts("kitchen", "kitchen_window", 1)
