"""The end of an utterance: examples for each rule, and what holds for any probabilities at all."""

from collections.abc import Iterable, Iterator
from itertools import chain, count, cycle, repeat
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from appliance.core.endpoint import HELD, HYSTERESIS, LULL, WINDOW, Endpoint, EndpointSettings, Outcome, SpeechTracker
from appliance.core.events import ListeningEnd, SpeechEnded, SpeechStarted
from appliance.core.roomlevel import Room

SETTINGS = EndpointSettings()
OPENED = 100.0
PATIENCE_UNTIL = 106.0


def windows(*stretches: tuple[float, float], since: float = OPENED) -> Iterator[tuple[float, float]]:
    """Windows of a probability for some seconds, one stretch after the other, from `since` on."""
    probabilities = chain.from_iterable(repeat(p, round(seconds / WINDOW)) for p, seconds in stretches)
    return ((p, since + number * WINDOW) for number, p in enumerate(probabilities, 1))


def end_of(voice: Iterable[tuple[float, float]], settings: EndpointSettings = SETTINGS) -> Outcome | None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, settings)
    return next((outcome for window in voice if (outcome := endpoint.step(*window))), None)


def ends(outcome: Outcome | None, why: ListeningEnd, at: float, decided: float) -> bool:
    """Whether it ended so, to a window."""
    return (
        outcome is not None
        and outcome.why is why
        and abs(outcome.at - at) <= WINDOW
        and abs(outcome.decided - decided) <= WINDOW
    )


def speech_in(*stretches: tuple[float, float]) -> list[SpeechStarted | SpeechEnded]:
    tracker = SpeechTracker(0.5, minimum=0.2, gap=0.3)
    return [certain for window in windows(*stretches, since=0) if (certain := tracker.step(*window))]


def test_speech_starts_at_its_first_voice_and_ends_at_its_last() -> None:
    started, ended = speech_in((0, 0.96), (0.9, 0.64), (0, 0.96))
    assert isinstance(started, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    assert abs(started.at - 0.96) < 1e-9
    assert abs(ended.at - 1.60) < 1e-9


def test_a_click_is_no_speech() -> None:
    assert speech_in((0, 0.96), (1, 0.128), (0, 0.96), (1, 0.128), (0, 0.96)) == []


def test_the_gaps_between_words_split_no_speech() -> None:
    assert len(speech_in((0.9, 0.32), (0, 0.256), (0.9, 0.32), (0, 0.96))) == 2


def test_voice_goes_on_until_it_is_well_below_the_threshold() -> None:
    assert speech_in((0.4, 3.2)) == []
    (started,) = speech_in((0.6, 0.032), (0.4, 3.2))
    assert isinstance(started, SpeechStarted)


def test_a_pause_after_speech_ends_the_utterance() -> None:
    voice = windows((0, 0.64), (0.9, 0.96), (0, 0.32), (0.9, 0.96), (0, 3.2))
    assert ends(end_of(voice), ListeningEnd.SILENCE, OPENED + 2.88, OPENED + 3.38)


def test_patience_ends_when_nobody_speaks() -> None:
    outcome = end_of(windows((0.1, 9.6)))
    assert ends(outcome, ListeningEnd.NOTHING, OPENED, PATIENCE_UNTIL)


def test_a_click_neither_ends_nor_prolongs_the_patience() -> None:
    outcome = end_of(windows((0, 0.64), (1, 0.128), (0, 9.6)))
    assert ends(outcome, ListeningEnd.NOTHING, OPENED + 0.768, PATIENCE_UNTIL)


def test_who_begins_just_before_the_patience_ends_is_heard_out() -> None:
    voice = windows((0, 5.92), (0.9, 0.96), (0, 3.2))
    assert ends(end_of(voice), ListeningEnd.SILENCE, OPENED + 6.88, OPENED + 7.38)


def test_endless_voice_is_ended_by_the_limit() -> None:
    outcome = end_of(windows((0, 1.28), (0.9, 32)))
    assert ends(outcome, ListeningEnd.LIMIT, OPENED + 1.28 + SETTINGS.limit, OPENED + 1.28 + SETTINGS.limit)


def test_noise_that_was_there_before_is_ended_by_the_limit() -> None:
    outcome = end_of(windows((0.9, 32), since=OPENED - 3.2))
    assert ends(outcome, ListeningEnd.LIMIT, OPENED + SETTINGS.limit, OPENED + SETTINGS.limit)


def test_the_rest_of_the_wake_word_is_no_command() -> None:
    word = ((0, 0.64), (0.9, 0.64), (0, 1.28), (0.9, 0.96), (0, 3.2))
    outcome = end_of(windows(*word, since=OPENED - 0.96))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 2.56, OPENED + 3.06)


def test_the_rest_of_the_wake_word_is_no_command_when_voice_flickers() -> None:
    word = ((0.9, 0.64), (0.4, 0.096), (0.9, 0.16), (0, 1.28), (0.9, 0.96), (0, 3.2))
    outcome = end_of(windows(*word, since=OPENED - 0.704))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 2.432, OPENED + 2.932)


def test_what_may_have_been_a_short_command_ends_after_the_doubt() -> None:
    outcome = end_of(windows((0.9, 0.96), (0, 9.6), since=OPENED - 0.64))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 0.32, OPENED + 0.32 + SETTINGS.doubt)


def test_a_wake_word_that_is_over_leaves_all_the_patience() -> None:
    outcome = end_of(windows((0.9, 0.64), (0, 9.6), since=OPENED - 0.64))
    assert ends(outcome, ListeningEnd.NOTHING, OPENED, PATIENCE_UNTIL)


def test_a_command_in_the_same_breath_counts() -> None:
    outcome = end_of(windows((0.9, 1.92), (0, 3.2), since=OPENED - 0.64))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 1.28, OPENED + 1.78)


def test_a_short_command_just_after_the_wake_word_counts() -> None:
    outcome = end_of(windows((0.9, 0.64), (0, 0.096), (0.9, 0.256), (0, 3.2), since=OPENED - 0.608))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 0.384, OPENED + 0.884)


def test_the_button_ends_it_where_it_is() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    assert endpoint.finish(OPENED - 1) == Outcome(ListeningEnd.ASKED, OPENED, OPENED)
    for window in windows((0.9, 0.96), (0, 0.32)):
        assert endpoint.step(*window) is None
    assert ends(endpoint.finish(OPENED + 1.28), ListeningEnd.ASKED, OPENED + 0.96, OPENED + 1.28)


def end_with(endpoint: Endpoint, *stretches: tuple[float, float], pause: float | None = None) -> Outcome | None:
    """The outcome, if each pause is said to have to last `pause` seconds, as soon as it is one."""
    for window in windows(*stretches):
        if (outcome := endpoint.step(*window)) is not None:
            return outcome
        if endpoint.lull is not None and pause is not None:
            endpoint.expect(endpoint.lull, pause)
    return None


def test_a_pause_is_noticed_after_a_tenth_of_a_second_and_over_with_the_next_voice() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    lulls: list[tuple[float, float | None]] = []
    for window in windows((0, 0.32), (0.9, 0.64), (0, 0.256), (0.9, 0.32)):
        endpoint.step(*window)
        lulls.append((window[1], endpoint.lull))
    begun = [at for at, lull in lulls if lull is not None]
    assert abs(begun[0] - (OPENED + 0.96 + LULL)) <= WINDOW / 2
    assert abs(begun[-1] - (OPENED + 0.96 + 0.256)) <= WINDOW / 2
    assert {lull for _, lull in lulls} == {None, OPENED + 0.96}


def test_a_pause_after_a_complete_command_may_be_shorter() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    outcome = end_with(endpoint, (0.9, 0.96), (0, 9.6), pause=0.25)
    assert ends(outcome, ListeningEnd.COMPLETE, OPENED + 0.96, OPENED + 0.96 + 0.25)


def test_a_pause_in_an_open_sentence_may_be_longer() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    outcome = end_with(endpoint, (0.9, 0.96), (0, 1.28), (0.9, 0.64), (0, 9.6), pause=1.5)
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 2.88, OPENED + 2.88 + 1.5)


def test_what_is_said_of_a_pause_that_is_over_is_moot() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    outcome = None
    for window in windows((0.9, 0.96), (0, 0.256), (0.9, 0.64), (0, 9.6)):
        outcome = outcome or endpoint.step(*window)
        if window[1] > OPENED + 1.3:  # somebody speaks again
            endpoint.expect(OPENED + 0.96, 9.0)
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 1.856, OPENED + 1.856 + SETTINGS.pause)


def test_a_guess_that_comes_too_late_changes_nothing() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    outcome = end_with(endpoint, (0.9, 0.96), (0, 9.6))
    endpoint.expect(OPENED + 0.96, 9.0)
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 0.96, OPENED + 0.96 + SETTINGS.pause)


def test_what_may_have_been_a_short_command_ends_sooner_if_it_was_one() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS)
    for window in windows((0.9, 0.64), since=OPENED - 0.64):
        endpoint.step(*window)
    outcome = end_with(endpoint, (0.9, 0.32), (0, 9.6), pause=0.25)
    assert ends(outcome, ListeningEnd.COMPLETE, OPENED + 0.32, OPENED + 0.32 + 0.25)


def test_while_the_button_is_held_no_pause_and_no_patience_ends_it() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS, held=True)
    outcome = end_with(endpoint, (0, 8), (0.9, 0.96), (0, 20), (0.9, 40))
    assert ends(outcome, ListeningEnd.LIMIT, OPENED + HELD, OPENED + HELD)
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS, held=True)
    assert end_with(endpoint, (0.9, 0.96), (0, 3.2)) is None
    assert ends(endpoint.finish(OPENED + 4.16), ListeningEnd.ASKED, OPENED + 0.96, OPENED + 4.16)


def test_after_a_tap_pauses_count_again() -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS, held=True)
    heard = list(windows((0, 0.64), (0.9, 0.96), (0, 3.2)))
    assert all(endpoint.step(*window) is None for window in heard[:5])
    endpoint.let_go()
    outcome = next(filter(None, (endpoint.step(*window) for window in heard[5:])))
    assert ends(outcome, ListeningEnd.SILENCE, OPENED + 1.6, OPENED + 1.6 + SETTINGS.pause)


LOUD, QUIET = 0.1, 0.01
"""The levels of a user, and of a room 20 dB below."""


def beside_a_television(*levels: tuple[float, float], before: float = 5.12) -> Outcome | None:
    """The outcome where voice never stops, and has those levels for some seconds from the end of the wake word on."""
    room, word = round((before - 0.64) / WINDOW), round(0.64 / WINDOW)
    parts = [repeat(QUIET, room), repeat(LOUD, word), *(repeat(level, round(s / WINDOW)) for level, s in levels)]
    heard = [(OPENED - before + n * WINDOW, level) for n, level in enumerate(chain.from_iterable(parts), 1)]
    room_before = Room()
    for at, level in heard:
        if at <= OPENED:
            room_before.hear(level, at, is_voice=True, is_ours=False)
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, SETTINGS, room=room_before.power(OPENED))
    return next((outcome for at, level in heard if (outcome := endpoint.step(0.9, at, level))), None)


SMOOTHING = 0.25
"""Seconds in which the level of a syllable sinks to that of the room."""


def test_beside_a_television_the_utterance_ends_with_the_user() -> None:
    outcome = beside_a_television((QUIET, 0.64), (LOUD, 1.92), (QUIET, 9.6))
    assert outcome is not None
    assert outcome.why is ListeningEnd.LEVEL
    assert 0 <= outcome.at - (OPENED + 2.56) <= SMOOTHING
    assert abs(outcome.decided - outcome.at - SETTINGS.quieter) <= WINDOW


def test_beside_a_television_silence_is_no_speech() -> None:
    outcome = beside_a_television((QUIET, 9.6))
    assert outcome is not None
    assert outcome.why in (ListeningEnd.NOTHING, ListeningEnd.SILENCE)
    assert outcome.decided <= PATIENCE_UNTIL + WINDOW


def test_who_is_no_louder_than_the_room_is_not_cut_off() -> None:
    outcome = beside_a_television((2 * QUIET, 20.0))
    assert outcome is not None
    assert outcome.why is not ListeningEnd.LEVEL


def test_a_room_that_was_hardly_heard_is_not_held_against_anybody() -> None:
    outcome = beside_a_television((LOUD, 1.92), (QUIET, 20.0), before=1.92)
    assert ends(outcome, ListeningEnd.LIMIT, OPENED + SETTINGS.limit, OPENED + SETTINGS.limit)


probabilities = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.4, 1.0]), min_size=1, max_size=200)
settings = st.builds(
    EndpointSettings,
    threshold=st.floats(0.2, 0.9),
    minimum_speech=st.floats(0, 0.5),
    pause=st.floats(0.1, 2),
    limit=st.floats(1, 20),
    tail=st.floats(0, 1),
    doubt=st.floats(0.5, 3),
)
before = st.floats(0, 2)


levels = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.1]), min_size=1, max_size=50)
rooms = st.sampled_from([0.0, 1e-6, 1e-4, inf])


@given(probabilities, levels, settings, before, st.sampled_from([0.0, 0.25, 1.5]), rooms)
def test_an_end_always_comes_whatever_is_said_of_pauses(
    voice: list[float], loud: list[float], settings: EndpointSettings, before: float, pause: float, room: float
) -> None:
    endpoint = Endpoint(OPENED, PATIENCE_UNTIL, settings, room=room)
    longest = max(settings.pause, settings.quieter, pause)
    clicks = (settings.minimum_speech / WINDOW + 2) * (longest + WINDOW)
    latest = PATIENCE_UNTIL + settings.tail + clicks + settings.limit + longest
    begun = OPENED - before
    heard = ((p, begun + n * WINDOW, level) for n, p, level in zip(count(1), cycle(voice), cycle(loud), strict=False))
    for window in heard:
        outcome = endpoint.step(*window)
        if outcome is not None:
            assert OPENED <= outcome.at <= outcome.decided == window[1]
            return
        if endpoint.lull is not None and pause:
            endpoint.expect(endpoint.lull, pause)
        assert window[1] <= latest


@given(probabilities, settings, before)
def test_an_end_always_comes(voice: list[float], settings: EndpointSettings, before: float) -> None:
    begun = OPENED - before
    clicks = (settings.minimum_speech / WINDOW + 2) * (settings.pause + WINDOW)
    latest = PATIENCE_UNTIL + settings.tail + clicks + settings.limit + settings.pause
    most = round((latest - begun) / WINDOW)
    heard = ((p, begun + number * WINDOW) for number, p in zip(range(1, most + 1), cycle(voice), strict=False))
    assert end_of(heard, settings) is not None


@given(probabilities, settings, before)
def test_no_end_comes_without_its_reason(voice: list[float], settings: EndpointSettings, before: float) -> None:
    begun = OPENED - before
    heard = [(p, begun + number * WINDOW) for number, p in zip(range(1, 1001), cycle(voice), strict=False)]
    outcome = end_of(heard, settings)
    if outcome is None:
        return
    assert OPENED <= outcome.at <= outcome.decided
    after = [p for p, at in heard if outcome.at < at <= outcome.decided]
    voiced = [p for p, at in heard if OPENED < at <= outcome.decided and p >= settings.threshold - HYSTERESIS]
    match outcome.why:
        case ListeningEnd.SILENCE:
            assert outcome.decided - outcome.at >= min(settings.pause, settings.doubt)
            assert max(after) < settings.threshold or len(after) * WINDOW >= settings.doubt
            assert voiced
        case ListeningEnd.LIMIT:
            assert outcome.decided - OPENED >= settings.limit
        case ListeningEnd.NOTHING:
            assert outcome.decided >= PATIENCE_UNTIL
        case ListeningEnd.ASKED | ListeningEnd.COMPLETE | ListeningEnd.LEVEL:
            raise AssertionError("nobody asked, and nobody said anything of a pause or a level")
