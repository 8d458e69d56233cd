"""How loud it speaks: what was set, quiet hours, and the user's own loudness."""

import json
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.devices import Samples
from appliance.audio.volume import ENOUGH, LOUDER, LOUDEST, SHARE, SOFTER, STEP, AsLoud, Volume

NIGHT = time(22), time(7)


class Now:
    def __init__(self, hour: float = 12) -> None:
        self.at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)

    def __call__(self) -> datetime:
        return self.at


def volume(now: Now, file: Path | None = None, level: int = 8) -> Volume:
    made = Volume(now, file)
    made.configure(level, NIGHT, 3, follows=True)
    return made


def decibels(of: Volume) -> float:
    return float(20 * np.log10(of.gain()))


def test_the_configured_level_is_the_first_one() -> None:
    assert volume(Now()).level == 8


def test_each_level_is_as_much_louder_as_the_one_before() -> None:
    each = volume(Now())
    heard = []
    for level in range(1, LOUDEST + 1):
        each.level = level
        heard.append(decibels(each))
    assert [b - a for a, b in pairwise(heard)] == pytest.approx([STEP] * 9)
    assert heard[-1] == 0
    each.level = 0
    assert each.gain() == 0


@given(st.integers())
def test_a_level_stays_within_its_limits(level: int) -> None:
    each = volume(Now())
    each.level = level
    assert each.level == min(max(level, 0), LOUDEST)


def test_what_was_set_outlives_a_restart_until_the_configuration_says_something_else(tmp_path: Path) -> None:
    file = tmp_path / "volume.json"
    volume(Now(), file).level = 5
    assert volume(Now(), file).level == 5
    assert volume(Now(), file, level=9).level == 9
    assert volume(Now(), file, level=8).level == 8


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"level": 99, "configured": 8}', b'{"level": "5"}', b"\xff"])
def test_a_damaged_file_is_no_more_than_a_forgotten_level(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "volume.json"
    file.write_bytes(content)
    each = volume(Now(), file)
    assert each.level == 8
    each.level = 4
    assert json.loads(file.read_bytes())["level"] == 4


def test_a_full_disk_keeps_nothing_from_being_softer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    each = volume(Now(), tmp_path / "missing" / "volume.json")
    each.level = 4
    assert each.level == 4
    assert "the volume is lost with the next start" in caplog.text


@pytest.mark.parametrize(("hour", "level"), [(12, 8), (21.9, 8), (22, 3), (23.9, 3), (24, 3), (30.9, 3), (31, 8)])
def test_quiet_hours_over_midnight(hour: float, level: int) -> None:
    assert volume(Now(hour)).level == level


@pytest.mark.parametrize(("hour", "level"), [(12, 8), (13, 3), (14.9, 3), (15, 8)])
def test_quiet_hours_of_a_day(hour: float, level: int) -> None:
    each = Volume(Now(hour))
    each.configure(8, (time(13), time(15)), 3, follows=False)
    assert each.level == level


def test_in_quiet_hours_it_is_never_louder_than_by_day() -> None:
    now = Now(12)
    each = volume(now)
    each.level = 2
    now.at += timedelta(hours=11)
    assert each.level == 2


def test_a_level_set_in_quiet_hours_counts_until_they_are_over(tmp_path: Path) -> None:
    now = Now(23)
    each = volume(now, tmp_path / "volume.json")
    each.level = 6
    assert each.level == 6
    now.at += timedelta(hours=7)
    assert each.level == 6, "the same night"
    now.at += timedelta(hours=3)
    assert each.level == 8, "the next day"
    now.at += timedelta(hours=13)
    assert each.level == 3, "the next night"


def test_soft_words_get_a_soft_reply() -> None:
    each = volume(Now())
    plain = decibels(each)
    for _ in range(ENOUGH):
        each.follow(-30)
    assert decibels(each) == pytest.approx(plain)
    each.follow(-40)
    assert decibels(each) == pytest.approx(plain - 10 * SHARE)
    each.follow(-80)
    assert decibels(each) == pytest.approx(plain - SOFTER)
    each.follow(-10)
    assert decibels(each) == pytest.approx(plain + LOUDER)
    each.level = LOUDEST
    assert each.gain() == 1, "there is nothing above"


def test_too_few_words_tell_nothing() -> None:
    each = volume(Now())
    plain = each.gain()
    for _ in range(ENOUGH - 1):
        each.follow(-30)
    each.follow(-60)
    assert each.gain() == plain


def test_replies_that_need_not_follow_do_not() -> None:
    each = volume(Now())
    for level in (*(-30,) * ENOUGH, -60):
        each.follow(level)
    each.configure(8, None, 3, follows=False)
    assert decibels(each) == pytest.approx(STEP * (8 - LOUDEST))


class _Ones:
    def pull(self, count: int, at: float) -> Samples | None:
        return None if at < 0 else np.ones(count, np.float32)


def test_the_gain_changes_without_a_click() -> None:
    gains = iter([1.0, 1.0, 0.5, 0.5, 1.0])
    source = AsLoud(_Ones(), lambda: next(gains))
    heard = [source.pull(100, 0.0) for _ in range(4)]
    sound = np.concatenate([each for each in heard if each is not None])
    assert sound[:100].tolist() == [1.0] * 100
    assert np.abs(np.diff(sound)).max() < 0.01
    assert sound[200:300].tolist() == [0.5] * 100
    assert sound[-1] == 1


def test_a_drop_goes_through() -> None:
    assert AsLoud(_Ones(), lambda: 0.5).pull(10, -1.0) is None
