"""Pieces against one call."""

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.resample import StreamResampler

RATES = [(22_050, 48_000), (16_000, 44_100), (48_000, 16_000), (44_100, 16_000), (16_000, 16_000)]


@settings(max_examples=60)
@given(st.sampled_from(RATES), st.lists(st.integers(0, 3000), max_size=12), st.integers(0, 2**32 - 1))
def test_pieces_of_any_size_give_what_one_call_gives(rates: tuple[int, int], sizes: list[int], seed: int) -> None:
    source_rate, target_rate = rates
    whole = np.random.default_rng(seed).uniform(-1, 1, sum(sizes)).astype(np.float32)
    resampler = StreamResampler(source_rate, target_rate)
    pieces = [resampler.feed(piece) for piece in np.split(whole, np.cumsum(sizes)[:-1])] if sizes else []
    together = np.concatenate([*pieces, resampler.flush()])
    expected = soxr.resample(whole, source_rate, target_rate) if len(whole) else whole
    assert together.dtype == np.float32
    assert len(together) == len(expected)
    np.testing.assert_allclose(together, expected, atol=1e-5)


def test_a_tone_keeps_its_pitch_and_its_level() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(22_050) / 22_050).astype(np.float32)
    resampler = StreamResampler(22_050, 48_000)
    heard = np.concatenate([resampler.feed(tone), resampler.flush()])
    assert len(heard) == 48_000
    spectrum = np.abs(np.fft.rfft(heard))
    assert np.argmax(spectrum) == 440
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(np.sqrt(0.5), rel=0.01)
