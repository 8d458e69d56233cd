"""When a lost card is tried again, and when its owner is told."""

from appliance.audio.healing import FIRST_DELAY, LONGEST_DELAY, REST, STEADY, Health


def test_it_is_tried_again_soon_and_then_less_often() -> None:
    health = Health()
    assert health.lost(0)
    delays = [health.delay() for _ in range(20)]
    assert delays[0] == FIRST_DELAY
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST_DELAY
    assert not health.works(100)
    health.told()
    assert health.lost(100 + STEADY)
    assert health.delay() == FIRST_DELAY


def test_what_is_lost_is_told_once() -> None:
    health = Health()
    assert health.lost(0)
    assert not health.lost(1)
    assert health.is_lost
    assert health.works(5) == 0
    health.told()
    assert not health.is_lost


def test_a_card_that_comes_and_goes_has_to_be_steady_before_it_counts_as_back() -> None:
    health = Health()
    health.lost(0)
    health.works(1)
    health.told()
    assert health.lost(2), "it was said that it works"
    for now in range(3, 100, 2):
        assert health.works(now) == STEADY
        assert not health.lost(now + 1)
    assert health.works(200) == STEADY
    health.told()
    assert health.lost(200 + STEADY)
    assert health.works(300) == 0


def test_a_try_that_takes_long_is_followed_by_a_rest() -> None:
    health = Health()
    assert not health.rests(0)
    health.failed(10, 11)
    assert health.rests(11 + REST - 0.1)
    assert not health.rests(11 + REST)
    health.failed(20, 20)
    assert not health.rests(20)
