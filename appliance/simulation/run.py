"""`appliance simulate`: the whole appliance, with its real engines, in the simulated room."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import soundfile
from msgspec import structs

from appliance.conductor import Observer
from appliance.config.schema import Settings
from appliance.devices import Devices
from appliance.engines import Engines, load_engines
from appliance.errors import ApplianceError
from appliance.simulation.clock import VirtualLoop
from appliance.simulation.expect import unmet
from appliance.simulation.room import Done, Room, no_model
from appliance.simulation.scenario import Llm, Moment, Scenario
from appliance.simulation.script import Script
from appliance.simulation.sounds import said
from appliance.simulation.svg import draw
from appliance.simulation.timeline import Timeline
from appliance.simulation.tracks import Tracks
from appliance.supervisor import Supervisor


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario."""

    timeline: Timeline
    done: tuple[Done, ...]
    """The steps as they were carried out."""
    problems: tuple[str, ...]
    """What did not go as the scenario says, for people; empty when all did."""
    files: tuple[Path, ...]


def simulate(
    scenario: Scenario, settings: Settings, models: Path, out: Path, *, fast: bool, observers: tuple[Observer, ...] = ()
) -> Outcome:
    """Play `scenario` and write timeline.json, room.wav and timeline.svg into `out`.

    `fast`: on a clock that moves on as soon as the engines have done their work. ApplianceError when something that
    is needed is missing.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ApplianceError(str(out), f"cannot be made: {error.strerror}", remedy="Name another folder") from error
    try:
        with asyncio.Runner(loop_factory=VirtualLoop if fast else None) as runner:
            return runner.run(_simulate(scenario, settings, models, out, fast, observers))
    except (OSError, soundfile.SoundFileError) as error:
        raise ApplianceError(
            str(out), f"the results cannot be written ({error})", remedy="Make room there, or name another folder"
        ) from error


async def _simulate(
    scenario: Scenario, settings: Settings, models: Path, out: Path, fast: bool, observers: tuple[Observer, ...]
) -> Outcome:
    engines = await load_engines(settings, models)
    script, timeline = Script(scenario), Timeline()
    sounds = await asyncio.to_thread(said, scenario, lambda: engines.voice)
    async with AsyncExitStack() as stack:
        tracks = stack.enter_context(Tracks(out / "room.wav"))
        directory: Path | None = None
        do: Callable[[Llm], None] = no_model
        if any(isinstance(step, Llm) for step in scenario.steps):
            from appliance.simulation.language_model import SimulatedModel  # which takes megabytes

            model = await stack.enter_async_context(SimulatedModel())
            do = model.do
            directory = Path(stack.enter_context(TemporaryDirectory()))
            settings = _asking(model.url, settings)
        room = Room(scenario.acoustics, script, sounds, tracks.add, do)
        await play(room, script, settings, engines, directory, fast=fast, observers=(timeline, script, *observers))
    timeline.write(out / "timeline.json")
    note = "on a clock of its own: no latencies" if fast else ""
    (out / "timeline.svg").write_text(draw(scenario.title, timeline, room.done, out / "room.wav", note), "utf-8")
    missing = unmet(scenario.expects, timeline.turns())
    problems = (*script.failures(), *([missing] if missing else ()))
    return Outcome(
        timeline,
        tuple(room.done),
        problems,
        tuple(out / name for name in ("timeline.json", "room.wav", "timeline.svg")),
    )


def _asking(url: str, settings: Settings) -> Settings:
    """`settings`, but the language model is the one at `url`, and no other."""
    model = structs.replace(
        settings.llm, enabled=True, servers=(url,), search=False, local_model="", model="", key_file="", ca_file=""
    )
    return structs.replace(settings, llm=model)


async def play(
    room: Room,
    script: Script,
    settings: Settings,
    engines: Engines,
    directory: Path | None = None,
    *,
    fast: bool,
    observers: tuple[Observer, ...],
    made: Callable[[Supervisor], None] = lambda _: None,
) -> None:
    """Run an appliance with loaded engines in `room` until the script is over; `made` gets it before it begins."""
    began = datetime.now().astimezone()
    devices = Devices(
        room.microphone,
        room.speaker,
        room.button,
        room.clock,
        lambda: began + timedelta(seconds=room.clock()),
    )
    supervisor = Supervisor(settings, engines, devices, observers, directory)
    made(supervisor)
    ready = asyncio.Event()

    def on_ready() -> None:
        script.moment(Moment.READY, room.clock())
        ready.set()

    over = threading.Event()
    running = asyncio.create_task(supervisor.run(on_ready))
    try:
        await _first(running, ready.wait())
        await _first(running, room.run_fast() if fast else asyncio.to_thread(room.run_realtime, over))
    finally:
        over.set()
        supervisor.stop()
        await running


async def _first(running: "asyncio.Task[None]", work: Coroutine[Any, Any, object]) -> None:
    """Wait for `work`, but no longer than the appliance is `running`."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({running, task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        task.cancel()
