"""Evenings with a language model that comes and goes, in the simulated room."""

from pathlib import Path

from appliance.config.schema import Settings
from appliance.simulation.run import Outcome, simulate
from appliance.simulation.scenario import parse
from appliance.thinking.phrases import PHRASES

EN = PHRASES["en"]
FAR = "It is far away. Nobody has ever walked there."
QUESTION = """
    [[say]]
    text = "Alexa, how far away is the moon?"
    after = "idle"
    delay = 1
"""


def does(what: str, says: str = "", when: str = 'after = "idle"') -> str:
    words = f'\n    says = "{says}"' if says else ""
    return f'\n    [[llm]]\n    {when}\n    does = "{what}"{words}\n'


def play(steps: str, models_dir: Path, out: Path) -> Outcome:
    outcome = simulate(parse(steps, out / "scenario.toml"), Settings(), models_dir / "models", out, fast=True)
    assert not outcome.problems
    return outcome


def replies(outcome: Outcome) -> list[str | None]:
    return [turn.reply for turn in outcome.timeline.turns()]


def test_the_model_answers_what_the_skills_cannot_and_the_timeline_says_who_it_was(
    models_dir: Path, tmp_path: Path
) -> None:
    outcome = play(does("start", FAR, "at = 0") + QUESTION, models_dir, tmp_path)
    (turn,) = outcome.timeline.turns()
    assert (turn.intent, turn.reply, turn.cut) == ("model", FAR, False)
    (told,) = outcome.timeline.reports("reply_text")
    assert str(told.data["by"]).startswith("http://127.0.0.1:")


def test_whatever_becomes_of_the_model_there_is_an_honest_sentence_and_the_next_turn_works(
    models_dir: Path, tmp_path: Path
) -> None:
    evening = "".join(does(what) + QUESTION for what in ("hang", "full", "stop"))
    outcome = play(QUESTION + evening + does("start", FAR) + QUESTION, models_dir, tmp_path)
    busy = f"{EN.ONE_MOMENT}\n{EN.MODEL_BUSY}"
    assert replies(outcome) == [EN.NO_MODEL, EN.NO_MODEL, busy, EN.NO_MODEL, FAR]


def test_who_waits_for_a_slow_model_is_told_so(models_dir: Path, tmp_path: Path) -> None:
    (reply,) = replies(play(does("slow", "Yes, far.", "at = 0") + QUESTION, models_dir, tmp_path))
    assert reply == f"{EN.ONE_MOMENT}\nYes, far."


def test_an_answer_that_breaks_off_ends_with_a_sentence_that_says_so(models_dir: Path, tmp_path: Path) -> None:
    stop = does("stop", when='after = "reply"\ndelay = 4.5')
    (reply,) = replies(play(does("slow", FAR, "at = 0") + QUESTION + stop, models_dir, tmp_path))
    assert reply
    assert reply.startswith(f"{EN.ONE_MOMENT}\nIt is far away. Nobody")
    assert reply.endswith(EN.BROKE_OFF)
