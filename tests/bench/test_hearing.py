"""The bench of hearing: how it counts, and a small one with the real engines."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE
from appliance.bench import hearing
from appliance.bench.corpus import Command, load, sample
from appliance.bench.endings import Ending, Endings
from appliance.bench.figures import Figure
from appliance.bench.material import Extent
from appliance.bench.recital import LATE, in_turn, unrecognised
from appliance.bench.television import programme
from appliance.bench.texts import PREDICATES, SUBJECTS, naming
from appliance.config.schema import Settings
from appliance.errors import BadInputError
from appliance.hearing.vad import VoiceActivity

SECOND = np.zeros(HEARING_RATE, np.float32)
COMMAND = Command(SECOND, 1.0, {"size": "small", "coffeeDrink": "latte"})


@pytest.mark.parametrize(
    ("wakes", "missed"),
    [((), 2), ((1.5,), 1), ((0.9, 2.0 + LATE, 5.5), 0), ((0.9, 2.01 + LATE, 6.01 + LATE), 2), ((1.2, 1.4, 1.6), 1)],
)
def test_a_wake_word_is_recognised_while_it_is_said_or_just_after(wakes: Sequence[float], missed: int) -> None:
    assert unrecognised([(1.0, 2.0), (5.0, 6.0)], wakes) == missed


def test_recordings_are_played_far_enough_apart_to_be_told_apart() -> None:
    first, second = in_turn([SECOND, SECOND])
    assert first.at is not None
    assert second.at is not None
    assert second.at > first.at + 1.0 + LATE


def test_endings_are_counted() -> None:
    endings = Endings(
        [
            Ending(0.4, False, "a small latte", COMMAND),
            Ending(0.6, False, "a latte", COMMAND),
            Ending(-0.5, False, "a", COMMAND),
            Ending(-0.05, False, "a small latte", COMMAND),
            Ending(9.0, True, "a small latte", COMMAND),
            Ending(None, False, "", COMMAND),
        ]
    )
    assert endings.cut_off == pytest.approx(100 / 6)
    assert endings.without_end == pytest.approx(200 / 6)
    assert endings.slots_wrong == pytest.approx(500 / 12)
    assert [figure.value for figure in endings.waits("all")] == [0.4, 9.0]
    assert list(Endings([Ending(None, False, "", COMMAND)]).waits("none")) == []


def test_a_sample_is_spread_evenly() -> None:
    assert sample(range(10), 3) == [0, 3, 6]
    assert sample([1, 2], 3) == [1, 2]
    assert sample([1, 2], None) == [1, 2]


def test_every_reply_that_is_to_name_the_wake_word_does() -> None:
    replies = naming("hey_jarvis", 500)
    assert len(replies) == 500
    assert all("Hey Jarvis" in reply for reply in replies)


def test_the_television_never_names_a_wake_word() -> None:
    text = " ".join((*SUBJECTS, *PREDICATES)).lower()
    assert not any(word in text for word in ("alexa ", "alexa.", "jarvis", "mycroft"))


def test_the_television_is_the_same_each_time_and_lasts() -> None:
    spoken = [np.random.default_rng(n).standard_normal(HEARING_RATE).astype(np.float32) for n in range(3)]
    scenes, again = list(programme(spoken, 90)), list(programme(spoken, 90))
    assert all(np.array_equal(one, other) for one, other in zip(scenes, again, strict=True))
    assert 90 <= sum(map(len, scenes)) / HEARING_RATE < 120
    assert all(np.isfinite(scene).all() and np.abs(scene).max() <= 1 for scene in scenes)


def test_a_folder_without_recordings_is_refused(models_dir: Path, tmp_path: Path) -> None:
    activity = VoiceActivity(models_dir / "models")
    with pytest.raises(BadInputError, match=r"there is no such folder\. Allowed: one with wake/"):
        load(tmp_path / "none", activity)
    (tmp_path / "commands").mkdir()
    with pytest.raises(BadInputError, match=r"slots\.json: cannot be read"):
        load(tmp_path, activity)
    (tmp_path / "commands/slots.json").write_text("{}")
    with pytest.raises(BadInputError, match=r"has no recordings in wake/, commands/ or noise/"):
        load(tmp_path, activity)


def test_the_last_word_of_a_recording_is_found(models_dir: Path, speech: Path) -> None:
    corpus = load(speech, VoiceActivity(models_dir / "models"), 4)
    assert len(corpus.wake) == len(corpus.commands) == 4
    for command in corpus.commands:
        assert 1 < command.end <= len(command.samples) / HEARING_RATE
        assert command.slots


def test_a_part_that_there_is_not() -> None:
    with pytest.raises(BadInputError, match="barge-in"):
        hearing.measure(Settings(), Path(), part="bargein")


def test_wake_words_with_the_real_engines(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "QUICK", Extent(3, 10.0, 2, 2, 1))
    told: list[Figure] = []
    result = hearing.measure(Settings(), models_dir / "models", quick=True, part="wake", tell=told.append)
    assert [figure.name for figure in result.figures] == [
        "wake missed",
        "wake missed, noise at 10 dB",
        "wake missed, noise at 5 dB",
        "wake missed, 3 m away",
    ]
    assert told == list(result.figures)
    assert result.figures[0].value == 0
    assert "the installed voice" in result.method
