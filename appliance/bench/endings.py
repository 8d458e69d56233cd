"""Where an utterance ends, and what is understood of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from appliance.bench.corpus import Command
from appliance.bench.figures import Figure, percentile
from appliance.bench.recital import Sound
from appliance.bench.rig import Rig
from appliance.bench.slots import right
from appliance.core.effects import Report
from appliance.core.events import ListeningEnd
from appliance.simulation.scenario import Moment

EARLY = 0.1
"""Seconds before the end of the last word, as another look at the sound finds it, that cut nothing off."""

PATIENT = 2.0
"""Seconds after the last word in which an end has to come."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one command went."""

    wait: float | None
    """Seconds from the end of the last word to the decision that it is over; None if that never came."""
    by_limit: bool
    text: str
    command: Command


@dataclass(frozen=True, slots=True)
class Endings:
    """How all of them went."""

    endings: Sequence[Ending]

    @property
    def cut_off(self) -> float:
        """Per cent that were cut off."""
        return self._share(lambda ending: ending.wait is not None and ending.wait < -EARLY)

    @property
    def without_end(self) -> float:
        """Per cent in which no end came in time."""
        return self._share(lambda ending: ending.wait is None or ending.wait > PATIENT)

    def waits(self, name: str, aim: float | None = None) -> Iterator[Figure]:
        """How long those waited that were not cut off, if there are any; `aim` is for half of them."""
        waits = [ending.wait for ending in self.endings if ending.wait is not None and ending.wait >= -EARLY]
        if waits:
            yield Figure(f"{name}: wait, p50", percentile(waits, 0.5), "s", aim)
            yield Figure(f"{name}: wait, p95", percentile(waits, 0.95), "s")

    @property
    def slots_wrong(self) -> float:
        """Per cent of the slots that were not understood."""
        slots = sum(len(ending.command.slots) for ending in self.endings)
        found = sum(right(ending.text, ending.command.slots) for ending in self.endings)
        return 100 * (slots - found) / max(slots, 1)

    def _share(self, of: Callable[[Ending], bool]) -> float:
        return 100 * sum(map(of, self.endings)) / len(self.endings)


def listen_to(rig: Rig, commands: Sequence[Command], room: str = "") -> Endings:
    """Press the button before each of `commands`."""
    sounds: list[Sound] = []
    for n, command in enumerate(commands):
        sounds.append(Sound(None, after=Moment.IDLE if n else Moment.READY, delay=0.5))
        sounds.append(Sound(command.samples, after=Moment.WAKE, delay=0.3))
    course = rig.play(sounds, room)
    presses = {report.at: report.generation for report in course.reports("wake") if report.data["by"] == "button"}
    ends = {report.generation: report for report in reversed(course.reports("speech_end")) if "decided" in report.data}
    texts = {report.generation: report for report in course.reports("heard") if "meaning" not in report.data}
    endings = []
    for press, said, command in zip(course.done[::2], course.done[1::2], commands, strict=False):
        generation = presses.get(press.begin, 0)
        text = texts.get(generation)
        endings.append(
            _ending(ends.get(generation), said.begin, "" if text is None else str(text.data["text"]), command)
        )
    endings += [Ending(None, False, "", command) for command in commands[len(endings) :]]
    return Endings(endings)


def _ending(end: Report | None, begin: float, text: str, command: Command) -> Ending:
    if end is None:
        return Ending(None, False, text, command)
    decided = cast("float", end.data["decided"])
    return Ending(decided - begin - command.end, end.data["why"] == ListeningEnd.LIMIT.value, text, command)
