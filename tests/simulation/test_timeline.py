import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.core.effects import Report
from appliance.core.events import (
    Answered,
    Event,
    Heard,
    ListeningEnd,
    ListeningEnded,
    Overheard,
    Pressed,
    ReplyEnded,
    ReplyStarted,
    SpeechEnded,
    SpeechStarted,
    WakeHeard,
)
from appliance.core.interruption import Meaning
from appliance.core.turn import Phase, Turn, step
from appliance.simulation.timeline import Timeline

QUESTION: Sequence[Event] = (
    WakeHeard("alexa", 0.9, 1.0),
    SpeechStarted(1.2),
    ListeningEnded(1, 2.0, 2.5, ListeningEnd.SILENCE),
    Heard(1, "what time is it", 2.625),
    Answered(1, "time", "It is ten.", 2.75),
    ReplyStarted(1, 3.0),
)
OVERHEARD: Sequence[Event] = (SpeechStarted(3.2), Overheard(1, "mm-hmm", Meaning.BACK_CHANNEL, 3.9), SpeechEnded(3.8))
CUT: Sequence[Event] = (*OVERHEARD, Pressed(4.0, 1), ReplyEnded(1, 4.01, 1.0, True, 16_000, ()))


def told(events: Sequence[Event]) -> Timeline:
    """What a timeline is told when these events happen to the conversation."""
    timeline = Timeline()
    turn = Turn(patience=5.0)
    for event in events:
        before = turn.phase
        turn, effects = step(turn, event)
        for effect in effects:
            if isinstance(effect, Report):
                timeline.report(effect)
        if turn.phase is not before:
            timeline.phase(turn.phase, event.at)
    return timeline


def test_a_turn_has_its_words_and_latencies() -> None:
    (turn,) = told([*QUESTION, ReplyEnded(1, 5.0, 2.0, False, 32_000, ())]).turns()
    assert (turn.generation, turn.at) == (1, 1.0)
    assert (turn.heard, turn.intent, turn.reply, turn.cut) == ("what time is it", "time", "It is ten.", False)
    assert turn.answer is not None
    assert (turn.answer.begin, turn.answer.end, turn.answer.seconds) == (2.0, 3.0, 1.0)
    assert {stage.name: stage.seconds for stage in turn.stages} == {
        "end of speech": 0.5,
        "speech-to-text": 0.125,
        "thinking": 0.125,
        "voice": 0.25,
    }
    assert turn.hush is None


def test_a_cut_reply_has_the_time_to_silence_and_speech_meanwhile_changes_no_latency() -> None:
    first, second = told([*QUESTION, *CUT]).turns()
    assert first.cut
    assert first.heard == "what time is it"
    assert first.answer is not None
    assert first.answer.begin == 2.0
    assert first.hush is not None
    assert first.hush.seconds == pytest.approx(0.01)
    assert (second.generation, second.at) == (2, 4.0)
    assert (second.heard, second.intent, second.reply, second.answer, second.stages) == (None, None, None, None, ())


def test_after_a_cough_the_latency_counts_from_the_command() -> None:
    events: list[Event] = [
        WakeHeard("alexa", 0.9, 1.0),
        ListeningEnded(1, 1.5, 2.0, ListeningEnd.SILENCE),
        Heard(1, "", 2.1),
        ListeningEnded(1, 4.0, 4.5, ListeningEnd.SILENCE),
        Heard(1, "stop", 4.6),
        Answered(1, "time", "It is ten.", 4.7),
        ReplyStarted(1, 5.0),
    ]
    (turn,) = told(events).turns()
    assert turn.answer is not None
    assert turn.answer.begin == 4.0
    assert sum(stage.seconds for stage in turn.stages) == pytest.approx(1.0)


def test_an_answer_without_words_has_no_latency() -> None:
    (turn,) = told([*QUESTION[:4], Answered(1, "stop", "", 3.0)]).turns()
    assert (turn.intent, turn.reply, turn.answer) == ("stop", "", None)


def test_the_phases_are_kept() -> None:
    phases = [phase for _, phase in told([*QUESTION, *CUT]).phases]
    assert phases == [Phase.LISTENING, Phase.THINKING, Phase.SPEAKING, Phase.LISTENING]


REPORTS = st.builds(
    Report,
    st.sampled_from(["wake", "heard", "notice", "reply_start"]),
    st.integers(0, 1_000_000).map(lambda sample: sample / 16_000),
    st.integers(0, 3),
    st.dictionaries(st.sampled_from(["text", "by"]), st.one_of(st.text(), st.none(), st.booleans())),
)


@settings(deadline=None)
@given(st.lists(REPORTS))
def test_the_file_has_all_by_time(tmp_path_factory: pytest.TempPathFactory, reports: list[Report]) -> None:
    timeline = Timeline()
    for report in reports:
        timeline.report(report)
    path = tmp_path_factory.getbasetemp() / "timeline.json"
    timeline.write(path)
    entries = json.loads(path.read_text("utf-8"))
    ordered = sorted(reports, key=lambda report: report.at)
    assert entries == [
        {"t": each.at, "kind": each.kind, "generation": each.generation, **each.data} for each in ordered
    ]


def test_times_are_those_of_samples(tmp_path: Path) -> None:
    timeline = Timeline()
    timeline.report(Report("wake", 1 / 3, 1))
    timeline.write(tmp_path / "timeline.json")
    (entry,) = json.loads((tmp_path / "timeline.json").read_text())
    assert entry["t"] == 5_333 / 16_000
