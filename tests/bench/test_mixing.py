"""Speech and noise at a level."""

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.bench.mixing import SPEECH_DB, as_another, at_level, noise_db, rms_db, speech_db


def tone(seconds: float, peak: float = 0.2, hertz: float = 400) -> Samples:
    times = np.arange(round(seconds * HEARING_RATE)) / HEARING_RATE
    return (peak * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * HEARING_RATE), np.float32)


def test_the_level_of_speech_is_that_of_its_words_whatever_pauses_it_has() -> None:
    word = tone(0.5)
    alone = 20 * np.log10(0.2 / np.sqrt(2))
    assert speech_db(word) == pytest.approx(alone, abs=0.01)
    assert rms_db(np.concatenate([word, silence(4.5)])) == pytest.approx(alone - 10, abs=0.1)
    assert speech_db(np.concatenate([silence(2), word, silence(0.5), word, silence(1)])) == pytest.approx(
        alone, abs=0.1
    )


@pytest.mark.parametrize("snr", [10, 5, 0])
def test_noise_is_as_far_below_speech_as_asked(snr: float) -> None:
    speech = at_level(np.concatenate([silence(1), tone(0.5, 0.003)]))
    assert speech_db(speech) == pytest.approx(SPEECH_DB, abs=0.1)
    assert SPEECH_DB - noise_db(snr) == snr


def test_what_is_made_louder_does_not_overflow() -> None:
    clicks = silence(1)
    clicks[::4000] = 1.0
    assert np.abs(at_level(clicks, 0.0)).max() <= 1.0


def test_silence_stays_silence() -> None:
    assert not at_level(silence(1)).any()
    assert not at_level(silence(0.001)).any()


def test_another_speaker_is_higher_and_faster() -> None:
    higher = as_another(tone(1.0), 1.25)
    assert len(higher) == pytest.approx(0.8 * HEARING_RATE, abs=2)
    assert np.abs(np.fft.rfft(higher)).argmax() / 0.8 == pytest.approx(500, abs=2)
