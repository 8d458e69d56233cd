"""Echo cancellation with the real canceller: the echo goes, the user stays, and nothing moves."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.audio.echo import DELAY, RINGS, SETTLING, AdaptiveCanceller
from appliance.audio.echopath import LISTENED
from appliance.audio.frontend import FrontEnd
from appliance.audio.reference import Reference
from appliance.bench.mixing import rms_db

BEGIN = 50.0
BLOCK = 320


def speechlike(seconds: float, seed: int) -> Samples:
    """Noise in syllables, at about -20 dB."""
    chance = np.random.default_rng(seed)
    noise = chance.standard_normal(round(seconds * HEARING_RATE))
    noise = np.convolve(noise, np.ones(8) / 8, "same")
    times = np.arange(len(noise)) / HEARING_RATE
    return (0.3 * noise * np.abs(np.sin(2 * np.pi * 2 * times + seed))).astype(np.float32)


def hiss(count: int) -> Samples:
    return (np.random.default_rng(9).standard_normal(count) * 3e-4).astype(np.float32)


def room(played: Samples, db: float, delay: float = 0.06) -> Samples:
    """The echo of `played`, with reflections that die away."""
    chance = np.random.default_rng(4)
    response = np.zeros(round((delay + 0.1) * HEARING_RATE), np.float32)
    direct = round(delay * HEARING_RATE)
    tail = len(response) - direct
    response[direct:] = chance.normal(0, 0.08, tail) * np.exp(-np.arange(tail) / 400)
    response[direct] = 1
    return (np.convolve(played, response)[: len(played)] * 10 ** (db / 20)).astype(np.float32)


class Cards:
    """A speaker and a microphone, in blocks: what is played is known `ahead` seconds before it sounds."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.reference = Reference(HEARING_RATE)
        self.canceller = AdaptiveCanceller(self.reference)
        self._ahead = round(ahead * HEARING_RATE)
        self.settled_at: float | None = None

    def hear(self, played: Samples, heard: Samples, at: float = BEGIN) -> Samples:
        """What is left of `heard`, sample by sample at the same place."""
        left = np.zeros(len(heard) + BLOCK, np.float32)
        told = 0
        for first in range(0, len(heard), BLOCK):
            until = min(len(played), first + BLOCK + self._ahead)
            self.reference.add(Frame(played[told:until], at + told / HEARING_RATE))
            told = until
            cleaned = self.canceller.clean(Frame(heard[first : first + BLOCK], at + first / HEARING_RATE))
            place = round((cleaned.at - at) * HEARING_RATE)
            samples = cleaned.samples[max(0, -place) :]
            left[max(0, place) : max(0, place) + len(samples)] = samples
            if self.settled_at is None and self.canceller.settled:
                self.settled_at = first / HEARING_RATE
        return left[: len(heard)]


@pytest.mark.parametrize("db", [-10, -20])
@pytest.mark.parametrize("ahead", [0.0, 0.1])
def test_the_echo_is_gone_once_it_has_settled(db: float, ahead: float) -> None:
    played = np.concatenate([np.zeros(2 * HEARING_RATE, np.float32), speechlike(8, 1)])
    heard = room(played, db) + hiss(len(played))
    cards = Cards(ahead)
    left = cards.hear(played, heard)
    assert cards.settled_at == pytest.approx(2 + SETTLING, abs=0.15)
    since = round((2 + SETTLING + 1) * HEARING_RATE)
    assert rms_db(left[since:-BLOCK]) < rms_db(heard[since:]) - 12


def test_without_a_sound_it_lets_everything_through_as_it_is() -> None:
    heard = speechlike(3, 2)
    left = Cards().hear(np.zeros(len(heard), np.float32), heard)
    assert (left[: -DELAY - BLOCK] == heard[: -DELAY - BLOCK]).all()


def test_who_speaks_into_a_reply_stays() -> None:
    played = speechlike(10, 1)
    user = np.zeros(len(played), np.float32)
    user[6 * HEARING_RATE : 8 * HEARING_RATE] = speechlike(2, 3)
    left = Cards().hear(played, room(played, -20) + user + hiss(len(played)))
    during = slice(6 * HEARING_RATE, 8 * HEARING_RATE)
    assert rms_db(left[during]) > rms_db(user[during]) - 10
    likeness = np.corrcoef(left[during], user[during])[0, 1]
    assert likeness > 0.7, "it is the user, and at the same time"


def test_it_remembers_the_room_from_one_reply_to_the_next_and_nothing_clicks() -> None:
    silence = np.zeros(round((RINGS + 3) * HEARING_RATE), np.float32)
    played = np.concatenate([speechlike(4, 1), silence, speechlike(2, 5)])
    heard = room(played, -10) + hiss(len(played))
    left = Cards().hear(played, heard)
    again = slice(4 * HEARING_RATE + len(silence) + 4000, -BLOCK)
    assert rms_db(left[again]) < rms_db(heard[again]) - 20
    still = slice(4 * HEARING_RATE + 8000, 4 * HEARING_RATE + len(silence))
    assert np.abs(left[still]).max() < 5 * np.abs(hiss(1000)).max()


def begun_anew(change: Callable[[Cards], None]) -> Cards:
    cards = Cards()
    played = speechlike(3, 1)
    cards.hear(played, room(played, -10))
    assert cards.canceller.settled
    change(cards)
    return cards


def test_after_a_loss_it_begins_anew() -> None:
    cards = begun_anew(lambda cards: None)
    cards.hear(np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32), at=BEGIN + 30)
    assert not cards.canceller.settled


def test_frames_of_any_length_are_one_sound() -> None:
    heard, cards = speechlike(2, 2), Cards()
    pieces: list[Samples] = []
    at = 0
    for length in (1, 7, 159, 160, 161, 5000, 320, 2, 26_000):
        frame = cards.canceller.clean(Frame(heard[at : at + length], BEGIN + at / HEARING_RATE))
        if len(frame.samples):
            due = sum(len(piece) for piece in pieces) - DELAY
            assert frame.at == pytest.approx(BEGIN + due / HEARING_RATE, abs=1e-6)
        pieces.append(frame.samples)
        at += length
    sound = np.concatenate(pieces)
    assert len(sound) % 160 == 0
    assert at - len(sound) < 160
    assert (sound[DELAY:] == heard[: len(sound) - DELAY]).all()


def test_two_clocks_that_drift_apart() -> None:
    """100 ppm: in 20 s the echo slides by 2 ms."""
    played = speechlike(20, 1)
    slow = np.interp(np.arange(len(played)) * (1 - 100e-6), np.arange(len(played)), played).astype(np.float32)
    heard = room(slow, -10) + hiss(len(played))
    left = Cards().hear(played, heard)
    last = slice(15 * HEARING_RATE, -BLOCK)
    assert rms_db(left[last]) < rms_db(heard[last]) - 15


@pytest.mark.parametrize(("how", "sure"), [("hardware", True), ("none", False), ("cancel", False)])
def test_who_takes_the_echo_out(how: Literal["cancel", "hardware", "none"], sure: bool) -> None:
    front_end = FrontEnd(HEARING_RATE, how, automatic_gain=False)
    frame = Frame(speechlike(0.1, 1), BEGIN)
    assert (front_end.process(frame) is frame) == (how != "cancel")
    assert front_end.is_sure(BEGIN, BEGIN + 1)
    front_end.played(Frame(speechlike(0.5, 1), BEGIN))
    assert front_end.plays(BEGIN, BEGIN + 1)
    assert front_end.is_sure(BEGIN, BEGIN + 1) == sure


def test_what_is_soft_gets_louder_after_its_loudness_was_noted() -> None:
    front_end = FrontEnd(HEARING_RATE, "none", automatic_gain=True)
    soft = 0.001 * speechlike(10, 1)
    heard = [
        front_end.process(Frame(soft[first : first + BLOCK], BEGIN + first / HEARING_RATE)).samples
        for first in range(0, len(soft), BLOCK)
    ]
    assert rms_db(np.concatenate(heard)[-HEARING_RATE:]) > rms_db(soft[-HEARING_RATE:]) + 10
    loudness = front_end.loudness(BEGIN + 10)
    assert loudness is not None
    assert loudness == pytest.approx(rms_db(soft), abs=4)


def test_where_nothing_comes_back_the_user_is_not_taken_for_an_echo() -> None:
    played = np.concatenate([np.zeros(HEARING_RATE, np.float32), speechlike(4, 1)])
    heard = hiss(len(played))
    user = slice(round(2.5 * HEARING_RATE), 4 * HEARING_RATE)
    heard[user] += speechlike(1.5, 3)
    cards = Cards()
    left = cards.hear(played, heard)
    assert (left[user] == heard[user]).all()
    assert cards.settled_at == pytest.approx(1 + LISTENED, abs=0.15)


def test_an_echo_that_comes_up_is_found_with_the_second_reply() -> None:
    silence = np.zeros(round((RINGS + 3) * HEARING_RATE), np.float32)
    once = np.concatenate([silence, speechlike(4, 1)])
    played = np.concatenate([once, once, once])
    heard = hiss(len(played))
    heard[len(once) :] += room(once, -10).tolist() * 2
    left = Cards().hear(played, heard)
    assert rms_db(left[-3 * HEARING_RATE : -BLOCK]) < rms_db(heard[-3 * HEARING_RATE :]) - 12


@pytest.mark.parametrize("later", [0.1, 0.04, 0.0])
def test_a_speaker_that_tells_later_than_before_is_followed(later: float) -> None:
    silence = np.zeros(round((RINGS + 3) * HEARING_RATE), np.float32)
    played = np.concatenate([silence, speechlike(6, 1), silence])
    heard = room(played, -10) + hiss(len(played))
    cards = Cards(0.1)
    cards.hear(played, heard)
    cards._ahead = round(later * HEARING_RATE)
    left = cards.hear(played, heard, at=BEGIN + len(played) / HEARING_RATE)
    during = slice(len(silence) + 3 * HEARING_RATE, len(silence) + 6 * HEARING_RATE)
    assert rms_db(left[during]) < rms_db(heard[during]) - 12


def test_a_microphone_that_is_there_first_leaves_a_lead() -> None:
    cards = Cards(0.1)
    before = np.zeros(HEARING_RATE, np.float32)
    for first in range(0, len(before), BLOCK):
        at = BEGIN - 1 + first / HEARING_RATE
        cards.canceller.clean(Frame(before[first : first + BLOCK], at))
    played = np.concatenate([before, speechlike(6, 1)])
    early = np.roll(room(played, -10, delay=0.01), -round(0.03 * HEARING_RATE))  # the driver's times are off
    left = cards.hear(played, early + hiss(len(played)))
    during = slice(4 * HEARING_RATE, 6 * HEARING_RATE)
    assert rms_db(left[during]) < rms_db(early[during]) - 12
