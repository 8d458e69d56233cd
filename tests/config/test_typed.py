"""Values as people type them, with what shells and ssh leave of their quotation marks."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.config.keys import all_keys, dotted, parse, type_at
from appliance.config.typed import read
from appliance.errors import BadInputError


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("wake.threshold", "0.6", 0.6),
        ("wake.threshold", " 0.6 # a comment", 0.6),
        ("llm.history", "1_000", 1000),
        ("microphone.card", "ReSpeaker", "ReSpeaker"),
        ("microphone.card", '"ReSpeaker"', "ReSpeaker"),
        ("microphone.card", "'USB Audio'", "USB Audio"),
        ("microphone.card", "USB Audio", "USB Audio"),
        ("microphone.card", "17", "17"),
        ("microphone.card", "true", "true"),
        ("microphone.card", "", ""),
        ("microphone.card", '"', '"'),
        ("microphone.card", "a\nspeaker = 3", "a\nspeaker = 3"),
        ("button.pin", "none", "none"),
        ("button.pin", '"none"', "none"),
        ("button.pin", "4", 4),
        ("interruption.speech", "false", False),
        ("wake.words", '["alexa", "hey_jarvis"]', ["alexa", "hey_jarvis"]),
        ("wake.words", "[alexa, hey_jarvis]", ["alexa", "hey_jarvis"]),
        ("wake.words", "alexa,hey_jarvis", ["alexa", "hey_jarvis"]),
        ("wake.words", "alexa", ["alexa"]),
        ("llm.servers", "[]", []),
        ("llm.servers", "", []),
        ("wake.thresholds.alexa", "0.7", 0.7),
        ('wake.thresholds."hey jarvis"', "0.7", 0.7),
    ],
)
def test_a_value_is_taken_as_its_key_wants_it(key: str, text: str, value: Any) -> None:
    found = read(text, parse(key, "here"), "here")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("wake.threshold", "high", 'here: wake.threshold = "high": is text; allowed: a number from 0.05 to 0.99'),
        ("wake.threshold", "7", "here: wake.threshold = 7: is out of range; allowed: a number from 0.05 to 0.99"),
        ("wake.threshold", "nan", "here: wake.threshold = nan: is out of range"),
        ("interruption.speech", "no", 'here: interruption.speech = "no": is text; allowed: true or false'),
        ("profile", "pi-us", 'did you mean "pi-usb"?'),
        ("wake.words", "", 'here: wake.words = "": is text; allowed: a list, each item text, length at least 1'),
        (
            "wake",
            "3",
            (
                "here: wake is a table. Allowed: wake.words, wake.threshold, wake.playback_threshold, wake.refractory, "
                "wake.thresholds."
            ),
        ),
        ("wake.thresholds", "{alexa = 1}", "here: wake.thresholds is a table. Allowed: wake.thresholds.NAME."),
        ("wake.treshold", "1", 'here: wake.treshold is not known; did you mean "wake.threshold"? Allowed: wake.'),
        ("threshold", "1", 'did you mean "wake.threshold"?'),
        ("wake.threshold.x", "1", "here: wake.threshold.x is not known; did you mean"),
        ("wake.thresholds.alexa.x", "1", "is not known; did you mean"),
        ("microphone.card", "a\0b\x7f", ""),
    ],
)
def test_what_cannot_be_taken_is_said(key: str, text: str, said: str) -> None:
    if not said:
        assert read(text, parse(key, "here"), "here") == text
        return
    with pytest.raises(BadInputError) as caught:
        read(text, parse(key, "here"), "here")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", ".", "a b", "a.", "a = 1", "a\nb", "[a]", "a = 1\nb", "#", "{", "a" * 3 + "=", "\0"]
)
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(BadInputError, match="is no key"):
        parse(text, "here")


def test_a_key_is_typed_as_it_is_shown() -> None:
    for key, _ in all_keys():
        assert parse(dotted(key), "here") == key
    assert parse('wake."a.b"', "here") == ("wake", "a.b")


@given(st.sampled_from([key for key, _ in all_keys()]), st.text(max_size=30))
def test_any_text_is_taken_or_refused(key: tuple[str, ...], text: str) -> None:
    with suppress(BadInputError):
        read(text, key, "here")


@given(st.text(max_size=20))
def test_any_text_is_a_key_or_none(text: str) -> None:
    with suppress(BadInputError):
        type_at(parse(text, "here"), "here")
