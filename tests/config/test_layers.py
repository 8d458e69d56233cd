"""What several files make together, where each value comes from, and what is wrong in any of them."""

from datetime import time
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from appliance.config.checked import decode
from appliance.config.layers import Source, combine
from appliance.config.schema import Settings
from appliance.errors import SeveralProblemsError

PROFILES = Path(__file__).parents[2] / "config/profiles"
NAMES = [name for name in get_args(get_args(Settings.__annotations__["profile"])[0]) if name != "none"]


def sources(*texts: str) -> list[Source]:
    return [Source(f"{index}.toml", text.encode()) for index, text in enumerate(texts)]


def problems(*texts: str) -> list[str]:
    with pytest.raises(SeveralProblemsError) as caught:
        combine(sources(*texts))
    return list(caught.value.problems)


def test_nothing_is_the_defaults() -> None:
    assert combine([]).settings == Settings()
    assert combine(sources("", "\n")).settings == Settings()
    assert not combine([]).origins


def test_later_files_go_before_earlier_ones_key_by_key() -> None:
    found = combine(
        sources(
            "[wake]\nwords = ['alexa', 'hey_jarvis']\nthreshold = 0.4\n[wake.thresholds]\nalexa = 0.6\n",
            "# mine\n[wake]\nthreshold = 0.7\nthresholds.hey_jarvis = 0.8\n[llm]\nservers = ['a', 'b']\n",
            "[llm]\nservers = ['c']",
        )
    )
    assert found.settings.wake.scores == {"alexa": 0.6, "hey_jarvis": 0.8}
    assert found.settings.wake.threshold == 0.7
    assert found.settings.llm.servers == ("c",)
    assert {".".join(key): str(origin) for key, origin in found.origins.items()} == {
        "wake.words": "0.toml:2",
        "wake.threshold": "1.toml:3",
        "wake.thresholds.alexa": "0.toml:5",
        "wake.thresholds.hey_jarvis": "1.toml:4",
        "llm.servers": "2.toml:2",
    }


def test_a_word_without_a_threshold_of_its_own_takes_the_one_for_all() -> None:
    wake = combine(sources("[wake]\nwords = ['alexa', 'timer']\nthresholds.timer = 0.9")).settings.wake
    assert wake.scores == {"alexa": 0.5, "timer": 0.9}


def test_the_profile_lies_below_all_files_and_the_last_file_chooses_it() -> None:
    found = combine(sources("profile = 'jetson'\n[speaker]\ncard = 'Jabra'\n", "profile = 'pi-usb'\n"))
    assert (found.settings.microphone.card, found.settings.speaker.card) == ("USB Audio", "Jabra")
    assert found.settings.button.pin == 17
    assert str(found.origins["microphone", "card"]).startswith(f"{PROFILES}/pi-usb.toml:")
    assert combine(sources("profile = 'jetson'", "profile = 'none'")).settings == Settings()


def test_there_is_a_file_for_each_profile_and_each_is_documented() -> None:
    assert sorted(path.stem for path in PROFILES.iterdir()) == sorted(NAMES)
    for name in NAMES:
        text = (PROFILES / f"{name}.toml").read_text()
        assert text.startswith("# ")
        assert "What is known" in text
        settings = decode(text, Settings, name)
        assert settings.profile == "none", "a profile stands on nothing else"
        assert settings != Settings() or name == "pi-usb"
        assert combine(sources(f"profile = '{name}'")).settings == msgspec.structs.replace(settings, profile=name)


def test_the_problems_of_all_files_are_said_at_once() -> None:
    assert problems("[wake]\nthreshold = 5\nwrods = []\n", "= 3", "[button]\npin = 99") == [
        "0.toml:2: wake.threshold = 5: is out of range; allowed: a number from 0.05 to 0.99",
        (
            "0.toml:3: wake.wrods = []: is not known here; "
            'allowed: "playback_threshold", "refractory", "threshold", "thresholds" or "words"; did you mean "words"?'
        ),
        "1.toml:1: = 3: Invalid statement, at column 1",
        '2.toml:2: button.pin = 99: is out of range; allowed: a whole number from 0 to 27 or "none"',
    ]


def test_one_that_is_not_utf_8_is_said_among_others() -> None:
    with pytest.raises(SeveralProblemsError) as caught:
        combine([Source("a", b"language = 'en'\n# f\xfcr"), Source("b", b"\xef\xbb\xbflanguage = 3")])
    assert [problem.split(": ")[0] for problem in caught.value.problems] == ["a:2", "b:1"]


def test_what_contradicts_another_file_is_said_with_the_line_that_set_it() -> None:
    assert problems("[wake.thresholds]\nhey_jarvi = 0.6\n", "[wake]\nwords = ['alexa', 'hey_jarvis']\n") == [
        (
            "0.toml:2: wake.thresholds.hey_jarvi = 0.6: is none of the words; "
            'allowed: "alexa" or "hey_jarvis"; did you mean "hey_jarvis"?'
        )
    ]


@pytest.mark.parametrize("hours", ["22", "22:00", "22:00-25:00", "22:00-7:60", "night", "1:00-2:00-3:00", "1:2:3-4:5"])
def test_quiet_hours_that_are_none(hours: str) -> None:
    wrong = f'0.toml:1: speaker.quiet_hours = "{hours}": "{hours}" are no hours'
    assert problems(f"speaker.quiet_hours = '{hours}'") == [f'{wrong}; allowed: two times, as in "22:00-07:00", or ""']


@pytest.mark.parametrize(
    ("hours", "quiet"), [("", None), ("22:00-07:00", (time(22), time(7))), (" 8:30 - 9:05 ", (time(8, 30), time(9, 5)))]
)
def test_quiet_hours(hours: str, quiet: tuple[time, time] | None) -> None:
    assert combine(sources(f"speaker.quiet_hours = '{hours}'")).settings.speaker.quiet == quiet


def test_a_voice_of_another_language_contradicts_the_language() -> None:
    assert problems("language = 'de'\n", "[voice]\nname = 'en_US-joe-medium'\n") == [
        '1.toml:2: voice.name = "en_US-joe-medium": speaks "en", not "de"; allowed: "auto", or a voice of your language'
    ]
    assert combine(sources("language = 'de'\nvoice.name = 'de_AT-mine-low'")).settings.voice_name == "de_AT-mine-low"
    assert combine(sources("language = 'it'\nvoice.name = 'mine'")).settings.voice_name == "mine"
    assert combine(sources("language = 'it'")).settings.voice_name.startswith("it_IT-")
