"""What the conductor does when a part of it breaks: the user is told, and the next turn works."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.audio.devices import Samples
from appliance.config.schema import Settings
from appliance.errors import ApplianceError
from appliance.hearing.stt import Recognition, Transcript
from appliance.simulation import run
from appliance.simulation.run import Outcome
from appliance.simulation.scenario import parse
from appliance.supervisor import Engines, load_engines

TWO_QUESTIONS = """
    [[say]]
    text = "Alexa, what time is it?"
    at = 1
    [[say]]
    text = "Alexa, what time is it?"
    after = "idle"
    delay = 1
"""


class Once:
    """Raises `error` the first time it is used for a turn, and then never again."""

    def __init__(self, error: Exception) -> None:
        self._error: Exception | None = error

    def __call__(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


class Deaf:
    """A recogniser that breaks once, and then always hears the same."""

    name = "deaf"
    language = "en"

    def __init__(self, error: Exception) -> None:
        self._breaks = Once(error)

    def begin(self) -> Recognition:
        return self

    def feed(self, samples: Samples) -> str | None:
        return None

    def finish(self) -> Transcript:
        self._breaks()
        return Transcript("what time is it")


class Hoarse:
    """A voice that breaks once it has to say `text`, and then never again."""

    name = "hoarse"
    language = "en"

    def __init__(self, engines: Engines, error: Exception) -> None:
        self._voice = engines.voice
        self.rate = engines.voice.rate
        self._breaks = Once(error)

    def synthesise(self, clause: str) -> Iterator[Samples]:
        if clause.startswith("It's"):
            self._breaks()
        return self._voice.synthesise(clause)


@pytest.fixture
def play(
    models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Engines], Engines]], Outcome]:
    """Two questions to an appliance with other engines."""

    def play(change: Callable[[Engines], Engines]) -> Outcome:
        async def changed(settings: Settings, models: Path) -> Engines:
            return change(await load_engines(settings, models))

        monkeypatch.setattr(run, "load_engines", changed)
        scenario = parse(TWO_QUESTIONS, tmp_path / "scenario.toml")
        return run.simulate(scenario, Settings(), models_dir / "models", tmp_path, fast=True)

    return play


Make = Callable[[], Exception]
ERRORS: list[Make] = [
    lambda: ApplianceError("stt/model", "it is gone", remedy="Fetch it again"),
    lambda: RuntimeError("a defect"),
]


@pytest.mark.parametrize("make", ERRORS, ids=["expected", "defect"])
def test_a_recogniser_that_breaks_is_apologised_for(
    play: Callable[[Callable[[Engines], Engines]], Outcome], make: Make
) -> None:
    outcome = play(lambda engines: replace(engines, recogniser=Deaf(make())))
    (notice,) = outcome.timeline.reports("notice")
    assert str(make()) in str(notice.data["text"])
    starts = [report.generation for report in outcome.timeline.reports("reply_start")]
    assert starts == [1, 2], "an apology, and an answer"
    apology, answer = outcome.timeline.turns()
    assert (apology.intent, answer.intent) == (None, "time")
    assert apology.reply
    assert "sorry" in apology.reply.lower()


@pytest.mark.parametrize("make", ERRORS, ids=["expected", "defect"])
def test_a_voice_that_breaks_ends_the_reply(
    play: Callable[[Callable[[Engines], Engines]], Outcome], make: Make
) -> None:
    outcome = play(lambda engines: replace(engines, voice=Hoarse(engines, make())))
    (notice,) = outcome.timeline.reports("notice")
    assert str(make()) in str(notice.data["text"])
    assert [report.generation for report in outcome.timeline.reports("reply_end")] == [1, 2]
    assert [report.generation for report in outcome.timeline.reports("reply_start")] == [2]
