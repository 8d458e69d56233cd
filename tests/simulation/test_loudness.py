"""How loud the replies are that sound in the room: as loud as they should be, and as they are asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile

from appliance.audio.volume import ENOUGH, SHARE, SOFTER, STEP
from appliance.bench.mixing import rms_db
from appliance.config.schema import Settings, Speaker
from appliance.simulation.run import Outcome, simulate
from appliance.simulation.scenario import parse

SOFT = -20
QUESTION = '[[say]]\ntext = "Alexa, what time is it?"\nafter = "{after}"\ndelay = 0.5\ngain_db = {gain}\n'


def conversation(gains: list[int], speaker: Speaker, models_dir: Path, out: Path) -> list[float]:
    """Ask the time as loud as each of `gains` says; the level of each reply in decibels."""
    steps = [QUESTION.format(after="idle" if at else "ready", gain=gain) for at, gain in enumerate(gains)]
    scenario = parse("\n".join(steps), out / "scenario.toml")
    outcome = simulate(scenario, Settings(speaker=speaker), models_dir / "models", out, fast=True)
    levels = list(replies(outcome, out))
    assert len(levels) == len(gains)
    return levels


def replies(outcome: Outcome, out: Path) -> Iterator[float]:
    sound, rate = soundfile.read(out / "room.wav", dtype="float32")
    for begin, end in zip(outcome.timeline.reports("reply_start"), outcome.timeline.reports("reply_end"), strict=True):
        reply = sound[round(begin.at * rate) : round(end.at * rate), 1]
        yield rms_db(reply)


def test_who_whispers_is_understood_and_answered_softly(models_dir: Path, tmp_path: Path) -> None:
    *plain, soft = conversation([0] * ENOUGH + [SOFT], Speaker(), models_dir, tmp_path)
    assert plain == pytest.approx([plain[0]] * ENOUGH, abs=1.5)
    assert soft == pytest.approx(plain[0] - min(SOFTER, -SOFT * SHARE), abs=2)


def test_in_quiet_hours_it_is_soft(models_dir: Path, tmp_path: Path) -> None:
    (by_day,) = conversation([0], Speaker(), models_dir, tmp_path)
    night = Speaker(quiet_hours="00:00-00:00", quiet_volume=Speaker().volume - 4)
    (by_night,) = conversation([0], night, models_dir, tmp_path)
    assert by_night == pytest.approx(by_day - 4 * STEP, abs=1.5)
