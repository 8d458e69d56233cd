"""From what sounds like a wake word to a wake word that counts.

Rules:
- One that the appliance is just saying itself is ignored, also while its last sound is under way to the microphone.
- A clear one counts at once, in the microphone's thread.
- Any other one has a second look, off that thread, and nothing is silenced before it counts. Where the look takes too
  long, the score decides. By then it may be too late: another turn has begun.
- Whatever counts, nothing does for the refractory time after it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from appliance.audio.devices import Samples
from appliance.audio.lane import Lane
from appliance.core.events import ReplyEnded, WakeHeard
from appliance.core.interruption import SpokenClause, said_between
from appliance.hearing.second_look import AFTER, BEFORE
from appliance.quests import Quest, QuestManager

_log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds that a look may take. It takes 0.1 on two cores of 2020; a person who gets no answer for longer repeats."""

_WORD = 1.6
"""Seconds before a wake word is recognised in which it may have begun to sound: the longest, and the model's delay."""

_ECHO = 0.3
"""Seconds by which a sound may seem to come earlier or later than it does: two clocks, and a large room."""

_IGNORED = "the wake word was in what was being said: it is ignored"


@dataclass(frozen=True, slots=True)
class Whether:
    """What a wake word is checked with."""

    looks: Callable[[WakeHeard, Samples], bool]
    """The second look: whether the word is in the sound. It may take its time."""
    sound: Callable[[float, float], Samples]
    """What was heard between two times."""
    mentions: Callable[[str, str], bool]
    """Whether a text sounds like a wake word somewhere."""


class OwnWords:
    """Knows what the appliance said at which time. `lane` speaks; tell it each end of a reply. From any thread."""

    def __init__(self, lane: Lane, clock: Callable[[], float]) -> None:
        self._lane = lane
        self._clock = clock
        self._over: ReplyEnded | None = None

    def ended(self, event: ReplyEnded) -> None:
        """A reply is over, whose last sound may still be under way."""
        self._over = event

    def around(self, at: float) -> str:
        """What sounded when something was heard whose end was at `at`."""
        lane, now, over = self._lane, self._clock(), self._over
        clauses, played = lane.spoken(lane.turn)
        said = self._said(clauses, played, now - at)
        if over is not None:
            said = f"{self._said(over.clauses, over.played, over.at - at)} {said}"
        return said.strip()

    def _said(self, clauses: tuple[SpokenClause, ...], played: int, ago: float) -> str:
        """What sounded around `ago` seconds before so many samples of a reply had been played."""
        rate = self._lane.rate
        begin, end = played - round((ago + _WORD + _ECHO) * rate), played - round((ago - _ECHO) * rate)
        return said_between(clauses, max(0, begin), min(played, end))


class Waking:
    """Decides which wake words count, and tells `counts` of them, from any thread. Made in the event loop.

    `turn`: the number of the turn that was begun last. `notify`, in the event loop, gets a line for the owner.
    """

    def __init__(
        self,
        whether: Whether,
        own: OwnWords,
        counts: Callable[[WakeHeard], None],
        turn: Callable[[], int],
        notify: Callable[[str], None],
        quests: QuestManager,
        refractory: float,
    ) -> None:
        self._whether = whether
        self._own = own
        self._counts = counts
        self._turn = turn
        self._notify = notify
        self._quests = quests
        self._refractory = refractory
        self._loop = asyncio.get_running_loop()
        self._worker = ThreadPoolExecutor(1, "second look")
        self._lock = threading.Lock()
        self._counted = -self._refractory
        """When the last one that counts was heard."""
        self._looks = 0
        self._open = True

    def take(self, heard: WakeHeard) -> None:
        """A wake word, as the ears report it. From the microphone's thread; quick."""
        if self._whether.mentions(self._own.around(heard.at), heard.word):
            self._loop.call_soon_threadsafe(self._notify, _IGNORED)
            return
        heard = replace(heard, turn=self._turn())
        if heard.clear:
            self._count(heard)
        else:
            self._loop.call_soon_threadsafe(self._start, heard)

    def close(self) -> None:
        """No more looks; one that is under way ends by itself and changes nothing."""
        self._open = False
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _start(self, heard: WakeHeard) -> None:
        if self._open:
            self._looks += 1
            self._quests.start(Quest.from_run_step(f"look {self._looks}", lambda: self._look(heard)))

    async def _look(self, heard: WakeHeard) -> None:
        sound = self._whether.sound(heard.at - BEFORE, heard.at + AFTER)
        try:
            async with asyncio.timeout(PATIENCE):
                is_one = await self._loop.run_in_executor(self._worker, self._whether.looks, heard, sound)
        except TimeoutError:
            is_one = heard.likely
        except Exception:  # noqa: BLE001  a recogniser that fails must not make the appliance deaf
            _log.exception("the second look at a wake word failed")
            is_one = heard.likely
        if not is_one:
            _log.info("what scored %.2f for %s was no wake word", heard.score, heard.word)
        elif heard.turn == self._turn():
            self._count(heard)

    def _count(self, heard: WakeHeard) -> None:
        with self._lock:
            if not self._open or abs(heard.at - self._counted) < self._refractory:
                return
            self._counted = heard.at
        self._counts(heard)
