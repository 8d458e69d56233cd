"""Timers and the volume, asked for and heard in the room."""

import re
from pathlib import Path

from appliance.config.schema import Settings
from appliance.simulation.run import simulate
from appliance.simulation.scenario import parse

SCENARIO = """
duration = 45
[[say]]
text = "Alexa, set a timer."
after = "ready"
[[say]]
text = "Fifteen seconds."
after = "silence"
delay = 0.5
[[say]]
text = "Alexa, set the volume to five."
after = "silence"
delay = 0.7
[[say]]
text = "Alexa, stop!"
at = 32
"""


def test_a_timer_is_set_by_two_sentences_and_rings_until_it_is_told_to_stop(models_dir: Path, tmp_path: Path) -> None:
    scenario = parse(SCENARIO, tmp_path / "scenario.toml")
    outcome = simulate(scenario, Settings(), models_dir / "models", tmp_path, fast=True)
    replies = [report.data["text"] for report in outcome.timeline.reports("reply_text")]
    intents = [report.data["intent"] for report in outcome.timeline.reports("intent")]
    assert replies[0] == "For how long?"
    assert re.match("Fifteen seconds, starting now", str(replies[1]))
    assert "Volume five." in replies
    assert intents[:2] == ["set_timer", "set_timer"]
    rings = [report.at for report in outcome.timeline.reports("reply_text") if "done" in str(report.data["text"])]
    assert len(rings) >= 2
    assert rings[-1] < 34
