"""The ears: utterances cut out of scripted sound, whenever they are asked for, and real voices."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appliance.audio.devices import HEARING_RATE, Frame, Samples
from appliance.core.endpoint import LULL, EndpointSettings
from appliance.core.events import (
    Event,
    ListeningEnd,
    ListeningEnded,
    SpeechEnded,
    SpeechStarted,
    SpeechSustained,
    WakeHeard,
)
from appliance.hearing.ears import Ears
from appliance.hearing.vad import WINDOW, VoiceActivity
from appliance.hearing.wake import Detection, WakeWords
from tests.hearing.scripted import BASE, ScriptedVoice, ScriptedWake, Stretch, frames

PREROLL = 0.5


@dataclass
class Listener:
    """Everything that comes out of a pair of ears."""

    events: list[Event] = field(default_factory=list)
    pieces: list[Samples | None] = field(default_factory=list)

    replaced: bool = False
    """Whether another utterance takes the place of this one's."""

    def sink(self, samples: Samples | None) -> None:
        if samples is None and not self.replaced:
            assert isinstance(self.events[-1], ListeningEnded)
        self.pieces.append(samples)

    @property
    def samples(self) -> list[int]:
        return [number for piece in self.pieces if piece is not None for number in piece.astype(int).tolist()]

    @property
    def ends(self) -> int:
        return sum(piece is None for piece in self.pieces)

    @property
    def ended(self) -> list[ListeningEnded]:
        return [event for event in self.events if isinstance(event, ListeningEnded)]


def scripted(
    listener: Listener, *stretches: Stretch, wake: Sequence[float] = (), report: Callable[[Event], None] | None = None
) -> Ears:
    return Ears(
        ScriptedWake(wake),
        ScriptedVoice(stretches),
        EndpointSettings(),
        report or listener.events.append,
        preroll=PREROLL,
    )


def numbers(begin: float, end: float) -> list[int]:
    return list(range(round((begin - BASE) * HEARING_RATE), round((end - BASE) * HEARING_RATE)))


def test_what_is_sensed_is_reported_without_anybody_listening() -> None:
    listener = Listener()
    ears = scripted(listener, (51.0, 52.0), wake=[51.52])
    for frame in frames(4):
        ears.feed(frame)
    started, sustained, wake, ended = listener.events
    assert isinstance(started, SpeechStarted)
    assert abs(started.at - 51.0) <= 0.032
    assert isinstance(sustained, SpeechSustained)
    assert sustained.since == started.at
    assert 0.3 <= sustained.at - sustained.since < 0.3 + 2 * 0.032
    assert wake == WakeHeard("alexa", 0.9, 51.52)
    assert isinstance(ended, SpeechEnded)
    assert abs(ended.at - 52.0) <= 0.032


def test_an_utterance_is_everything_from_the_preroll_to_the_decision() -> None:
    listener = Listener()
    ears = scripted(listener, (52.0, 53.0))
    for frame in frames(8):
        if frame.at == BASE + 1.5:
            ears.listen(7, since=51.5, patience_until=57.5, sink=listener.sink)
        ears.feed(frame)
    (ended,) = listener.ended
    assert ended.generation == 7
    assert ended.why is ListeningEnd.SILENCE
    assert abs(ended.at - 53.0) <= 0.032
    assert listener.pieces[-1] is None
    assert listener.ends == 1
    assert listener.samples == numbers(51.0, ended.decided)


stretches = st.lists(st.tuples(st.floats(50, 58), st.floats(0.1, 3)), max_size=5).map(
    lambda drawn: [(begin, begin + length) for begin, length in drawn]
)


@given(
    stretches=stretches,
    sizes=st.lists(st.integers(160, 4000), min_size=1, max_size=6),
    since=st.floats(50.6, 53),
    patience=st.floats(1, 4),
    late=st.floats(0, 5),
)
@hypothesis_settings(deadline=None, max_examples=50)
def test_when_listen_is_called_makes_no_difference(
    stretches: list[Stretch], sizes: list[int], since: float, patience: float, late: float
) -> None:
    def listen(at: float) -> Listener:
        listener = Listener()
        ears = scripted(listener, *stretches)
        listening = False
        for frame in frames(22, sizes):
            if not listening and frame.at >= at:
                ears.listen(1, since, since + patience, listener.sink)
                listening = True
            ears.feed(frame)
        return listener

    prompt, later = listen(since), listen(since + late)
    (ended,) = prompt.ended
    assert prompt.samples == numbers(since - PREROLL, ended.decided)
    assert later.samples == prompt.samples
    assert later.ended == prompt.ended


def test_what_was_forgotten_already_cannot_be_listened_to() -> None:
    listener = Listener()
    ears = Ears(ScriptedWake(), ScriptedVoice([]), EndpointSettings(), listener.events.append, keep=2)
    for frame in frames(6):
        ears.feed(frame)
    ears.listen(1, since=50.0, patience_until=80.0, sink=listener.sink)
    assert listener.samples == numbers(54.0, 56.0)


def test_a_new_listen_ends_the_old_and_takes_its_place() -> None:
    old, new = Listener(replaced=True), Listener()
    ears = scripted(new, (51.5, 52.5))
    for frame in frames(8):
        if frame.at == BASE + 1:
            ears.listen(1, since=51.0, patience_until=57.0, sink=old.sink)
        if frame.at == BASE + 2:
            ears.listen(2, since=52.0, patience_until=58.0, sink=new.sink)
        ears.feed(frame)
    assert old.samples == numbers(50.5, 52.0)
    assert old.ends == 1
    (ended,) = new.ended
    assert ended.generation == 2
    assert new.samples == numbers(51.5, ended.decided)


def test_a_report_may_lead_to_the_next_listen() -> None:
    first, second = Listener(), Listener()

    def listen_on(event: Event) -> None:
        first.events.append(event)
        second.events.append(event)
        if isinstance(event, ListeningEnded) and event.generation == 1:
            ears.listen(2, event.decided, event.decided + 6, second.sink)

    ears = scripted(first, (51.0, 52.0), (54.0, 55.0), report=listen_on)
    for frame in frames(10, sizes=[8000]):
        if frame.at == BASE + 3:
            ears.listen(1, since=50.8, patience_until=56.0, sink=lambda samples: first.pieces.append(samples))
        ears.feed(frame)
    assert [ended.generation for ended in first.ended] == [1, 2]
    assert first.ends == second.ends == 1
    decided, end = (ended.decided for ended in first.ended)
    assert second.samples == numbers(decided - PREROLL, end)


def test_the_button_ends_the_utterance_once() -> None:
    listener = Listener()
    ears = scripted(listener, (51.0, 58.0))
    ears.listen(3, since=50.5, patience_until=56.0, sink=listener.sink)
    for frame in frames(2):
        ears.feed(frame)
    ears.finish(2)
    assert not listener.ended
    ears.finish(3)
    ears.finish(3)
    for frame in frames(10, first=2 * HEARING_RATE):
        ears.feed(frame)
    (ended,) = listener.ended
    assert ended.generation == 3
    assert ended.why is ListeningEnd.ASKED
    assert ended.decided == 52.0
    assert abs(ended.at - 52.0) <= 0.032
    assert listener.samples == numbers(50.0, 52.0)


def test_a_pause_is_told_of_after_the_sound_before_it_and_may_be_made_shorter() -> None:
    listener = Listener()
    ears = scripted(listener, (51.0, 52.0), (52.2, 53.0))
    lulls: list[tuple[float, int]] = []
    utterance = ears.listen(
        1,
        since=50.5,
        patience_until=56.0,
        sink=listener.sink,
        on_lull=lambda lull: lulls.append((lull, listener.samples[-1])),
    )
    for frame in frames(8):
        ears.feed(frame)
        if lulls and ears.is_lull(utterance, lulls[-1][0]):
            ears.expect(utterance, lulls[-1][0], 0.25)
    assert [abs(lull - end) <= 0.032 for (lull, _), end in zip(lulls, (52.0, 53.0), strict=True)] == [True, True]
    for lull, newest in lulls:
        assert BASE + newest / HEARING_RATE >= lull + LULL - 0.032
    (ended,) = listener.ended
    assert ended.why is ListeningEnd.COMPLETE
    assert 0.25 <= ended.decided - ended.at <= 0.25 + 0.032


def test_of_a_pause_that_is_over_or_of_another_utterance_nothing_can_be_said() -> None:
    listener = Listener(replaced=True)
    ears = scripted(listener, (51.0, 52.0))
    lulls: list[float] = []
    utterance = ears.listen(1, since=50.5, patience_until=56.0, sink=listener.sink, on_lull=lulls.append)
    for frame in frames(2.2):
        ears.feed(frame)
    (lull,) = lulls
    assert ears.is_lull(utterance, lull)
    assert not ears.is_lull(utterance, lull + 0.5)
    ears.expect(utterance, lull + 0.5, 0.0)
    other = ears.listen(2, since=50.5, patience_until=56.0, sink=lambda _: None)
    assert not ears.is_lull(utterance, lull)
    assert ears.is_lull(other, lull)
    ears.expect(utterance, lull, 0.0)
    for frame in frames(2.3, first=round(2.2 * HEARING_RATE)):
        ears.feed(frame)
    assert not listener.ended


def test_what_the_button_is_held_for_goes_on_until_it_comes_up() -> None:
    listener = Listener()
    ears = scripted(listener, (51.0, 52.0))
    ears.listen(1, since=50.5, patience_until=51.0, sink=listener.sink, held=True)
    for frame in frames(4):
        ears.feed(frame)
    assert not listener.ended
    ears.let_go(2)
    ears.let_go(1)
    for frame in frames(4.1, first=4 * HEARING_RATE):
        ears.feed(frame)
    (ended,) = listener.ended
    assert (ended.why, abs(ended.at - 52.0) <= 0.032) == (ListeningEnd.SILENCE, True)


def test_voice_that_is_no_louder_than_the_room_was_ends_the_utterance(speech: Path, models_dir: Path) -> None:
    voice = soundfile.read(speech / "read/librispeech-quilter-en.flac", dtype="float32")[0]
    tiled = np.tile(voice, 6)
    television = 0.1 * (tiled + np.roll(tiled, 2 * HEARING_RATE))  # which never pauses
    beginning, length = 6 * HEARING_RATE, len(voice)
    television[beginning : beginning + length] += voice
    listener = Listener()
    ears = Ears(ScriptedWake(), VoiceActivity(models_dir / "models"), EndpointSettings(), listener.events.append)
    for first in range(0, len(television), 320):
        at = BASE + first / HEARING_RATE
        if first == beginning + 30 * 320:
            ears.listen(1, since=at, patience_until=at + 5, sink=listener.sink)
        ears.feed(Frame(television[first : first + 320], at))
    (ended,) = listener.ended
    assert ended.why is ListeningEnd.LEVEL
    assert 0 <= ended.decided - (BASE + (beginning + length) / HEARING_RATE) <= 1.5


def test_the_button_may_end_what_has_not_begun() -> None:
    listener = Listener()
    ears = scripted(listener)
    ears.listen(1, since=50.5, patience_until=56.0, sink=listener.sink)
    ears.finish(1)
    assert listener.ended == [ListeningEnded(1, 50.5, 50.5, ListeningEnd.ASKED)]
    assert listener.ends == 1
    assert listener.samples == []


def test_nothing_follows_a_dismissal() -> None:
    listener = Listener()
    ears = scripted(listener, (51.0, 52.0))
    utterance = ears.listen(1, since=50.5, patience_until=56.0, sink=listener.sink)
    for frame in frames(1.2):
        ears.feed(frame)
    ears.dismiss(utterance)
    heard = listener.samples
    assert heard == numbers(50.0, 51.2)
    for frame in frames(10, first=round(1.2 * HEARING_RATE)):
        ears.feed(frame)
    assert listener.samples == heard
    assert not listener.ended


def test_the_next_utterance_is_not_dismissed_with_the_one_before() -> None:
    old, new = Listener(replaced=True), Listener()
    ears = scripted(new, (51.0, 52.0))
    utterance = ears.listen(1, since=50.5, patience_until=56.0, sink=old.sink)
    ears.listen(1, since=50.7, patience_until=56.0, sink=new.sink)
    ears.dismiss(utterance)
    for frame in frames(8):
        ears.feed(frame)
    assert (new.ends, old.samples) == (1, [])


def test_speech_after_a_pause_that_ended_an_utterance_is_speech_anew_however_short_pauses_are() -> None:
    listener = Listener()
    settings = EndpointSettings(pause=0.2)
    ears = Ears(ScriptedWake(), ScriptedVoice([(51.0, 52.0), (52.26, 53.0)]), settings, listener.events.append)
    ears.listen(1, since=50.5, patience_until=56.0, sink=listener.sink)
    for frame in frames(8):
        ears.feed(frame)
    assert listener.ends == 1
    started = [event.at for event in listener.events if isinstance(event, SpeechStarted)]
    assert len(started) == 2
    assert started[1] > listener.ended[0].decided


@pytest.mark.parametrize(("lost", "resets"), [(0.04, 0), (1.0, 1)])
def test_lost_frames_are_survived(lost: float, resets: int) -> None:
    listener = Listener()
    voice = ScriptedVoice([(51.0, 53.0)])
    ears = Ears(ScriptedWake(), voice, EndpointSettings(), listener.events.append, preroll=PREROLL)
    ears.listen(1, since=50.5, patience_until=56.0, sink=listener.sink)
    for frame in frames(8):
        if not 51.49 < frame.at < 51.49 + lost:
            ears.feed(frame)
    assert voice.resets == resets
    (ended,) = listener.ended
    assert ended.why is ListeningEnd.SILENCE
    assert abs(ended.at - 53.0) <= 0.064
    assert listener.samples == numbers(50.0, 51.5) + numbers(51.5 + lost, ended.decided)


def test_utterances_asked_for_and_dismissed_from_another_thread_are_whole() -> None:
    ears = scripted(Listener())
    heard: list[tuple[Listener, int]] = []
    feeding = threading.Event()
    fed = threading.Event()

    def feed() -> None:
        for frame in frames(60):
            ears.feed(frame)
            feeding.set()
        fed.set()

    microphone = threading.Thread(target=feed)
    microphone.start()
    assert feeding.wait(10)
    generation = 0
    while not fed.is_set():
        generation += 1
        listener = Listener()
        utterance = ears.listen(generation, since=50.0, patience_until=1000.0, sink=listener.sink)
        ears.dismiss(utterance)
        heard.append((listener, len(listener.samples)))
    microphone.join()
    for listener, count in heard:
        assert len(listener.samples) == count, "nothing came after it was dismissed"
        assert listener.samples == list(range(listener.samples[0], listener.samples[0] + count))


def real_ears(models_dir: Path, report: Callable[[Event], None]) -> Ears:
    models = models_dir / "models"
    return Ears(WakeWords(models, {"alexa": 0.5}), VoiceActivity(models), EndpointSettings(), report, preroll=PREROLL)


def quiet(seconds: float) -> Samples:
    random = np.random.default_rng(0)
    return random.normal(scale=1e-4, size=round(seconds * HEARING_RATE)).astype(np.float32)


def converse(models_dir: Path, *sounds: Samples) -> tuple[list[Event], list[Samples]]:
    """Real ears; each wake word opens an utterance. What they reported, and each utterance."""
    events: list[Event] = []
    utterances: list[list[Samples]] = []

    def report(event: Event) -> None:
        events.append(event)
        if isinstance(event, WakeHeard):
            pieces: list[Samples] = []
            utterances.append(pieces)
            ears.listen(
                len(utterances),
                event.at,
                event.at + 6,
                lambda piece: pieces.append(piece) if piece is not None else None,
            )

    ears = real_ears(models_dir, report)
    sound = np.concatenate(sounds)
    for start in range(0, len(sound), 320):
        ears.feed(Frame(sound[start : start + 320], start / HEARING_RATE))
    return events, [np.concatenate(pieces) for pieces in utterances]


@pytest.mark.parametrize("pause", [0.0, 0.6, 1.2])
def test_a_command_after_a_real_wake_word_is_taken_whole(models_dir: Path, speech: Path, pause: float) -> None:
    voice = VoiceActivity(models_dir / "models")

    def spoken(path: Path) -> Samples:
        said: Samples = soundfile.read(path, dtype="float32")[0]
        voice.reset()
        voiced = [number for number, probability in enumerate(voice.feed(said)) if probability >= 0.5]
        return said[max(0, voiced[0] - 1) * WINDOW : (voiced[-1] + 2) * WINDOW]

    orders = sorted(speech.glob("commands/*.flac"))
    for word, order in zip(sorted(speech.glob("wake/*.flac"))[1::40], orders[::40], strict=True):
        called, command = spoken(word), spoken(order)
        events, utterances = converse(models_dir, quiet(1), called, quiet(pause), command, quiet(3))
        assert len(utterances) == 1, (word, order)
        (ended,) = [event for event in events if isinstance(event, ListeningEnded)]
        end = 1 + pause + (len(called) + len(command)) / HEARING_RATE
        assert ended.why is ListeningEnd.SILENCE
        assert abs(ended.at - end) < 0.3, (word, order)
        assert len(utterances[0]) > len(command)


def test_the_end_of_a_real_wake_word_alone_ends_no_utterance_at_once(models_dir: Path, speech: Path) -> None:
    for path in sorted(speech.glob("wake/*.flac"))[1::40]:
        events, _ = converse(models_dir, quiet(1), soundfile.read(path, dtype="float32")[0], quiet(7))
        (wake,) = [event for event in events if isinstance(event, WakeHeard)]
        (ended,) = [event for event in events if isinstance(event, ListeningEnded)]
        assert ended.decided - wake.at >= EndpointSettings().doubt


def test_what_was_heard_between_two_times_can_be_had_as_far_as_it_is_kept() -> None:
    ears = scripted(Listener())
    for frame in frames(12, sizes=(320, 1001, 7)):
        ears.feed(frame)
    assert ears.sound(BASE + 8, BASE + 9.5).astype(int).tolist() == numbers(BASE + 8, BASE + 9.5)
    assert ears.sound(BASE + 11.9, BASE + 14).astype(int).tolist() == numbers(BASE + 11.9, BASE + 12)
    assert not len(ears.sound(BASE, BASE + 1))


def test_while_the_speaker_sounds_and_just_after_it_a_wake_word_takes_more() -> None:
    class Wake(ScriptedWake):
        thresholds: ClassVar[list[float]] = []

        def feed(self, samples: Samples, threshold: float = 0.0) -> list[Detection]:
            self.thresholds.append(threshold)
            return super().feed(samples, threshold)

    def plays(begin: float, end: float) -> bool:
        return begin < BASE + 2 and end > BASE + 1

    ears = Ears(
        Wake(),
        ScriptedVoice([]),
        EndpointSettings(),
        lambda _: None,
        plays=plays,
        wake_while_playing=0.7,
    )
    for frame in frames(3, sizes=(1600,)):
        ears.feed(frame)
    assert Wake.thresholds == 10 * [0.0] + 15 * [0.7] + 5 * [0.0]
