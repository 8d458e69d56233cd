"""Somebody speaks at some distance."""

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE
from appliance.bench.distance import REVERBERATION, from_afar, room_response


@pytest.mark.parametrize("metres", [1.0, 3.0])
def test_the_direct_sound_is_softer_the_farther_it_comes(metres: float) -> None:
    assert room_response(metres)[0] == pytest.approx(1 / metres, rel=1e-3)


def test_the_room_fades_as_a_room_does() -> None:
    left = np.cumsum(np.square(room_response(3.0), dtype=np.float64)[::-1])[::-1]
    decibels = 10 * np.log10(left / left[0])
    begin, end = np.argmax(decibels < -5), np.argmax(decibels < -25)
    assert 3 * (end - begin) / HEARING_RATE == pytest.approx(REVERBERATION, rel=0.3)


def test_most_of_what_is_heard_from_afar_comes_from_the_walls() -> None:
    direct = [float(np.square(room_response(metres)[:40]).sum()) for metres in (0.3, 3.0)]
    walls = [float(np.square(room_response(metres)[40:]).sum()) for metres in (0.3, 3.0)]
    assert direct[0] > walls[0]
    assert direct[1] < walls[1]


def test_a_click_is_heard_as_the_room_answers_it() -> None:
    click = np.zeros(100, np.float32)
    click[10] = 0.5
    heard = from_afar(click, 3.0)
    assert np.allclose(heard[10 : 10 + 6400], 0.5 * room_response(3.0), atol=1e-6)
    assert np.abs(heard[:10]).max() < 1e-6
