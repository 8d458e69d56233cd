import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.simulation.room import Done
from appliance.simulation.scenario import Press, Say
from appliance.simulation.svg import draw
from appliance.simulation.timeline import Timeline

from .test_timeline import CUT, QUESTION, told


def say(text: str | None, begin: float, end: float, file: Path | None = None) -> Done:
    return Done(Say("a.toml:1", begin, None, 0, file, text, 0), begin, end)


def press(at: float) -> Done:
    return Done(Press("a.toml:1", at, None, 0, 0.1), at, at + 0.1)


def track(folder: Path, seconds: float, rate: int = 16_000) -> Path:
    path = folder / "room.wav"
    soundfile.write(path, np.random.default_rng(0).uniform(-0.3, 0.3, (round(seconds * rate), 2)), rate)
    return path


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314  # our own
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_all_that_matters_is_in_the_picture(tmp_path: Path) -> None:
    done = [say("alexa, <what> & when", 0.2, 1.9), press(4.0), say(None, 4.2, 5, tmp_path / "stop.wav")]
    timeline = told([*QUESTION, *CUT])
    timeline.report(Report("notice", 5.5, 2, {"text": "nobody spoke"}))
    found = texts(draw("Cut <off>", timeline, done, track(tmp_path, 6), "on the fast clock"))
    for text in (
        "Cut <off>",
        "6.0 s in the room · 2 turns · answer after 1.00 s (median), 1.00 s (longest) · on the fast clock",
        "“alexa, <what> & when”",
        "button",
        "stop.wav",
        "wake: alexa",
        "interrupted (button)",
        "microphone",
        "speaker",
        "listening",
        "speaking",
        "1.00 s",
        "0.01 s",
        "1 “what time is it”",
        "intent: time",
        "reply: “It is ten.” (cut off)",
        "2 nothing heard",
        "▸ nobody spoke",
        "= end of speech 0.50 + speech-to-text 0.12 + thinking 0.12 + voice 0.25",
    ):
        assert text in found, text


@pytest.mark.parametrize("seconds", [0.0, 0.01, 3.0])
def test_a_room_in_which_nothing_happens_has_a_picture(tmp_path: Path, seconds: float) -> None:
    assert f"{seconds:.1f} s in the room · 0 turns" in texts(draw("", Timeline(), [], track(tmp_path, seconds)))


def test_what_reaches_beyond_the_end_stays_in_the_picture(tmp_path: Path) -> None:
    svg = draw("", told([*QUESTION, *CUT]), [say("late", 2, 900)], track(tmp_path, 2.5))
    width = float(ET.fromstring(svg).attrib["width"])  # noqa: S314  # our own
    boxes = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")  # noqa: S314  # our own
    assert all(float(box.get("x", 0)) + float(box.get("width", 0)) <= width for box in boxes)


def test_hours_of_turns_stay_small(tmp_path: Path) -> None:
    timeline = Timeline()
    done = []
    for number in range(1, 1_501):
        start = number * 4.0
        done += [say(f"question number {number}", start, start + 1), press(start + 3)]
        for kind, after, data in (
            ("wake", 0.5, {"by": "word", "word": "alexa"}),
            ("speech_end", 1.0, {"decided": start + 1.5}),
            ("heard", 1.6, {"text": f"question number {number}"}),
            ("intent", 1.6, {"intent": "number"}),
            ("reply_text", 1.6, {"text": "an answer of several words " * 10}),
            ("reply_start", 1.8, {}),
            ("interrupted", 3.0, {"by": "button"}),
            ("silent", 3.1, {}),
            ("reply_end", 3.1, {"cut": True}),
            ("notice", 3.2, {"text": "something went wrong"}),
        ):
            timeline.report(Report(kind, start + after, number, data))
        for phase, after in ((Phase.LISTENING, 0.5), (Phase.THINKING, 1.5), (Phase.SPEAKING, 1.6), (Phase.IDLE, 3.1)):
            timeline.phase(phase, start + after)
    svg = draw("Hours", timeline, done, track(tmp_path, 6_010, rate=50))
    assert len(svg.encode()) < 1_000_000
    assert any("1500 turns" in text for text in texts(svg))
