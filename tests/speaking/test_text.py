"""What reaches the voice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.speaking.text import speakable


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It’s  20 °C\tand\nsunny.", "It’s 20 °C and sunny."),
        ("Good 😀 morning ☀️!", "Good morning !"),
        ("co\u00adoperate\u200b \ud800now\0", "cooperate now"),
        ("시간", "시간"),
    ],
)
def test_keeps_what_sounds(text: str, spoken: str) -> None:
    assert speakable(text) == spoken


@pytest.mark.parametrize("text", ["", " \n", "…", "?!", "—", "👍🏽", "👨‍👩‍👧", "\0"])
def test_nothing_to_say(text: str) -> None:
    assert speakable(text) == ""


@given(st.text())
def test_is_never_a_danger_to_the_voice(text: str) -> None:
    spoken = speakable(text)
    spoken.encode()
    assert spoken.isprintable()
    assert speakable(spoken) == spoken
