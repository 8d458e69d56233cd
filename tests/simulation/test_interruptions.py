"""What interrupts a reply, and what does not: real speech and real engines in the simulated room."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio.devices import HEARING_RATE
from appliance.audio.lane import FADE
from appliance.config.schema import Interruption, Settings
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.simulation.run import Outcome, simulate
from appliance.simulation.scenario import parse
from appliance.thinking.phrases import PHRASES

QUESTION = """
    [[say]]
    text = "Alexa, what can you do?"
    at = 0.5
"""
SAID = """
    [[say]]
    text = "{text}"
    after = "reply"
    delay = 1.5
"""
HELP = PHRASES["en"].HELP


def play(steps: str, models_dir: Path, out: Path, interruption: Interruption | None = None, room: str = "") -> Outcome:
    settings = Settings(interruption=interruption or Interruption())
    return simulate(
        parse(room + QUESTION + steps, out / "scenario.toml"), settings, models_dir / "models", out, fast=True
    )


def said(text: str) -> str:
    return SAID.format(text=text)


def kinds(outcome: Outcome) -> list[tuple[str, int]]:
    of_interest = {"interrupted", "reply_start", "reply_end", "wake"}
    return [(each.kind, each.generation) for each in outcome.timeline.reports() if each.kind in of_interest]


def only(outcome: Outcome, kind: str) -> Report:
    (report,) = outcome.timeline.reports(kind)
    return report


def phases(outcome: Outcome) -> list[Phase]:
    return [phase for _, phase in outcome.timeline.phases]


def test_a_question_without_a_wake_word_interrupts_and_is_answered(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("What day is it today?"), models_dir, tmp_path)
    first, second = outcome.timeline.turns()
    assert (first.intent, first.cut, second.intent, second.cut) == ("help", True, "date", False)
    assert only(outcome, "interrupted").data == {"by": "speech"}
    assert Phase.PAUSED in phases(outcome)
    assert Phase.LISTENING not in phases(outcome)[2:], "it was said once, and that was enough"


def test_it_pauses_while_the_user_is_still_speaking(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("What day is it today?"), models_dir, tmp_path)
    _, spoken = outcome.done
    assert outcome.timeline.reports("silent")[0].at < spoken.end


@pytest.mark.parametrize("text", ["Mm-hmm, okay.", "Okay, right."])
def test_after_a_sign_of_listening_the_reply_goes_on(models_dir: Path, tmp_path: Path, text: str) -> None:
    outcome = play(said(text), models_dir, tmp_path)
    assert phases(outcome)[-3:] == [Phase.PAUSED, Phase.SPEAKING, Phase.IDLE]
    assert only(outcome, "reply_end").data["cut"] is False
    assert not outcome.timeline.reports("interrupted")


def test_stop_silences_and_nothing_follows(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("Stop."), models_dir, tmp_path)
    assert only(outcome, "interrupted").data == {"by": "stop"}
    assert only(outcome, "reply_end").data["cut"] is True
    assert phases(outcome)[-1] is Phase.IDLE


def test_with_all_off_the_user_is_heard_and_the_reply_plays_on(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("What day is it today?"), models_dir, tmp_path, Interruption(allowed=False))
    assert "day" in str(outcome.timeline.reports("heard")[1].data["text"])
    assert only(outcome, "reply_end").data["cut"] is False


def test_with_all_off_what_was_said_to_it_is_answered_when_the_reply_is_over(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("Alexa, what day is it today?"), models_dir, tmp_path, Interruption(allowed=False))
    assert [(turn.intent, turn.cut) for turn in outcome.timeline.turns()] == [("help", False), ("date", False)]
    (_, first_end), (_, second_start) = [each for each in kinds(outcome) if each[0].startswith("reply")][1:3]
    assert first_end < second_start


def test_go_on_after_an_interruption(models_dir: Path, tmp_path: Path) -> None:
    press = '[[press]]\nafter = "reply"\ndelay = 2.0\n[[say]]\ntext = "Go on."\nafter = "silence"\ndelay = 0.4\n'
    outcome = play(press, models_dir, tmp_path)
    first, second = outcome.timeline.turns()
    assert first.cut
    assert second.intent == "go_on"
    assert second.reply
    assert second.reply != HELP
    assert HELP.endswith(second.reply)


def test_repeat_that_after_an_interruption(models_dir: Path, tmp_path: Path) -> None:
    outcome = play(said("Repeat that."), models_dir, tmp_path)
    first, second = outcome.timeline.turns()
    assert first.cut
    assert second.reply == HELP


def test_a_speaker_that_hears_itself_says_all_that_it_has_to_say(models_dir: Path, tmp_path: Path) -> None:
    outcome = play("", models_dir, tmp_path, room="[room]\necho_db = -12\necho_delay_ms = 40\n")
    assert only(outcome, "reply_end").data["cut"] is False
    assert len(outcome.timeline.reports("heard")) <= 3, "the question, and at most twice its own voice"
    paused_at = [at for at, phase in outcome.timeline.phases if phase is Phase.PAUSED]
    end = only(outcome, "reply_end").at
    assert sum(at < end - 0.1 for at in paused_at) <= 1, "at its end it only finds out that it was its own voice"


def test_the_reply_fades_and_is_silent(models_dir: Path, tmp_path: Path) -> None:
    outcome = play('[[press]]\nafter = "reply"\ndelay = 1.0\n', models_dir, tmp_path)
    pressed = round(outcome.done[1].begin * HEARING_RATE)
    sound, _ = soundfile.read(tmp_path / "room.wav", dtype="float32")
    after = sound[pressed:, 1]
    assert np.flatnonzero(after)[-1] < FADE * HEARING_RATE


def test_while_the_button_is_held_the_user_may_take_any_time(models_dir: Path, tmp_path: Path) -> None:
    held = """
        [[press]]
        after = "reply"
        delay = 1.5
        hold = 6.0
        [[say]]
        text = "What day is it today?"
        after = "wake"
        delay = 2.5
    """
    outcome = play(held, models_dir, tmp_path)
    first, second = outcome.timeline.turns()
    assert (first.intent, first.cut, second.intent) == ("help", True, "date")
    press = next(each for each in outcome.timeline.reports("wake") if each.data["by"] == "button")
    end = [each for each in outcome.timeline.reports("speech_end") if "why" in each.data][-1]
    assert (end.generation, end.data["why"]) == (2, "asked")
    assert end.data["decided"] == pytest.approx(press.at + 6.0, abs=0.05)
