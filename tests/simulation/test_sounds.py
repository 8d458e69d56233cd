from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.audio.devices import Samples
from appliance.bench.mixing import rms_db
from appliance.errors import BadInputError
from appliance.simulation import sounds
from appliance.simulation.scenario import parse
from appliance.speaking.voice import Voice


class Hum:
    """A voice that hums as many seconds as a text has letters, in two pieces."""

    name = "hum"
    language = "en"
    rate = 22_050

    def __init__(self) -> None:
        self.clauses: list[str] = []

    def synthesise(self, clause: str) -> Iterator[Samples]:
        self.clauses.append(clause)
        for _ in range(2 * sum(map(str.isalpha, clause))):
            yield np.full(11_025, 0.25, np.float32)


def no_voice() -> Voice:
    raise AssertionError("no text is to be said")


def test_recordings_texts_and_presses_have_their_sounds(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(800, 0.5), 8_000, "FLOAT")
    hum = Hum()
    text = """
        [[say]]
        file = "a.wav"
        at = 1
        gain_db = -20
        [[press]]
        at = 2
        [[say]]
        text = "abc"
        at = 3
        [[say]]
        text = "abc"
        at = 4
    """
    recording, press, one, other = sounds.said(parse(text, tmp_path / "a.toml"), lambda: hum)
    assert len(recording) == 1_600
    assert recording[800] == pytest.approx(0.05, rel=0.01)
    assert len(press) == 0
    assert len(one) == 3 * 16_000
    assert one[16_000] == pytest.approx(0.25, rel=0.01)
    assert one is other
    assert hum.clauses == ["abc"]


def test_without_a_text_no_voice_is_needed(tmp_path: Path) -> None:
    assert len(sounds.said(parse("[[press]]\nat = 1", tmp_path / "a.toml"), no_voice)) == 1


def test_a_text_with_nothing_to_say_is_named() -> None:
    with pytest.raises(BadInputError, match=r'a\.toml:1: text = "\?!": has nothing that the voice hum can say'):
        sounds.said(parse('[[say]]\ntext = "?!"\nat = 1', Path("a.toml")), Hum)


def test_the_noise_has_its_level(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "n.wav", np.sin(np.arange(16_000)), 16_000, "FLOAT")
    path = tmp_path / "a.toml"
    assert rms_db(sounds.noise(parse("", path).acoustics)) == pytest.approx(-75, abs=0.1)
    assert rms_db(sounds.noise(parse("[room]\nnoise_db = -40", path).acoustics)) == pytest.approx(-40, abs=0.1)
    recorded = sounds.noise(parse('[room]\nnoise = "n.wav"', path).acoustics)
    assert rms_db(recorded) == pytest.approx(-3, abs=0.1)
    given = sounds.noise(parse('[room]\nnoise = "n.wav"\nnoise_db = -30', path).acoustics)
    assert rms_db(given) == pytest.approx(-30, abs=0.001)


def test_silence_cannot_have_a_level(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "n.wav", np.zeros(100), 16_000)
    with pytest.raises(BadInputError, match=r"n\.wav: is silence"):
        sounds.noise(parse('[room]\nnoise = "n.wav"\nnoise_db = -30', tmp_path / "a.toml").acoustics)
