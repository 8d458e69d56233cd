"""The whole appliance in one simulated room after the other, with engines that are loaded once."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from appliance.audio.devices import Samples
from appliance.bench.recital import Sound
from appliance.config.schema import Settings
from appliance.core.effects import Report
from appliance.core.turn import Phase
from appliance.engines import Engines, load_engines
from appliance.simulation.clock import VirtualLoop
from appliance.simulation.room import Done, Room
from appliance.simulation.run import play
from appliance.simulation.scenario import Press, Say, Scenario, parse
from appliance.simulation.script import Script
from appliance.simulation.timeline import Timeline
from appliance.speaking.voice import Voice
from appliance.supervisor import Supervisor

_NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Course:
    """What came of the sounds, and when each of them was heard."""

    timeline: Timeline
    done: tuple[Done, ...]
    seconds: float

    def reports(self, kind: str) -> list[Report]:
        """All reports of one kind, by time."""
        return self.timeline.reports(kind)

    def wakes(self) -> list[float]:
        """When a wake word was taken for one."""
        return [report.at for report in self.reports("wake") if report.data["by"] == "word"]


class Rig:
    """Plays sounds to an appliance with `settings`, on a clock that moves on as soon as the engines are done."""

    def __init__(self, settings: Settings, engines: Engines) -> None:
        self._settings = settings
        self.engines = replace(engines, voice=_Remembered(engines.voice))

    @classmethod
    def of(cls, settings: Settings, models: Path) -> "Rig":
        """With engines of its own. ApplianceError if a model is missing."""
        return cls(settings, asyncio.run(load_engines(settings, models)))

    def play(
        self,
        sounds: Sequence[Sound],
        room: str = "",
        *,
        announced: Sequence[str] = (),
    ) -> Course:
        """`sounds` in a room of its own, described as in a scenario.

        Each text of `announced` is said as soon as the appliance has nothing else to do.
        """
        acoustics = parse(f"[room]\n{room}", Path("room.toml")).acoustics
        steps = tuple(_step(sound) for sound in sounds)
        script = Script(Scenario("bench", "bench", None, acoustics, steps, ()))
        heard = [_NOTHING if sound.samples is None else sound.samples for sound in sounds]
        room_ = Room(acoustics, script, heard, lambda *_: None)
        timeline, announcer = Timeline(), _Announcer(announced)
        self.engines.wake.reset()
        self.engines.activity.reset()
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(
                play(
                    room_,
                    script,
                    self._settings,
                    self.engines,
                    fast=True,
                    observers=(timeline, script, announcer),
                    made=announcer.speaks_through,
                )
            )
        return Course(timeline, tuple(room_.done), room_.clock())


def _step(sound: Sound) -> Say | Press:
    if sound.samples is None:
        return Press("bench", sound.at, sound.after, sound.delay, 0.1)
    return Say("bench", sound.at, sound.after, sound.delay, None, None, 0.0)


class _Announcer:
    """Has the next text said whenever the conversation is idle."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = list(texts)
        self._supervisor: Supervisor | None = None

    def speaks_through(self, supervisor: Supervisor) -> None:
        """It is there."""
        self._supervisor = supervisor

    def report(self, report: Report) -> None:
        """Nothing that matters here."""

    def phase(self, phase: Phase, at: float) -> None:
        """The conversation is in another phase."""
        if phase is Phase.IDLE and self._texts and self._supervisor is not None:
            self._supervisor.say(self._texts.pop(0))


class _Remembered:
    """A voice that makes nothing twice, since most of a bench is said again and again."""

    def __init__(self, voice: Voice) -> None:
        self.name, self.language, self.rate = voice.name, voice.language, voice.rate
        self._voice = voice
        self._said: dict[str, list[Samples]] = {}

    def synthesise(self, clause: str) -> Iterator[Samples]:
        """The samples of `clause`."""
        if clause not in self._said:
            self._said[clause] = list(self._voice.synthesise(clause))
        return iter(self._said[clause])
