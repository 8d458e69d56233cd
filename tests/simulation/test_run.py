"""Whole conversations in the simulated room, with all the real engines."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from unicode_rbnf import RbnfEngine

import appliance.simulation
from appliance.audio.devices import HEARING_RATE, Samples
from appliance.conductor import COMPLETE_PAUSE
from appliance.config.schema import Listening, Settings, Wake
from appliance.core.turn import Phase
from appliance.hearing.recognisers import load_recogniser
from appliance.hearing.stt import Recogniser
from appliance.simulation.run import Outcome, simulate
from appliance.simulation.scenario import Say, parse, read
from appliance.thinking.intents import IntentMatcher, languages
from appliance.thinking.wake_phrase import strip_wake

ALONE = 0.7
"""The share of a reply's words that a recogniser must find in what the speaker played, to call it that reply."""

DEMONSTRATIONS = Path(appliance.simulation.__file__).parent / "demonstrations"
NUMBERS = RbnfEngine.for_language("en")

LONG_STORY = (
    "yesterday we drove over to my sister because she wanted to show us the new kitchen and the garden where the "
    "children had planted beans and tomatoes and then it began to rain so that all of us had to run back to the house"
)


@pytest.fixture(scope="module")
def recogniser(models_dir: Path) -> Recogniser:
    return load_recogniser("moonshine", "en", models_dir / "models")


def run(text: str, models_dir: Path, out: Path, *, fast: bool = True, settings: Settings | None = None) -> Outcome:
    scenario = parse(text, out / "scenario.toml")
    return simulate(scenario, settings or Settings(), models_dir / "models", out, fast=fast)


def played(outcome: Outcome, out: Path) -> Iterator[tuple[str, bool, Samples]]:
    """Each reply that sounded: its text, whether it was cut, and what the speaker played of it."""
    sound, rate = soundfile.read(out / "room.wav", dtype="float32")
    assert rate == HEARING_RATE
    starts = {report.generation: report.at for report in outcome.timeline.reports("reply_start")}
    ends = {report.generation: report.at for report in outcome.timeline.reports("reply_end")}
    for turn in outcome.timeline.turns():
        if turn.generation in starts:
            begin, end = (round(times[turn.generation] * rate) for times in (starts, ends))
            yield turn.reply or "", turn.cut, sound[begin:end, 1]


def words(text: str) -> set[str]:
    """The words of a text, in which numbers may be written as digits."""
    spelled = re.sub(r"\d+", lambda number: f" {NUMBERS.format_number(int(number[0])).text} ", text)
    return set(re.findall(r"[a-z]+", spelled.lower()))


def understood(recogniser: Recogniser, sound: Samples) -> set[str]:
    recognition = recogniser.begin()
    recognition.feed(sound)
    return words(recognition.finish().text)


def test_the_demonstration(models_dir: Path, tmp_path: Path, recogniser: Recogniser) -> None:
    scenario = read(DEMONSTRATIONS / "en.toml")
    outcome = simulate(scenario, Settings(), models_dir / "models", tmp_path, fast=True)
    assert outcome.problems == ()
    assert [path.name for path in outcome.files if path.stat().st_size] == ["timeline.json", "room.wav", "timeline.svg"]
    replies = list(played(outcome, tmp_path))
    assert [cut for _, cut, _ in replies] == [False, True, False]
    for text, cut, sound in replies:
        found = understood(recogniser, sound) & words(text)
        # Of the reply that was cut, the beginning is enough.
        assert len(found) >= (3 if cut else ALONE * len(words(text))), (text, found)

    # Each reply has exactly one end, and between the replies the speaker is digitally silent.
    ends = [report.generation for report in outcome.timeline.reports("reply_end")]
    assert sorted(ends) == [1, 2, 3]
    sound, rate = soundfile.read(tmp_path / "room.wav", dtype="float32")
    silent = np.ones(len(sound), bool)
    for generation in ends:
        begin, end = (
            next(r.at for r in outcome.timeline.reports(kind) if r.generation == generation)
            for kind in ("reply_start", "reply_end")
        )
        silent[round(begin * rate) : round(end * rate)] = False
    assert not sound[silent, 1].any()


@pytest.mark.parametrize("language", languages())
def test_each_language_has_a_demonstration_that_it_understands(language: str) -> None:
    scenario = read(DEMONSTRATIONS / f"{language}.toml")
    said = [strip_wake(step.text, ["alexa"]) for step in scenario.steps if isinstance(step, Say) and step.text]
    assert [match and match.intent for match in map(IntentMatcher(language).match, said)] == ["time", "help", "date"]


def test_in_real_time_the_waiting_is_measured(models_dir: Path, tmp_path: Path) -> None:
    text = """
        [[say]]
        text = "Alexa, how are you?"
        after = "ready"
        [[expect]]
        heard = "how are you"
        intent = "how_are_you"
    """
    outcome = run(text, models_dir, tmp_path, fast=False)
    assert outcome.problems == ()
    (turn,) = outcome.timeline.turns()
    assert turn.answer is not None
    assert turn.answer.seconds > COMPLETE_PAUSE
    assert [stage.name for stage in turn.stages] == ["end of speech", "speech-to-text", "thinking", "voice"]
    assert all(stage.seconds >= 0 for stage in turn.stages)


def test_real_voices(models_dir: Path, tmp_path: Path, speech: Path, recogniser: Recogniser) -> None:
    people = sorted((speech / "wake").glob("*.flac"))[:4]
    steps = "".join(
        f"""
        [[say]]
        file = "{person}"
        {"at = 0.5" if n == 0 else 'after = "idle"'}
        delay = {0 if n == 0 else 1.0}
        [[say]]
        {'text = "What time is it?"' if n % 2 else f'file = "{speech}/commands/order-00{n}.flac"'}
        after = "wake"
        delay = 0.5
        [[expect]]
        heard = "{"what time is it" if n % 2 else "coffee"}"
        intent = "{"time" if n % 2 else "unknown"}"
        """
        for n, person in enumerate(people)
    )
    outcome = run(steps, models_dir, tmp_path)
    assert outcome.problems == ()
    replies = list(played(outcome, tmp_path))
    assert len(replies) == len(people)
    for text, cut, sound in replies:
        found = understood(recogniser, sound) & words(text)
        assert not cut
        assert len(found) >= ALONE * len(words(text)), (text, found)


@pytest.mark.parametrize("pause", [0.0, 0.3, 1.5])
def test_the_command_may_follow_at_once_or_later(models_dir: Path, tmp_path: Path, pause: float) -> None:
    text = f"""
        [[say]]
        text = "Alexa."
        at = 1
        [[say]]
        text = "What time is it?"
        after = "wake"
        delay = {pause + 0.2}
        [[expect]]
        heard = "^what time is it"
        intent = "time"
    """
    outcome = run(text, models_dir, tmp_path)
    assert outcome.problems == ()


def test_the_wake_word_alone_ends_in_silence(models_dir: Path, tmp_path: Path) -> None:
    outcome = run('[[say]]\ntext = "Alexa."\nat = 1', models_dir, tmp_path)
    assert [report.data["text"] for report in outcome.timeline.reports("notice")] != []
    assert outcome.timeline.reports("reply_text") == []
    assert outcome.timeline.phases[-1][1] is Phase.IDLE


def test_an_utterance_without_end_is_ended(models_dir: Path, tmp_path: Path) -> None:
    text = f"""
        [[say]]
        text = "Alexa."
        at = 0.5
        [[say]]
        text = "{LONG_STORY}"
        after = "wake"
        delay = 0.2
    """
    outcome = run(text, models_dir, tmp_path, settings=Settings(listening=Listening(limit=4.0)))
    ends = [report for report in outcome.timeline.reports("speech_end") if "why" in report.data]
    assert ends[0].data["why"] == "limit"
    assert outcome.timeline.turns()[0].intent == "unknown"
    assert outcome.timeline.phases[-1][1] is Phase.IDLE


def test_two_wake_words_and_neither_twice(models_dir: Path, tmp_path: Path) -> None:
    text = """
        [[say]]
        text = "Hey Jarvis, what time is it?"
        at = 1
        [[say]]
        text = "Alexa, what day is it today?"
        after = "idle"
        delay = 1
    """
    outcome = run(text, models_dir, tmp_path, settings=Settings(wake=Wake(words=("alexa", "hey_jarvis"))))
    assert [report.data["word"] for report in outcome.timeline.reports("wake")] == ["hey_jarvis", "alexa"]
    assert [turn.intent for turn in outcome.timeline.turns()] == ["time", "date"]


def test_what_was_expected_and_did_not_come_is_shown(models_dir: Path, tmp_path: Path) -> None:
    text = """
        [[say]]
        text = "Alexa, what time is it?"
        at = 1
        [[expect]]
        heard = "what day is it"
    """
    outcome = run(text, models_dir, tmp_path)
    (problem,) = outcome.problems
    assert "/what day is it/" in problem
    assert "what time is it" in problem
