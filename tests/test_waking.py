"""From what sounds like a wake word to one that counts."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appliance.audio.devices import HEARING_RATE, Samples
from appliance.audio.lane import Lane
from appliance.core.events import ReplyEnded, ReplyStarted, WakeHeard
from appliance.quests import QuestManager
from appliance.simulation.clock import VirtualLoop
from appliance.thinking.wake_phrase import mentions
from appliance.waking import OwnWords, Waking, Whether

CLEAR = WakeHeard("alexa", 0.9995, 10.0)
LIKELY = replace(CLEAR, score=0.8, clear=False)
FAINT = replace(LIKELY, score=0.3, likely=False)
CLAUSE = "You can call me Alexa. That is my name, and there is no other word that I would listen to by now."


class Room:
    """A lane on a clock that the test moves, and what counts."""

    def __init__(self, quests: QuestManager, looks: Callable[[WakeHeard, Samples], bool]) -> None:
        self.now = 10.0
        self.counted: list[WakeHeard] = []
        self.notices: list[str] = []
        self.sounds: list[tuple[float, float]] = []
        self.lane = Lane(HEARING_RATE, self._ended, lambda: self.now)
        self.own = OwnWords(self.lane, lambda: self.now)
        self.waking = Waking(
            Whether(looks, self._sound, lambda text, word: mentions(text, word, 0.75)),
            self.own,
            self.counted.append,
            lambda: self.lane.turn,
            self.notices.append,
            quests,
            refractory=1.0,
        )
        self.lane.begin_turn(1)

    def _sound(self, begin: float, end: float) -> Samples:
        self.sounds.append((begin, end))
        return np.zeros(0, np.float32)

    def _ended(self, event: ReplyStarted | ReplyEnded) -> None:
        if isinstance(event, ReplyEnded):
            self.own.ended(event)

    def speak(self, text: str, seconds: float) -> None:
        """The card has got all of it, from now on."""
        self.lane.expect(1)
        self.lane.open(1)
        self.lane.clause(1, text)
        self.lane.put(1, np.zeros(round(seconds * HEARING_RATE), np.float32))
        self.lane.pull(round(seconds * HEARING_RATE), self.now)
        self.lane.finish(1)

    async def rest(self, quests: QuestManager) -> None:
        """Until all looks are over."""
        await asyncio.sleep(0)
        while quests.quests:  # noqa: ASYNC110  there is nothing to wait for but that
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)


Scene = Callable[[Room, QuestManager], Coroutine[Any, Any, None]]


def play(scene: Scene, looks: Callable[[WakeHeard, Samples], bool] = lambda *_: True) -> Room:
    async def played() -> Room:
        async with QuestManager() as quests:
            room = Room(quests, looks)
            await scene(room, quests)
            await room.rest(quests)
            room.waking.close()
        return room

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(played())


def test_a_clear_one_counts_at_once_without_a_look() -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.waking.take(CLEAR)
        assert room.counted == [replace(CLEAR, turn=1)]

    assert play(scene, lambda *_: pytest.fail("it looked")).sounds == []


@pytest.mark.parametrize("is_one", [True, False])
@pytest.mark.parametrize("heard", [LIKELY, FAINT])
def test_any_other_one_counts_if_the_look_says_so(heard: WakeHeard, *, is_one: bool) -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.waking.take(heard)
        assert room.counted == [], "nothing is silenced before"

    room = play(scene, lambda *_: is_one)
    assert room.counted == ([replace(heard, turn=1)] if is_one else [])
    assert room.sounds == [(8.5, 10.32)]


@pytest.mark.parametrize("heard", [LIKELY, FAINT])
def test_a_look_that_fails_leaves_it_to_the_score(heard: WakeHeard) -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.waking.take(heard)

    def fails(*_: object) -> bool:
        raise RuntimeError("out of memory")

    assert bool(play(scene, fails).counted) is heard.likely


@pytest.mark.parametrize("heard", [LIKELY, FAINT])
def test_a_look_that_takes_too_long_leaves_it_to_the_score(heard: WakeHeard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.waking.PATIENCE", 0.01)
    over = threading.Event()

    async def scene(room: Room, quests: QuestManager) -> None:
        room.waking.take(heard)
        await room.rest(quests)
        assert bool(room.counted) is heard.likely
        over.set()

    async def main() -> None:
        async with QuestManager() as quests:
            await scene(Room(quests, lambda *_: over.wait(60)), quests)

    asyncio.run(main())


def test_when_another_turn_has_begun_meanwhile_it_is_too_late() -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.waking.take(LIKELY)
        room.lane.begin_turn(2)

    assert play(scene).counted == []


def test_after_one_that_counts_nothing_does_for_the_refractory_time() -> None:
    async def scene(room: Room, quests: QuestManager) -> None:
        for at, heard in ((10.0, LIKELY), (10.5, CLEAR), (10.9, LIKELY), (11.1, CLEAR)):
            room.waking.take(replace(heard, at=at))
            await room.rest(quests)

    assert [each.at for each in play(scene).counted] == [10.0, 11.1]


def test_one_that_the_look_rejects_holds_up_no_other() -> None:
    async def scene(room: Room, quests: QuestManager) -> None:
        room.waking.take(FAINT)
        await room.rest(quests)
        room.waking.take(replace(CLEAR, at=10.3))

    assert [each.at for each in play(scene, lambda *_: False).counted] == [10.3]


@pytest.mark.parametrize("ago", [0.0, 0.3])
@pytest.mark.parametrize("heard", [CLEAR, LIKELY])
def test_its_own_word_is_ignored_while_it_sounds_with_one_notice(heard: WakeHeard, ago: float) -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.speak(CLAUSE, 8.0)
        room.now += 2.0 + ago
        room.waking.take(replace(heard, at=12.0))

    room = play(scene)
    assert room.counted == []
    assert room.notices == ["the wake word was in what was being said: it is ignored"]


def test_the_user_may_say_it_in_the_rest_of_the_same_clause() -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.speak(CLAUSE, 8.0)
        room.now += 7.0
        room.waking.take(replace(CLEAR, at=17.0))

    room = play(scene)
    assert len(room.counted) == 1
    assert room.notices == []


def test_what_has_not_sounded_yet_is_not_its_own() -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.speak("That is my name, and there is no other word that I would listen to by now, but Alexa.", 8.0)
        room.now += 2.0
        room.waking.take(replace(CLEAR, at=12.0))

    assert len(play(scene).counted) == 1


@pytest.mark.parametrize("word", ["alexa", "Alexa", "알렉사", "Alexis", "a lexicon"])
def test_its_last_word_is_its_own_also_when_the_reply_is_over(word: str) -> None:
    async def scene(room: Room, _: QuestManager) -> None:
        room.speak(f"There is nothing more to say than {word}", 3.0)
        room.now += 3.05
        room.lane.pull(160, room.now)
        assert not room.lane.speaks
        room.now += 0.2
        room.waking.take(replace(CLEAR, at=13.1))
        room.now += 3.0
        room.waking.take(replace(CLEAR, at=16.0))

    room = play(scene)
    assert [each.at for each in room.counted] == [16.0]
    assert len(room.notices) == 1
