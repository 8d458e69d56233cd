"""The automatic gain: whispers louder, loud words as they are, and noise never."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.gain import CEILING, HOLD, MOST, NOISE, RISE, AutomaticGain
from appliance.audio.loudness import KEPT, Loudness
from appliance.bench.mixing import rms_db

LENGTH = 320


def hiss(decibels: float, seconds: float) -> Samples:
    noise = np.random.default_rng(1).standard_normal(round(seconds * HEARING_RATE))
    return (noise * 10 ** (decibels / 20)).astype(np.float32)


def applied(gain: AutomaticGain, sound: Samples) -> Samples:
    frames = [Frame(sound[at : at + LENGTH], at / HEARING_RATE) for at in range(0, len(sound), LENGTH)]
    return np.concatenate([gain.apply(frame).samples for frame in frames])


@pytest.mark.parametrize("noise", [-90, -80, -70, NOISE, -40, -20])
def test_the_noise_of_the_room_says_how_much_louder(noise: float) -> None:
    gain = AutomaticGain()
    applied(gain, hiss(noise, 20))
    # Its quietest tenth of a second is a little below the mean.
    assert gain.decibels == pytest.approx(min(max(NOISE - noise, 0), MOST), abs=1)


def test_what_is_loud_enough_is_not_touched() -> None:
    gain = AutomaticGain()
    frame = Frame(hiss(-30, 0.02), 0.0)
    assert gain.apply(frame) is frame


def test_digital_silence_is_no_quiet_room() -> None:
    gain = AutomaticGain()
    applied(gain, np.zeros(60 * HEARING_RATE, np.float32))
    assert gain.decibels == 0
    assert gain.apply(Frame(np.zeros(0, np.float32), 0.0)).samples.size == 0


def test_it_rises_slowly_and_falls_at_once() -> None:
    gain = AutomaticGain()
    applied(gain, hiss(-95, 1.0))
    assert 0 < gain.decibels <= RISE
    applied(gain, hiss(-95, 20))
    assert gain.decibels == pytest.approx(MOST, abs=0.1)
    loud = applied(gain, hiss(-20, 1.0))
    assert np.abs(loud).max() <= CEILING * 1.001
    after = gain.decibels
    applied(gain, hiss(-95, HOLD - 1))
    assert gain.decibels == pytest.approx(after), "the words that follow are as loud as those before"
    applied(gain, hiss(-95, 20))
    assert gain.decibels == pytest.approx(MOST, abs=0.1)


def test_a_noise_that_stays_is_not_amplified() -> None:
    gain = AutomaticGain()
    applied(gain, hiss(-90, 20))
    heard = applied(gain, hiss(-60, 60))
    assert rms_db(heard[-HEARING_RATE:]) == pytest.approx(-60, abs=1)


sounds = st.lists(
    st.tuples(st.floats(-110, 0), st.integers(0, 40)).map(lambda each: hiss(each[0], each[1] * 0.0123)), max_size=12
)


@given(sounds, st.lists(st.integers(1, 5000), min_size=1, max_size=5))
def test_nothing_gets_softer_or_beyond_the_ceiling(parts: list[Samples], lengths: list[int]) -> None:
    sound = np.concatenate([np.zeros(1, np.float32), *parts])
    gain = AutomaticGain()
    at = count = 0
    while at < len(sound):
        part = sound[at : at + lengths[count % len(lengths)]]
        heard = gain.apply(Frame(part, at / HEARING_RATE))
        assert heard.at == at / HEARING_RATE
        assert len(heard.samples) == len(part)
        assert heard.samples.dtype == np.float32
        peak = float(np.abs(heard.samples).max())
        assert peak <= max(CEILING, float(np.abs(part).max())) * 1.001
        assert bool((np.abs(heard.samples) >= np.abs(part) * 0.999).all())
        at += len(part)
        count += 1


def test_loudness_is_that_of_the_words_and_not_of_the_pauses() -> None:
    loudness = Loudness()
    assert loudness.of(0, 1) is None
    sound = np.concatenate([hiss(-80, 1), hiss(-30, 1), hiss(-80, 1), hiss(-30, 1)])
    for at in range(0, len(sound), LENGTH):
        loudness.note(Frame(sound[at : at + LENGTH], at / HEARING_RATE))
    assert loudness.of(0.5, 4) == pytest.approx(-30, abs=1)
    assert loudness.of(0, 0.9) == pytest.approx(-80, abs=1)


def test_loudness_of_nothing_is_a_number_and_what_is_old_is_forgotten() -> None:
    loudness = Loudness()
    loudness.note(Frame(np.zeros(LENGTH, np.float32), 0.0))
    assert loudness.of(-1, 1) == pytest.approx(20 * math.log10(1e-5))
    loudness.note(Frame(np.zeros(0, np.float32), 0.5))
    loudness.note(Frame(hiss(-30, 0.02), KEPT + 1))
    assert loudness.of(-1, 1) is None
