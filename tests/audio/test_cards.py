"""Cards by their names."""

import os
import re
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pyaudio
import pytest

from appliance.audio.cards import Card, Choice, Direction, PortAudio, any_card
from appliance.audio.devices import MissingCardError
from appliance.audio.lane import Lane
from appliance.audio.microphone import CardMicrophone
from appliance.audio.speaker import CardSpeaker
from appliance.errors import BadInputError
from tests.sound_server import CARDS, SoundServer, running_sound_server

ALL = '"kitchen", "kitchen_window", "default"'


@pytest.fixture
def no_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ALSA knows one card, which is not there."""
    configuration = tmp_path / "alsa.conf"
    configuration.write_text("pcm.unplugged { type hw card 99 }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(configuration))


def found(name: str, direction: Direction) -> str:
    with closing(PortAudio()) as audio:
        return audio.find(name, direction).name


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize(
    ("name", "card"), [("kitchen", CARDS[0]), ("KITCHEN", CARDS[0]), ("Window", CARDS[1]), ("", "default")]
)
def test_a_name_or_the_part_of_a_name_finds_its_card(direction: Direction, name: str, card: str) -> None:
    assert found(name, direction) == card


@pytest.mark.usefixtures("cards")
def test_a_missing_card_is_named_and_so_are_those_that_are_there() -> None:
    with pytest.raises(MissingCardError) as caught:
        found("bathroom", "output")
    assert str(caught.value).startswith('speaker: no sound card is called "bathroom". Allowed: ')
    assert ALL in str(caught.value)
    assert caught.value.status == 2


@pytest.mark.usefixtures("cards")
def test_a_name_that_fits_several_cards_is_refused() -> None:
    with pytest.raises(
        BadInputError, match='microphone: "kitch" fits several sound cards: "kitchen", "kitchen_window"'
    ):
        found("kitch", "input")


def test_a_card_that_has_gone_since_the_list_was_made_is_missing(
    sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_sound_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        with closing(PortAudio()) as audio:
            card = audio.find("kitchen", "output")
            server.process.kill()
            server.process.wait()
            with pytest.raises(MissingCardError, match='speaker: the sound card "kitchen" is not there any more'):
                audio.open(card, (48_000,), (2,), 0.02)


class Listed(PortAudio):
    """A list of cards that changes."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def cards(self, direction: Direction) -> list[Card]:
        return [Card(direction, number, name, 2, 48_000) for number, name in enumerate(self.names)]

    def _default(self, cards: Sequence[Card], direction: Direction) -> Card:
        return cards[0]


BOX, TELEVISION = "Box: USB Audio (hw:1,0)", "HDMI 0: - (hw:0,0)"


@pytest.mark.parametrize(
    ("name", "found"),
    [("Box: USB Audio (hw:4,0)", BOX), ("Box: USB Audio (hw:4,1)", None), ("USB Audio (hw:4,0)", None), ("box", BOX)],
)
def test_the_number_of_a_card_in_a_name_counts_for_nothing(name: str, found: str | None) -> None:
    audio = Listed(TELEVISION, BOX)
    if found is None:
        with pytest.raises(MissingCardError):
            audio.find(name, "output")
    else:
        assert audio.find(name, "output").name == found


def test_two_cards_of_one_name_are_refused_whatever_their_numbers() -> None:
    audio = Listed(BOX, BOX.replace("1", "2"))
    assert audio.find(BOX, "output").number == 0
    with pytest.raises(BadInputError, match="fits several"):
        audio.find(BOX.replace("1", "3"), "output")


def test_the_default_is_chosen_once_and_is_then_that_very_card() -> None:
    choice, audio = Choice("", "output"), Listed(BOX, TELEVISION)
    choice.find(audio)
    choice.opened()
    audio.names = (TELEVISION,)
    with pytest.raises(MissingCardError, match=rf'"{re.escape(BOX)}", which was the default, is not there. Plug it'):
        choice.find(audio)
    audio.names = (TELEVISION, BOX.replace("1", "2"))
    assert choice.find(audio).number == 1
    audio.names = ()
    with pytest.raises(MissingCardError, match="no sound card was found"):
        choice.find(audio)


@pytest.mark.parametrize("name", [BOX, ""])
def test_another_card_of_the_same_name_is_not_taken_for_it(name: str) -> None:
    twin = BOX.replace("1", "2")
    choice, audio = Choice(name, "output"), Listed(BOX, twin)
    choice.find(audio)
    choice.opened()
    audio.names = (twin,)
    with pytest.raises(MissingCardError):
        choice.find(audio)
    audio.names = (twin, BOX.replace("1", "3"))
    assert choice.find(audio).number == 1


def test_a_default_that_was_never_opened_is_not_kept() -> None:
    choice, audio = Choice("", "output"), Listed(TELEVISION)
    choice.find(audio)
    audio.names = (BOX, TELEVISION)
    assert choice.find(audio).name == BOX


def test_a_part_of_a_name_may_be_another_card_each_time() -> None:
    choice, audio = Choice("usb", "output"), Listed(BOX, TELEVISION)
    choice.find(audio)
    choice.opened()
    audio.names = ("Puck: USB Audio (hw:1,0)", TELEVISION)
    assert choice.find(audio).name == audio.names[0]


@pytest.mark.usefixtures("cards")
def test_there_are_cards() -> None:
    assert any_card()


@pytest.mark.usefixtures("no_cards")
@pytest.mark.parametrize("name", ["", "kitchen"])
def test_without_any_card_it_says_what_to_do(name: str) -> None:
    assert not any_card()
    with pytest.raises(MissingCardError, match=r"speaker: no sound card .* `aplay -l`") as caught:
        CardSpeaker(name).start(Lane(48_000, lambda _: None, time.monotonic), lambda _: None, lambda _: None)
    assert caught.value.status == 1
    microphone = CardMicrophone(name)
    with pytest.raises(MissingCardError, match=r"microphone: no sound card .* `arecord -l`"):
        microphone.start(lambda _: None, lambda _: None)
    microphone.stop()


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize("direction", ["input", "output"])
def test_without_a_default_it_takes_the_first(direction: Direction, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_default(_: pyaudio.PyAudio) -> NoReturn:
        raise OSError("No Default Output Device Available")

    monkeypatch.setattr(pyaudio.PyAudio, f"get_default_{direction}_device_info", no_default)
    assert found("", direction) == CARDS[0]


@pytest.mark.usefixtures("no_cards")
def test_the_noise_of_the_libraries_is_not_seen_and_other_errors_are(capfd: pytest.CaptureFixture[str]) -> None:
    PortAudio().close()
    os.write(2, b"after")
    assert capfd.readouterr() == ("", "after")


@pytest.mark.usefixtures("no_cards")
def test_a_program_without_standard_error_may_use_cards() -> None:
    before = os.dup(2)
    os.close(2)
    try:
        PortAudio().close()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(2)
    finally:
        os.dup2(before, 2)
        os.close(before)
