"""The recording of interrupted replies, read back."""

from collections.abc import Sequence

import numpy as np
import pytest

from appliance.audio.devices import Frame, Samples
from appliance.bench.cuts import LEVEL, MARK, MARK_END, MARK_LEVEL, Trigger, evaluate, measure_cuts, sign
from appliance.bench.tape import Recording
from appliance.errors import ApplianceError
from tests.sound_server import SoundServer

RATE = 48_000
LATE = 0.0123
"""Seconds by which the recording's first sample is later than it says."""
EVERY = 0.3
"""Seconds from one trigger to the next."""


def reply(generation: int, seconds: float) -> Samples:
    sound = np.full(round(seconds * RATE), LEVEL, np.float32)
    sound[round(MARK * RATE) : round(MARK_END * RATE)] = MARK_LEVEL
    return sound * sign(generation)


def scene(silences: Sequence[float], gap: float = 0.002) -> tuple[Recording, list[Frame], list[Trigger]]:
    """Replies that are silent so many seconds after their triggers, and `gap` later the next one is heard."""
    triggers = [Trigger(n + 1, 10 + EVERY * (n + 1)) for n in range(len(silences))]
    begins = [10.0, *(trigger.at + silence + gap for trigger, silence in zip(triggers, silences, strict=True))]
    recorded = np.zeros(round((EVERY * (len(silences) + 2)) * RATE), np.float32)
    frames = []
    for n, begin in enumerate(begins):
        end = triggers[n].at + silences[n] if n < len(silences) else begin + EVERY
        sound = reply(n + 1, end - begin)
        frames.append(Frame(reply(n + 1, end - begin + 0.05), begin))  # what the card held was dropped
        first = round((begin - 10) * RATE)
        recorded[first : first + len(sound)] = sound
    return Recording(recorded, RATE, 10 - LATE), frames, triggers


def test_silence_and_the_next_sound_are_found_to_the_sample() -> None:
    silences = [0.004, 0.019, 0.001, 0.011, 0.007]
    recording, frames, triggers = scene(silences)
    found = evaluate(recording, frames, RATE, triggers, 4)
    assert [cut.silence for cut in found.cuts] == pytest.approx(silences[:4], abs=2 / RATE)
    assert [cut.next_sound for cut in found.cuts] == pytest.approx(
        [each + 0.002 for each in silences[:4]], abs=2 / RATE
    )
    assert max(found.doubts) < 2 / RATE


def test_one_old_sample_in_the_next_reply_counts() -> None:
    recording, frames, triggers = scene([0.004] * 5)
    recording.samples[round((triggers[1].at + 0.2 - 10) * RATE)] = sign(triggers[1].generation) * LEVEL
    found = evaluate(recording, frames, RATE, triggers, 4)
    assert [cut.silence for cut in found.cuts] == pytest.approx([0.004, 0.2, 0.004, 0.004], abs=2 / RATE)


def test_an_interruption_of_nothing_does_not_count() -> None:
    recording, frames, triggers = scene([0.004] * 5)
    at = round((triggers[1].at - 10) * RATE)
    recording.samples[at - 500 : at + 500] = 0
    assert len(evaluate(recording, frames, RATE, triggers, 3).cuts) == 3
    with pytest.raises(ApplianceError, match="recording: only 3 of 5 replies sounded when they were cut"):
        evaluate(recording, frames, RATE, triggers, 4)


def test_a_card_that_hears_nothing_is_named() -> None:
    recording, frames, triggers = scene([0.004] * 5)
    deaf = Recording(np.zeros_like(recording.samples), RATE, recording.began)
    with pytest.raises(ApplianceError, match=r"recording: of 5 replies 0 are heard in it\. Name a recording card"):
        evaluate(deaf, frames, RATE, triggers, 4)


@pytest.mark.parametrize("blocked", [False, True])
def test_replies_on_a_card_are_interrupted(
    sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch, blocked: bool
) -> None:
    for name, value in sound_server.environment.items():
        monkeypatch.setenv(name, value)
    found = measure_cuts("kitchen", "kitchen", 10, blocked=blocked)
    assert len(found.cuts) == 10
    assert all(0 < cut.silence < cut.next_sound for cut in found.cuts)
