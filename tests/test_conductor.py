"""What the conductor does when a part of it breaks, and how it says what is still being worded."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from appliance import supervisor
from appliance.audio.devices import Samples
from appliance.conductor import COMPLETE_PAUSE, OPEN_PAUSE
from appliance.config.schema import Settings
from appliance.engines import Engines, load_engines
from appliance.errors import ApplianceError
from appliance.hearing.stt import Recognition, Transcript
from appliance.simulation import run
from appliance.simulation.run import Outcome
from appliance.simulation.scenario import parse
from appliance.thinking.answer import Answer, Wording
from appliance.thinking.history import History
from appliance.thinking.mind import Mind

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

    def guess(self) -> Transcript | None:
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


class Guessing:
    """A recogniser that guesses what it is told to, and then hears a question."""

    name = "guessing"
    language = "en"

    def __init__(self, guess: str | None) -> None:
        self._guess = guess

    def begin(self) -> Recognition:
        return self

    def feed(self, samples: Samples) -> str | None:
        return None

    def guess(self) -> Transcript | None:
        return None if self._guess is None else Transcript(self._guess)

    def finish(self) -> Transcript:
        return Transcript("what time is it")


@pytest.mark.parametrize(
    ("guess", "why", "shortest", "longest"),
    [
        ("Alexa, what time is it?", "complete", COMPLETE_PAUSE, Settings().listening.pause),
        ("Alexa, what time is it in", "silence", OPEN_PAUSE, OPEN_PAUSE + 0.1),
        ("Alexa, who is it?", "silence", Settings().listening.pause, Settings().listening.pause + 0.1),
        (None, "silence", Settings().listening.pause, Settings().listening.pause + 0.1),
    ],
)
def test_how_long_a_pause_ends_the_turn_depends_on_what_was_said(
    play: Callable[[Callable[[Engines], Engines]], Outcome],
    guess: str | None,
    why: str,
    shortest: float,
    longest: float,
) -> None:
    outcome = play(lambda engines: replace(engines, recogniser=Guessing(guess)))
    ends = [report for report in outcome.timeline.reports("speech_end") if "why" in report.data]
    assert [end.data["why"] for end in ends] == [why, why]
    for end in ends:
        decided = end.data["decided"]
        assert isinstance(decided, float)
        assert shortest <= decided - end.at < longest


STORY = ("Once upon a time ", "there was a king. ", "He had a daughter, ", "and she had a frog. ", "That is all.")
LONG_STORY = STORY[:-1] * 20


class Poet(Mind):
    """Words one piece a second."""

    story: tuple[str, ...] = STORY
    worded: list[float]
    closed: list[float]

    async def answer(self, heard: str, history: History) -> Answer | Wording:
        return Wording("story", self._words())

    async def _words(self) -> AsyncGenerator[str, None]:
        loop = asyncio.get_running_loop()
        try:
            for piece in self.story:
                await asyncio.sleep(1)
                self.worded.append(loop.time())
                yield piece
        finally:
            self.closed.append(loop.time())


@pytest.fixture
def poet(monkeypatch: pytest.MonkeyPatch) -> type[Poet]:
    Poet.worded, Poet.closed, Poet.story = [], [], STORY
    monkeypatch.setattr(supervisor, "Mind", Poet)
    return Poet


def tell(models_dir: Path, out: Path, then: str = "") -> Outcome:
    scenario = parse('[[say]]\ntext = "Alexa, tell me a story."\nat = 1\n' + then, out / "scenario.toml")
    return run.simulate(scenario, Settings(), models_dir / "models", out, fast=True)


def test_the_first_words_are_spoken_while_the_others_are_still_being_found(
    poet: type[Poet], models_dir: Path, tmp_path: Path
) -> None:
    outcome = tell(models_dir, tmp_path)
    (turn,) = outcome.timeline.turns()
    assert (turn.intent, turn.reply, turn.cut) == ("story", "".join(STORY), False)
    (start,), (words,), (end,) = (outcome.timeline.reports(kind) for kind in ("reply_start", "reply_text", "reply_end"))
    assert start.at < words.at < end.at
    assert len(poet.closed) == 1


def test_an_interruption_ends_the_wording_at_once_and_what_was_worded_is_known(
    poet: type[Poet], models_dir: Path, tmp_path: Path
) -> None:
    poet.story = LONG_STORY
    outcome = tell(models_dir, tmp_path, '[[press]]\nafter = "reply"\ndelay = 3.3\n')
    (interrupted,) = outcome.timeline.reports("interrupted")
    told, _ = outcome.timeline.turns()
    assert told.cut
    assert len(poet.worded) < 10, "of eighty pieces"
    assert told.reply == "".join(LONG_STORY[: len(poet.worded)]).strip()
    (words,) = outcome.timeline.reports("reply_text")
    assert words.at == pytest.approx(interrupted.at, abs=0.02)
