"""Pieces against one call."""

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.audio.devices import Samples
from appliance.audio.resample import ResampledSource, StreamResampler

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


class Counting:
    """A source that notes when each of its samples sounds, and drops once if it is told to."""

    def __init__(self, samples: Samples) -> None:
        self.coming = samples
        self.times: list[tuple[int, float]] = []
        self.given = 0
        self.drops = False

    def pull(self, count: int, at: float) -> Samples | None:
        if self.drops:
            self.drops = False
            return None
        self.times.append((self.given, at))
        samples, self.coming = self.coming[:count], self.coming[count:]
        self.given += count
        return samples


@pytest.mark.parametrize("rate", [44_100, 16_000, 96_000])
def test_a_source_at_another_rate_is_told_when_its_samples_sound(rate: int) -> None:
    noise = np.random.default_rng(1).uniform(-1, 1, 3 * 48_000).astype(np.float32)
    source = Counting(noise)
    resampled = ResampledSource(source, 48_000, rate)
    begin, block, heard = 100.0, round(rate * 0.015), list[Samples]()
    while len(heard) < 100:
        samples = resampled.pull(block, begin + len(heard) * block / rate)
        assert samples is not None
        heard.append(samples)
    np.testing.assert_allclose(np.concatenate(heard), soxr.resample(noise, 48_000, rate)[: 100 * block], atol=1e-4)
    for pulled, at in source.times:
        assert at == pytest.approx(begin + pulled / 48_000, abs=1e-9)

    source.drops = True
    assert resampled.pull(block, 200.0) is None
    rest, source.times, source.given = source.coming, [], 0
    samples = resampled.pull(block, 300.0)
    assert samples is not None
    np.testing.assert_allclose(samples, soxr.resample(rest, 48_000, rate)[:block], atol=1e-4)
    for pulled, at in source.times:
        assert at == pytest.approx(300.0 + pulled / 48_000, abs=1e-9)
